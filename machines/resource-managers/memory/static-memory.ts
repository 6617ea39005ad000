import type { Container, Pod } from '../../protocol/api-types.ts';
import { podQosClass } from '../../qos/qos-class.ts';
import { isLeftAlone, isPlainInit, managedContainers } from '../cpu/cpu-requests.ts';
import { Refusal } from '../refusal.ts';
import type { Tally } from '../tally.ts';
import type { ResourceHints, TopologyHint } from '../topology/hints.ts';
import type { NodeMask } from '../topology/node-mask.ts';
import { isNarrower, maskOf, masksOf, nodesOf, sizeOf } from '../topology/node-mask.ts';
import type { MemoryBook } from './memory-book.ts';
import type { MemoryRequests } from './memory-requests.ts';
import { requestedMemory, requestedMemoryOfPod } from './memory-requests.ts';
import type { MemoryBlock } from './memory-state.ts';

/** A hint that names nodes. */
interface NodeHint {
  nodes: NodeMask;
  preferred: boolean;
}

/** The static policy at one pod's admission: memory of NUMA nodes for Guaranteed pods. */
export class StaticMemory {
  private readonly book: MemoryBook;
  private readonly pod: Pod;
  private readonly uid: string;
  private readonly tally: Tally;
  private readonly idle: boolean;
  private readonly reuseIsExact: boolean;
  /** Memory of init containers, which those that come after them have again: bytes by nodes and resource. */
  private readonly again = new Map<string, number>();

  constructor(
    book: MemoryBook,
    pod: Pod,
    tally: Tally,
    { podLevelResources, reuseIsExact }: { podLevelResources: boolean; reuseIsExact: boolean },
  ) {
    this.book = book;
    this.pod = pod;
    this.uid = pod.metadata?.uid ?? '';
    this.tally = tally;
    this.idle = podQosClass(pod) !== 'Guaranteed' || isLeftAlone(pod, podLevelResources);
    this.reuseIsExact = reuseIsExact;
  }

  /** Where the container's memory could be from. */
  hints(container: Container): ResourceHints {
    if (this.idle) return null;
    const asked = orNull(() => requestedMemory(container));
    if (asked === null) return null;
    const has = this.book.of(this.uid, container.name);
    return has === undefined ? this.listed(asked) : sameAgain(has, asked);
  }

  /** Where the whole pod's memory could be from. */
  podHints(): ResourceHints {
    if (this.idle) return null;
    const asked = orNull(() => requestedMemoryOfPod(this.pod));
    if (asked === null) return null;
    for (const { name } of managedContainers(this.pod)) {
      const has = this.book.of(this.uid, name);
      if (has !== undefined) return sameAgain(has, asked);
    }
    return this.listed(asked);
  }

  /**
   * Gives the container its memory, of these nodes if they have it.
   * @throws Refusal
   */
  allocate(container: Container, hint: TopologyHint): void {
    if (this.idle) return;
    this.tally.add('memoryPinningRequests');
    try {
      this.give(container, hint);
    } catch (error) {
      this.tally.add('memoryPinningErrors');
      throw error;
    }
  }

  private give(container: Container, hint: TopologyHint): void {
    const has = this.book.of(this.uid, container.name);
    if (has !== undefined) {
      this.remember(container.name, has);
      return;
    }
    const asked = requestedMemory(container);
    const mask = this.nodesFor(asked, hint);
    const numaAffinity = nodesOf(mask);
    const blocks: MemoryBlock[] = [];
    const reused: MemoryBlock[] = [];
    for (const [type, size] of asked) {
      const again = Math.min(size, this.reusable(mask, type));
      blocks.push({ numaAffinity, type, size });
      reused.push({ numaAffinity, type, size: again });
      this.book.take(mask, type, size - again);
    }
    this.remember(container.name, blocks);
    this.book.note(this.uid, container.name, blocks);
    this.shrinkInits(container.name, this.reuseIsExact ? reused : blocks);
  }

  /** The nodes that were hinted at, more of them when they do not have enough, any that are good when none was. */
  private nodesFor(asked: MemoryRequests, hint: TopologyHint): NodeMask {
    let { nodes, preferred } = hint;
    if (nodes === null) {
      const found = best(this.fitting(asked));
      if (found === null) {
        const why = 'failed to get the default NUMA affinity, no NUMA nodes with enough memory is available';
        throw new Refusal(`[memorymanager] ${why}`);
      }
      if (!found.preferred && preferred) {
        throw new Refusal('[memorymanager] failed to find the default preferred hint');
      }
      ({ nodes, preferred } = found);
    }
    if (!this.suffices(nodes, asked)) {
      const inner = nodes;
      const found = best(this.fitting(asked).filter((each) => (each.nodes & inner) === inner));
      if (found === null) {
        throw new Refusal('[memorymanager] failed to find NUMA nodes to extend the current topology hint');
      }
      if (!found.preferred && preferred) {
        throw new Refusal('[memorymanager] failed to find the extended preferred hint');
      }
      ({ nodes } = found);
    }
    if (this.book.allows(nodes)) return nodes;
    throw new Refusal('[memorymanager] preferred hint violates NUMA node allocation');
  }

