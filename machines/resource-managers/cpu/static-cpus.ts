import type { Container, Pod } from '../../protocol/api-types.ts';
import type { Tally } from '../tally.ts';
import { Refusal } from '../refusal.ts';
import type { ResourceHints } from '../topology/hints.ts';
import type { NodeMask } from '../topology/node-mask.ts';
import { nodesOf } from '../topology/node-mask.ts';
import type { CpuBook } from './cpu-book.ts';
import type { CpuGround } from './cpu-ground.ts';
import { takeCpus } from './cpu-ground.ts';
import { cpuHints } from './cpu-hints.ts';
import { exclusiveCpus, exclusiveCpusOfPod, isLeftAlone, isPlainInit, managedContainers } from './cpu-requests.ts';
import type { CpuSet } from './cpu-set.ts';
import { NO_CPUS, intersection, union, without } from './cpu-set.ts';
import { cpusPerCore, cpusWithin, idsWithin, isUncoreAligned } from './cpu-topology.ts';
import { CpuShortage } from './take-packed.ts';

const CANNOT: ResourceHints = { cpu: [] };

/** The static policy at one pod's admission: CPUs for Guaranteed pods that ask for whole ones. */
export class StaticCpus {
  private readonly ground: CpuGround;
  private readonly book: CpuBook;
  private readonly pod: Pod;
  private readonly uid: string;
  private readonly tally: Tally;
  private readonly alone: boolean;
  /** CPUs of init containers, which those that come after them have again. */
  private again: CpuSet = NO_CPUS;

  constructor(ground: CpuGround, book: CpuBook, pod: Pod, tally: Tally, podLevelResources: boolean) {
    this.ground = ground;
    this.book = book;
    this.pod = pod;
    this.uid = pod.metadata?.uid ?? '';
    this.tally = tally;
    this.alone = isLeftAlone(pod, podLevelResources);
  }

  /** Where the container's CPUs could be from. */
  hints(container: Container): ResourceHints {
    const asked = exclusiveCpus(this.pod, container);
    if (asked === 0 || this.alone) return null;
    const has = this.book.of(this.uid, container.name);
    if (has === undefined) return { cpu: cpuHints(this.ground, this.available(), this.again, asked) };
    return has.size === asked ? { cpu: cpuHints(this.ground, has, NO_CPUS, asked) } : CANNOT;
  }

  /** Where the whole pod's CPUs could be from. */
  podHints(): ResourceHints {
    const asked = exclusiveCpusOfPod(this.pod);
    if (asked === 0 || this.alone) return null;
    let had: CpuSet = NO_CPUS;
    for (const container of managedContainers(this.pod)) {
      const has = this.book.of(this.uid, container.name);
      if (has === undefined) continue;
      if (has.size !== exclusiveCpus(this.pod, container)) return CANNOT;
      had = union(had, has);
    }
    if (had.size === asked) return { cpu: cpuHints(this.ground, had, NO_CPUS, asked) };
    return { cpu: cpuHints(this.ground, this.available(), union(this.again, had), asked) };
  }

  /**
   * Gives the container its CPUs, of these nodes if they have them.
   * @throws Refusal
   */
  allocate(container: Container, nodes: NodeMask | null): void {
    const asked = exclusiveCpus(this.pod, container);
    if (asked === 0 || this.alone) return;
    const { fullCores } = this.ground.options;
    this.tally.add('cpuPinningRequests');
    try {
      this.give(container.name, asked, nodes);
    } catch (error) {
      this.tally.add('cpuPinningErrors');
      if (fullCores) this.tally.add('unalignedCores');
      throw error instanceof CpuShortage ? new Refusal(error.message) : error;
    }
    if (fullCores) this.tally.add('alignedCores');
  }

  private give(name: string, asked: number, nodes: NodeMask | null): void {
    if (this.ground.options.fullCores) this.checkCores(asked);
    const has = this.book.of(this.uid, name);
    if (has !== undefined) {
      this.remember(name, has);
      return;
    }
    const available = union(this.available(), this.again);
    let cpus: CpuSet = NO_CPUS;
    if (nodes !== null) {
      const near = intersection(available, this.near(nodes));
      cpus = takeCpus(this.ground, near, Math.min(asked, near.size));
    }
    cpus = union(cpus, takeCpus(this.ground, without(available, cpus), asked - cpus.size));
    this.book.give(this.uid, name, cpus);
    this.remember(name, cpus);
    if (isUncoreAligned(this.ground.topology, cpus)) this.tally.add('alignedUncore');
  }

  private checkCores(asked: number): void {
    const perCore = cpusPerCore(this.ground.topology);
    if (asked % perCore !== 0) {
      throw new Refusal(
        `SMT Alignment Error: requested ${asked} cpus not multiple cpus per core = ${perCore}`,
        'SMTAlignmentError',
      );
    }
    const whole = without(this.book.shared, this.ground.reservedCores).size;
    if (asked <= whole) return;
    const numbers = `available physical CPUs = ${whole}, requested CPUs = ${asked}, CPUs per core = ${perCore}`;
    throw new Refusal(`SMT Alignment Error: not enough free physical CPUs: ${numbers}`, 'SMTAlignmentError');
  }

  private available(): CpuSet {
    return without(this.book.shared, this.ground.reserved);
  }

  /** CPUs of the nodes; with option align-by-socket of all sockets that these nodes are in. */
  private near(mask: NodeMask): CpuSet {
    const { topology, options } = this.ground;
    const nodes = nodesOf(mask);
    if (!options.bySocket) return cpusWithin(topology.places, 'node', nodes);
    return cpusWithin(topology.places, 'socket', idsWithin(topology.places, 'socket', 'node', nodes));
  }

  private remember(name: string, cpus: CpuSet): void {
    this.again = isPlainInit(this.pod, name) ? union(this.again, cpus) : without(this.again, cpus);
  }
}
