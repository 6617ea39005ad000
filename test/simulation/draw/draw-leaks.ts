import type { Random } from '../world/random.ts';
import type { Fault, Leak, Plan, PodPlan } from './plan.ts';

const SECOND = 1_000;
const GIB = 1_024;
/** Priority of critical pods (system-cluster-critical). */
const CRITICAL = 2_000_000_000;
/** Sizes of images that nobody uses, MiB. */
export const LITTER_MIB = [700, 3_000, 9_000] as const;

/** Up to where each goes, and how much a second: most fill the node within minutes, some never do. */
const KINDS = {
  memory: { most: [4 * GIB, 14 * GIB], rates: [60, 150, 400] },
  pids: { most: [8_000, 32_000], rates: [200, 500, 2_000] },
  volume: { most: [10 * GIB, 64 * GIB], rates: [300, 700, 2_000] },
  files: { most: [1_000_000, 3_990_000], rates: [20_000, 60_000] },
  log: { most: [10 * GIB, 64 * GIB], rates: [300, 700, 2_000] },
  layer: { most: [10 * GIB, 64 * GIB], rates: [300, 700, 2_000] },
} as const satisfies Record<Leak['what'], { most: [number, number]; rates: [number, ...number[]] }>;

const WHATS = Object.keys(KINDS) as [Leak['what'], ...Leak['what'][]];

/** Is it that of a critical pod? */
export const isSystemPriority = (priority = 0): boolean => priority >= CRITICAL;

/**
 * Draws what pods take without end, who of them may take how much, how the disks lie, and what is wrong with what is told of all that;
 * on most nodes nothing leaks. Changes the pods. @returns null: nothing does
 */
export function withLeaks(
  random: Random,
  pods: readonly PodPlan[],
  until: number,
): { disks: NonNullable<Plan['node']['disks']>; faults: Fault[] } | null {
  if (!random.chance(0.4)) return null;
  const disks = random.pick(['one', 'one', 'images', 'split'] as const);
  for (const pod of pods) {
    if (random.chance(0.3)) pod.spec.priority = random.pick([-10, 100, 100, CRITICAL]);
    if (random.chance(0.3)) withRequests(random, pod);
    if (random.chance(0.2)) withLimits(random, pod);
    if (random.chance(0.2)) withLeak(random, pod);
  }
  const faults: Fault[] = [];
  const at = (): number => random.between(0, Math.floor((until * 0.8) / SECOND)) * SECOND;
  for (let i = random.between(0, 3); i > 0; i--) {
    const how = random.pick(['old', 'old', 'fail', 'lie'] as const);
    const span = { from: at(), for: random.between(10, 600) * SECOND };
    faults.push({ kind: 'stats', how, chance: random.pick([0.5, 1]), ...span });
  }
  if (random.chance(0.4)) faults.push({ kind: 'late-free', from: at(), for: random.between(600, 2_400) * SECOND });
  if (random.chance(0.4)) {
    const mib = random.pick(LITTER_MIB);
    faults.push({ kind: 'litter', from: at(), images: random.between(1, Math.ceil((70 * GIB) / mib)), mib });
  }
  return { disks, faults };
}

function withLeak(random: Random, pod: PodPlan): void {
  const { spec } = pod;
  const container = random.pickAny(spec.containers.map(({ name }) => name)) ?? 'main0';
  const what = random.pick(WHATS);
  const { most, rates } = KINDS[what];
  const end = random.between(most[0], most[1]);
  const rate = random.chance(0.25) ? null : random.pick<number>(rates);
  pod.leaks = [{ container, what, after: random.between(0, 120) * SECOND, rate, most: end }];
}

/** Some ask for more than they take, others for less. */
function withRequests(random: Random, { spec }: PodPlan): void {
  for (const container of spec.containers) {
    const requests = { memory: random.pick(['50Mi', '500Mi']), 'ephemeral-storage': random.pick(['50Mi', '500Mi']) };
    container.resources = { ...container.resources, requests: { ...container.resources?.requests, ...requests } };
  }
}

/** Limits on what they may take of the node's disk, which most of them keep unless they leak. */
function withLimits(random: Random, pod: PodPlan): void {
  const { spec } = pod;
  const data = spec.volumes?.find(({ name }) => name === 'data');
  if (data !== undefined && random.chance(0.5)) data.emptyDir = { sizeLimit: '200Mi' };
  const [first] = spec.containers;
  if (first !== undefined && random.chance(0.6)) {
    const limits = { 'ephemeral-storage': random.pick(['300Mi', '600Mi', '600Mi']) };
    const requests = { ...first.resources?.requests, 'ephemeral-storage': '50Mi' };
    first.resources = { ...first.resources, requests, limits };
  }
  if (random.chance(0.5)) {
    const what = random.pick(['volume', 'log', 'layer'] as const);
    const [rate, most] = [random.pick([5, 50]), random.between(100, 2 * GIB)];
    pod.leaks = [{ container: 'main0', what, after: random.between(0, 120) * SECOND, rate, most }];
  }
}