  private suffices(mask: NodeMask, asked: MemoryRequests): boolean {
    return [...asked].every(([type, size]) => this.sum(mask, type, 'free') >= size);
  }

  private sum(mask: NodeMask, type: string, field: 'free' | 'allocatable'): number {
    return nodesOf(mask).reduce((sum, id) => sum + this.book.table(id, type)[field], 0);
  }

  /** All sets of nodes that have it. Preferred: those of as few nodes as the machine could do it with if it were empty. */
  private fitting(asked: MemoryRequests): NodeHint[] {
    const { ids } = this.book;
    let least = ids.length;
    const fitting: NodeMask[] = [];
    for (const mask of masksOf(ids)) {
      if ([...asked].some(([type, size]) => this.sum(mask, type, 'allocatable') < size)) continue;
      least = Math.min(least, sizeOf(mask));
      const single = sizeOf(mask) === 1;
      if (single && this.book.cells(nodesOf(mask)[0] ?? 0).length > 1) continue;
      if (!this.book.allows(mask)) continue;
      const enough = ([type, size]: [string, number]): boolean =>
        this.sum(mask, type, 'free') + this.reusable(mask, type) >= size;
      if ([...asked].every(enough)) fitting.push(mask);
    }
    return fitting.map((nodes) => ({ nodes, preferred: sizeOf(nodes) === least }));
  }

  /** A resource that nothing fits has no list at all, as in kubelet: with none for any, there is no preference. */
  private listed(asked: MemoryRequests): ResourceHints {
    const fitting = this.fitting(asked);
    return fitting.length === 0 ? {} : Object.fromEntries([...asked.keys()].map((type) => [type, fitting]));
  }

  private reusable(mask: NodeMask, type: string): number {
    return this.again.get(`${mask}/${type}`) ?? 0;
  }

  private remember(name: string, blocks: readonly MemoryBlock[]): void {
    const init = isPlainInit(this.pod, name);
    for (const { numaAffinity, type, size } of blocks) {
      const mask = maskOf(numaAffinity);
      const now = this.reusable(mask, type);
      if (init) this.again.set(`${mask}/${type}`, Math.max(now, size));
      else if (now !== 0) this.again.set(`${mask}/${type}`, Math.max(0, now - size));
    }
  }

  /** What a container has of an init container's memory counts with it alone, so that all together have what the pod has. */
  private shrinkInits(name: string, blocks: readonly MemoryBlock[]): void {
    const inits = this.pod.spec?.initContainers ?? [];
    const own = inits.findIndex((each) => each.name === name);
    const before = (own < 0 ? inits : inits.slice(0, own)).filter((each) => isPlainInit(this.pod, each.name));
    for (const { numaAffinity, type, size } of blocks) {
      let left = size;
      for (const init of before) {
        const has = this.book.of(this.uid, init.name) ?? [];
        if (left === 0 || has.length === 0) continue;
        const next = has.map((each) => {
          if (each.type !== type || maskOf(each.numaAffinity) !== maskOf(numaAffinity)) return each;
          const part = Math.min(each.size, left);
          left -= part;
          return { ...each, size: each.size - part };
        });
        this.book.note(this.uid, init.name, next);
      }
    }
  }
}

/** What it has was given before: the same nodes once more; null when it asks for something else now. */
function sameAgain(has: readonly MemoryBlock[], asked: MemoryRequests): ResourceHints {
  if (has.length !== asked.size) return null;
  const hints: Record<string, TopologyHint[]> = {};
  for (const { numaAffinity, type, size } of has) {
    if (asked.get(type) !== size) return null;
    (hints[type] ??= []).push({ nodes: maskOf(numaAffinity), preferred: true });
  }
  return hints;
}

function best(hints: readonly NodeHint[]): NodeHint | null {
  let found: NodeHint | null = null;
  for (const hint of hints) {
    const better =
      found === null ||
      (hint.preferred && !found.preferred) ||
      (hint.preferred === found.preferred && isNarrower(hint.nodes, found.nodes));
    if (better) found = hint;
  }
  return found;
}

function orNull<T>(get: () => T): T | null {
  try {
    return get();
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}
