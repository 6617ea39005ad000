import type { Logger } from 'pino';
import { draw, hexId } from '../../../cri/sim/prng.ts';
import type { MachineFacts } from '../../../machines/node-object/node-types.ts';
import { InProcessRuntime } from '../../../cri/sim/in-process-runtime.ts';
import { containerSchema } from '../../../cri/sim/script.ts';
import type { ContainerBehaviour, SimPlan } from '../../../cri/sim/script.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { NodeFactsSource } from '../../cluster/node-object/node-facts-reader.ts';
import type { FleetClock } from './fleet-clock.ts';
import { MachineFiles } from './machine-files.ts';
import { MemoryHost } from './memory-host.ts';
import { NodeLogs } from './node-logs.ts';
import type { PlannedNode } from './profile/plan-nodes.ts';
import type { Profile } from './profile/profile-schema.ts';
import { ScriptedNetwork } from './scripted-network.ts';
import { SimulatedDevices } from './simulated-devices.ts';
import { SimulatedDrivers } from './simulated-drivers.ts';
import { SimulatedUsage, wholePieces } from './simulated-usage.ts';

/** Sizes of huge pages that a kernel offers, bytes, by architecture: a kubelet tells each of them, none of which is set aside. */
const HUGE_PAGES: Readonly<Record<string, readonly number[]>> = {
  amd64: [2 * 2 ** 20, 2 ** 30],
  arm64: [64 * 2 ** 10, 2 * 2 ** 20, 32 * 2 ** 20, 2 ** 30],
};

/** What a {@link SimulatedMachine} is made from. */
export interface SimulatedMachineOptions {
  node: PlannedNode;
  profile: Profile;
  seed: number;
  rootDir: string;
  /** The node's InternalIP. */
  address: string;
  /** `runtimeRequestTimeout`, ms. */
  timeoutMs: number;
  clock: FleetClock;
  log: Logger;
}

/** A machine that is not there: what it is, what it runs, and what lies on it. It outlives the agents that run on it. */
export class SimulatedMachine {
  readonly runtime: InProcessRuntime;
  readonly host: MemoryHost;
  readonly network: ScriptedNetwork;
  readonly logs: NodeLogs;
  readonly usage: SimulatedUsage;
  readonly devices: SimulatedDevices;
  readonly drivers: SimulatedDrivers;
  readonly clock: FleetClock;
  readonly seed: number;
  readonly facts: NodeFactsSource;
  /** The pods that the agent on it knows. */
  podOf: (uid: string) => Pod | undefined = () => undefined;
  private readonly name: string;
  private readonly ends: { init: ContainerBehaviour; job: ContainerBehaviour };
  private boots = 0;

  constructor({ node, profile, seed, rootDir, address, timeoutMs, clock, log }: SimulatedMachineOptions) {
    this.clock = clock;
    this.logs = new NodeLogs(clock);
    this.name = node.name;
    const { init, job } = profile.ends;
    this.ends = { init: endsAfter(init), job: endsAfter(job) };
    this.seed = Math.floor(draw(seed, 'node', node.name) * 0x1_0000_0000);
    this.runtime = new InProcessRuntime({
      plan: planOf(profile.runtime, node.podCIDR),
      seed: this.seed,
      timeoutMs,
      logs: this.logs,
      time: clock,
      callsKept: 1,
      otherwise: (sandbox, container) => this.otherwise(sandbox.metadata.uid, container),
    });
    const { tokens, files } = profile;
    this.host = new MemoryHost({
      ...{ rootDir, logs: this.logs, tokens, log },
      files: files ? new MachineFiles(rootDir, log) : null,
    });
    this.network = new ScriptedNetwork(this.runtime.core, profile.probes, clock);
    this.usage = new SimulatedUsage({
      core: this.runtime.core,
      facts: () => this.facts.machine,
      nodeName: node.name,
      rules: profile.usage,
      clock,
    });
    this.devices = new SimulatedDevices({ rules: node.group.devices, seed: this.seed, clock });
    this.drivers = new SimulatedDrivers({ rules: node.group.drivers, nodeName: node.name, seed: this.seed, clock });
    this.facts = {
      machine: this.machineFacts(node),
      addresses: { hostname: node.name, externalCloudProvider: false, given: [address], found: null },
      read: () => Promise.resolve(),
    };
  }

  /** The power fails: all that ran is gone, and the next boot has another id. */
  async powerOff(): Promise<void> {
    this.runtime.loseAll();
    this.boots++;
    this.facts.machine = { ...this.facts.machine, bootID: this.id('boot', this.boots) };
    await this.host.powerOff();
  }

  /** The machine is given up: nothing of it goes on or is left. */
  async end(): Promise<void> {
    this.runtime.stop();
    await this.host.end();
  }

  /** The file system of the images. */
  disk(): { capacityBytes: number; availableBytes: number } {
    const capacityBytes = this.facts.machine.ephemeralStorageBytes ?? 0;
    const usedBytes = this.runtime.core.images.usedBytes + this.usage.taken.disk;
    return { capacityBytes, availableBytes: Math.max(0, capacityBytes - usedBytes) };
  }

  /** Something takes all but a hundredth of the memory or of the disk, or gives it back. */
  fill(what: 'memory' | 'disk', full: boolean): void {
    const { memoryBytes, ephemeralStorageBytes } = this.facts.machine;
    const all = what === 'memory' ? memoryBytes : (ephemeralStorageBytes ?? 0);
    this.usage.taken[what] = full ? wholePieces(all * 0.99) : 0;
  }

  private otherwise(uid: string, container: string): ContainerBehaviour | undefined {
    const spec = this.podOf(uid)?.spec;
    const init = spec?.initContainers?.find(({ name }) => name === container);
    if (init !== undefined) return init.restartPolicy === 'Always' ? undefined : this.ends.init;
    return spec === undefined || (spec.restartPolicy ?? 'Always') === 'Always' ? undefined : this.ends.job;
  }

  private machineFacts({ group }: PlannedNode): MachineFacts {
    const { cpus, memory, disk, osImage, kernelVersion, architecture } = group.machine;
    return {
      machineID: hexId(this.seed, 'machine').slice(0, 32),
      systemUUID: this.id('system', 0),
      bootID: this.id('boot', this.boots),
      ...{ kernelVersion, osImage, architecture },
      operatingSystem: 'linux',
      cores: cpus,
      memoryBytes: memory,
      swapBytes: 0,
      ephemeralStorageBytes: disk,
      hugePages: (HUGE_PAGES[architecture] ?? []).map((pageBytes) => ({ pageBytes, pages: 0 })),
    };
  }

  /** A UUID that the seed gives. */
  private id(what: string, count: number): string {
    const digits = hexId(this.seed, what, this.name, count);
    return [
      digits.slice(0, 8),
      digits.slice(8, 12),
      digits.slice(12, 16),
      digits.slice(16, 20),
      digits.slice(20, 32),
    ].join('-');
  }
}

function endsAfter(after: { min: number; max: number }): ContainerBehaviour {
  return containerSchema.parse({ attempts: [{ exit: { after: [after.min, after.max] } }] });
}

function planOf(plan: SimPlan, podCIDR: string): SimPlan {
  return { ...plan, runtime: { ...plan.runtime, podCIDRs: [podCIDR] } };
}
