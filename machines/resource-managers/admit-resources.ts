import type { Container, Pod } from '../protocol/api-types.ts';
import { CpuBook } from './cpu/cpu-book.ts';
import type { CpuState } from './cpu/cpu-book.ts';
import type { CpuGround } from './cpu/cpu-ground.ts';
import { managedContainers } from './cpu/cpu-requests.ts';
import { StaticCpus } from './cpu/static-cpus.ts';
import { MemoryBook } from './memory/memory-book.ts';
import type { MemoryState } from './memory/memory-state.ts';
import { StaticMemory } from './memory/static-memory.ts';
import type { MachineTopology } from './machine/machine-topology.ts';
import { Refusal } from './refusal.ts';
import type { HeldHints, ResourceHints, TopologyHint } from './topology/hints.ts';
import { mergeHints } from './topology/merge-hints.ts';
import type { TopologyRules } from './topology/topology-options.ts';
import type { Tally } from './tally.ts';

/** What a node's resources are given away by. */
export interface ResourceGround {
  machine: MachineTopology;
  topology: TopologyRules;
  /** Null: policy none. */
  cpu: CpuGround | null;
  podLevelResources: boolean;
  /** See the rule of this name. */
  reuseIsExact: boolean;
}

/** Who has what, plain JSON. `cpu`, `memory`: null with policy none. */
export interface ResourceState {
  cpu: CpuState | null;
  memory: MemoryState | null;
}

/** A manager as the topology manager sees it. */
interface Provider {
  hints: (container: Container) => ResourceHints;
  podHints: () => ResourceHints;
  allocate: (container: Container, hint: TopologyHint) => void;
}

/** The managers of one pod's admission, in kubelet's order, and what is left when they have given. */
export function providersOf(
  ground: ResourceGround,
  state: ResourceState,
  pod: Pod,
  tally: Tally,
): { providers: readonly Provider[]; left: () => ResourceState } {
  const cpus = state.cpu && new CpuBook(state.cpu);
  const memory = state.memory && new MemoryBook(state.memory);
  const providers: Provider[] = [];
  if (cpus !== null && ground.cpu !== null) {
    const manager = new StaticCpus(ground.cpu, cpus, pod, tally, ground.podLevelResources);
    providers.push({
      hints: (container) => manager.hints(container),
      podHints: () => manager.podHints(),
      allocate: (container, hint) => manager.allocate(container, hint.nodes),
    });
  }
  if (memory !== null) providers.push(new StaticMemory(memory, pod, tally, ground));
  return { providers, left: () => ({ cpu: cpus?.state ?? null, memory: memory?.state ?? null }) };
}

/**
 * Gives all containers of the pod what they need alone, aligned as the topology manager has it (its Admit).
 * @param fixed where containers are that were given devices before
 * @param held of a pod that is resized: where its devices let it be
 * @throws Refusal when there is none for it; nothing has changed then
 */
export function admitResources(
  ground: ResourceGround,
  state: ResourceState,
  pod: Pod,
  tally: Tally,
  fixed: Affinities = {},
  held: HeldHints = {},
): ResourceState {
  const { providers, left } = providersOf(ground, state, pod, tally);
  allocateAll(ground, providers, pod, tally, { fixed, held });
  return left();
}

/** Where containers are to be that have devices: what the topology manager found with these, by container; '' for the pod as a whole. */
export type Affinities = Readonly<Record<string, TopologyHint>>;

/**
 * Where a container, or with '' the pod as a whole, is to be, together with its devices: those are chosen by it before anything else is
 * given away. Containers before it count as they will be admitted.
 * @throws Refusal when it can be nowhere
 */
export function affinityWith(
  ground: ResourceGround,
  state: ResourceState,
  pod: Pod,
  tally: Tally,
  { container, hints, fixed }: { container: string; hints: ResourceHints; fixed: Affinities },
): TopologyHint {
  const { providers } = providersOf(ground, state, pod, tally);
  const aligned = aligner(ground, tally);
  if (container === '') return aligned([hints, ...providers.map((manager) => manager.podHints())]);
  for (const other of managedContainers(pod)) {
    const own = providers.map((manager) => manager.hints(other));
    if (other.name === container) return aligned([hints, ...own]);
    give(providers, other, fixed[other.name] ?? aligned(own), tally);
  }
  throw new Error(`pod ${pod.metadata?.uid ?? ''} has no container ${container}`);
}

/** Nothing of the pod's stays. */
export function releaseResources(state: ResourceState, uid: string): ResourceState {
  const cpus = state.cpu && new CpuBook(state.cpu);
  const memory = state.memory && new MemoryBook(state.memory);
  cpus?.releasePod(uid);
  memory?.releasePod(uid);
  return { cpu: cpus?.state ?? null, memory: memory?.state ?? null };
}

/** What init containers have that have ended goes back; what later ones took over of theirs is not counted with them. */
export function releaseContainers(state: ResourceState, uid: string, names: readonly string[]): ResourceState {
  const memory = state.memory && new MemoryBook(state.memory);
  for (const name of names) memory?.release(uid, name);
  return { ...state, memory: memory?.state ?? null };
}

const ANYWHERE: TopologyHint = { nodes: null, preferred: false };

function allocateAll(
  ground: ResourceGround,
  managers: readonly Provider[],
  pod: Pod,
  tally: Tally,
  { fixed, held }: { fixed: Affinities; held: HeldHints },
): void {
  const ofDevices = (name: string): ResourceHints[] => (held[name] === undefined ? [] : [held[name]]);
  const { policy, scope } = ground.topology;
  if (policy === 'none') {
    for (const container of managedContainers(pod)) {
      for (const manager of managers) manager.allocate(container, ANYWHERE);
    }
    return;
  }
  const aligned = aligner(ground, tally);
  if (scope === 'pod') {
    const hint = fixed[''] ?? aligned([...ofDevices(''), ...managers.map((manager) => manager.podHints())]);
    for (const container of managedContainers(pod)) give(managers, container, hint, tally);
    if (policy === 'single-numa-node') tally.add('alignedNodesOfPod');
    return;
  }
  for (const container of managedContainers(pod)) {
    const all = (): ResourceHints[] => [...ofDevices(container.name), ...managers.map((each) => each.hints(container))];
    const hint = fixed[container.name] ?? aligned(all());
    give(managers, container, hint, tally);
    if (policy === 'single-numa-node') tally.add('alignedNodesOfContainer');
  }
}

/** The best hint of all, or a refusal. */
function aligner({ topology, machine }: ResourceGround, tally: Tally): (all: readonly ResourceHints[]) => TopologyHint {
  return (all) => {
    const { hint, admit } = mergeHints(topology, machine, all);
    if (admit) return hint;
    if (topology.policy === 'single-numa-node') {
      tally.add(topology.scope === 'pod' ? 'unalignedNodesOfPod' : 'unalignedNodesOfContainer');
    }
    tally.add('topologyErrors');
    throw new Refusal('Resources cannot be allocated with Topology locality', 'TopologyAffinityError');
  };
}

function give(managers: readonly Provider[], container: Container, hint: TopologyHint, tally: Tally): void {
  try {
    for (const manager of managers) manager.allocate(container, hint);
  } catch (error) {
    tally.add('topologyErrors');
    throw error;
  }
}
