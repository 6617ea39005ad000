import type { Random } from '../world/random.ts';
import type { Fault, PodPlan } from './plan.ts';
import type { PodSpec } from './pod-spec.ts';

/** The resources of the simulated device plugins, with how many devices each has. */
export const DEVICES = { 'sim.example.com/gpu': 40, 'sim.example.com/nic': 12 } as const;
/** The simulated drivers of dynamic resources. */
export const DRIVERS = ['one.example.com', 'two.example.com'] as const;
/** Claims that several pods use, with the drivers that each was allocated from. */
export const SHARED_CLAIMS: Readonly<Record<string, readonly string[]>> = {
  'shared-one': ['one.example.com'],
  'shared-both': ['one.example.com', 'two.example.com'],
};

const SECOND = 1_000;
/** Plugins are there by then, so that pods which come later are given devices. */
export const PLUGINS_FIRST_MS = 20 * SECOND;
const RESOURCES = Object.keys(DEVICES) as [keyof typeof DEVICES, ...(keyof typeof DEVICES)[]];

/** How long pods of the run wait for plugins; of some none does, as with kubelet. */
export function drawPatience(random: Random): number {
  return random.chance(0.7) ? 300 * SECOND : 0;
}

/** Has most of the pods ask for devices, and of those of the API some for claims, too. */
export function withPlugins(random: Random, pods: readonly PodPlan[]): void {
  for (const pod of pods) {
    pod.at += PLUGINS_FIRST_MS;
    if (random.chance(0.7)) withDevices(random, pod.spec);
    if (pod.source === 'api' && random.chance(0.6)) withClaims(random, pod);
  }
}

function withDevices(random: Random, spec: PodSpec): void {
  for (const container of [...(spec.initContainers ?? []), ...spec.containers]) {
    if (!random.chance(0.7)) continue;
    const list = { [random.pick(RESOURCES)]: String(random.pick([1, 1, 2])) };
    container.resources = { limits: { ...list }, requests: { ...container.resources?.requests, ...list } };
  }
}

function withClaims(random: Random, { key, spec }: PodPlan): void {
  const shared = random.pickAny(Object.keys(SHARED_CLAIMS)) ?? '';
  const names = random.pick([[shared], [`own-${key}`], [shared, `own-${key}`]]);
  spec.resourceClaims = names.map((name) => ({ name, resourceClaimName: name }));
  for (const container of spec.containers)
    container.resources = { ...container.resources, claims: names.map((name) => ({ name })) };
}

/** Draws what plugins and drivers do, and when the agent dies of one of their calls; on some runs nothing goes wrong with them. */
export function drawPluginFaults(random: Random, until: number): Fault[] {
  if (random.chance(0.1)) return [];
  return Array.from({ length: random.between(2, 12) }, (): Fault => {
    // Plugins are asked when pods come, most of which come at the start.
    const early = random.chance(0.6);
    const from = random.between(PLUGINS_FIRST_MS - 5_000, Math.floor(until * (early ? 0.1 : 0.7)));
    const window = { from, for: random.between(1, 240) * SECOND };
    if (random.chance(0.3)) {
      const effect = random.pick([
        ...(['host.PrepareClaims', 'host.UnprepareClaims', 'cri.CreateContainer'] as const),
        ...(['device.Allocate', 'device.PreStartContainer'] as const),
      ]);
      return { kind: 'crash-at-effect', effect, count: random.between(1, 3), done: random.chance(0.5), ...window };
    }
    const how = random.pick([
      ...(['away', 'away', 'hang', 'fail', 'lost', 'slow', 'fewer', 'sick', 'twice', 'death', 'death'] as const),
    ]);
    return { kind: 'plugin', how, of: random.pick([...RESOURCES, ...DRIVERS]), ...window };
  });
}
