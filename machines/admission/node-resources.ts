import type { AdmissionRules } from './admission-rules.ts';
import type { Counts, ResourceManager } from './resource-manager.ts';
import type { Pod } from '../protocol/api-types.ts';
import type { ContainerGrant, PodGrants } from '../protocol/grants.ts';
import { atUid, uidEntries } from '../supervisor/uid-table.ts';
import { admitResources, releaseContainers, releaseResources } from '../resource-managers/admit-resources.ts';
import type { Affinities, ResourceGround, ResourceState } from '../resource-managers/admit-resources.ts';
import { isPlainInit } from '../resource-managers/cpu/cpu-requests.ts';
import { Refusal, rejectionOf } from '../resource-managers/refusal.ts';
import { bornResources, resourceGroundOf } from '../resource-managers/resource-ground.ts';
import type { ResourceRules } from '../resource-managers/resource-ground.ts';
import { Tally } from '../resource-managers/tally.ts';

/** Name under which their state stands in the admission machine's. */
export const NODE_RESOURCES = 'node-resources';

const grounds = new WeakMap<ResourceRules, ResourceGround>();

/** What managers decide by; made once for as long as the rules are the same. */
export function groundOf(rules: ResourceRules): ResourceGround {
  const known = grounds.get(rules) ?? resourceGroundOf(rules);
  grounds.set(rules, known);
  return known;
}

/**
 * CPU, memory and topology manager in one, since they decide together. Null where none of them has anything to give: policies
 * `none`, and logs from before there were any here.
 */
export const nodeResources: ResourceManager<ResourceState | null | undefined> = {
  name: NODE_RESOURCES,
  born({ resources }) {
    return gives(resources) ? bornResources(resources, groundOf(resources)) : null;
  },
  allocate(state, pod, { resources }, affinities, held) {
    if (!gives(resources) || !state) return { state, ...countedAlone(resources, pod, affinities) };
    const tally = new Tally();
    try {
      const given = admitResources(groundOf(resources), state, pod, tally, affinities, held);
      return { state: given, counts: tally.counts };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { ...rejectionOf(error), counts: tally.counts };
    }
  },
  release(state, uid) {
    if (!state) return state;
    const held = atUid(state.cpu?.pods ?? {}, uid) ?? atUid(state.memory?.pods ?? {}, uid);
    return held === undefined ? state : releaseResources(state, uid);
  },
  keepOnly(state, keeps) {
    const tables = [state?.cpu?.pods ?? {}, state?.memory?.pods ?? {}];
    const uids = new Set(tables.flatMap((table) => uidEntries<unknown>(table).map(([uid]) => uid)));
    let now = state;
    for (const uid of uids) if (!keeps(uid)) now = this.release(now, uid);
    return now;
  },
  initialized(state, pod) {
    const grants = atUid(state?.memory?.pods ?? {}, pod.metadata?.uid ?? '') ?? [];
    const over = grants.filter(({ name }) => isPlainInit(pod, name)).map(({ name }) => name);
    if (!state || over.length === 0) return state;
    return releaseContainers(state, pod.metadata?.uid ?? '', over);
  },
};

/** Is there anything to give? The topology manager alone has nothing, and refuses nobody. */
function gives(resources: AdmissionRules['resources']): resources is ResourceRules {
  return resources !== undefined && (resources.cpu.policy === 'static' || resources.memory.policy === 'Static');
}

/** What the topology manager counts of a pod that it alone is asked about: kubelet's counts each that it lets in, whatever there was to align. */
function countedAlone(resources: AdmissionRules['resources'], pod: Pod, affinities?: Affinities): { counts?: Counts } {
  if (resources?.countsAlone !== true || resources.topology.policy !== 'single-numa-node') return {};
  const tally = new Tally();
  admitResources(groundOf(resources), { cpu: null, memory: null }, pod, tally, affinities);
  return { counts: tally.counts };
}

/** What stands under {@link NODE_RESOURCES}; null where nothing is given away. */
export function resourcesOf(managed: Readonly<Record<string, unknown>>): ResourceState | null {
  return (managed[NODE_RESOURCES] ?? null) as ResourceState | null;
}

/** What the pod's containers have; undefined where nothing is given away. */
export function grantsOf(
  state: ResourceState | null,
  uid: string,
  rules: Pick<ResourceRules, 'quotaOff' | 'retryMs'>,
): PodGrants | undefined {
  if (state === null) return undefined;
  const containers = new Map<string, ContainerGrant>();
  for (const { name, cpus } of atUid(state.cpu?.pods ?? {}, uid) ?? []) containers.set(name, { name, cpus });
  for (const { name, blocks } of atUid(state.memory?.pods ?? {}, uid) ?? []) {
    const nodes = [...new Set(blocks.flatMap(({ numaAffinity }) => numaAffinity))].sort((a, b) => a - b);
    if (nodes.length > 0) containers.set(name, { name, ...containers.get(name), mems: nodes.join(',') });
  }
  const { quotaOff, retryMs } = rules;
  return { shared: state.cpu?.shared ?? '', quotaOff, retryMs, containers: [...containers.values()] };
}
