import type { Pod } from '../protocol/api-types.ts';
import type { PodHealth, ResourceHealth, ResourceHealthRow } from '../protocol/resource-health.ts';
import { isFor } from './container-claims.ts';
import { claimKey } from './claim-state.ts';
import type { ClaimState, DeviceHealth, KnownClaim } from './claim-state.ts';
import { namedClaims } from './pod-claims.ts';

/** A driver's word for one of its devices holds for so long when it names no time, ms (kubelet: DefaultHealthTimeout). */
export const HEALTH_TIMEOUT_MS = 30_000;

/** What a driver says of one device. */
export type ToldHealth = Pick<DeviceHealth, 'pool' | 'device' | 'health' | 'timeoutMs'>;

/** Devices of one driver by `pool/device`. */
export type DriverHealth = Readonly<Record<string, DeviceHealth>>;

/** The name of a device among those of its driver. */
export function deviceKey({ pool, device }: { pool: string; device: string }): string {
  return `${pool}/${device}`;
}

/**
 * What is known of a driver's devices after it told them (kubelet: updateHealthInfo), and whether any is another than before. Those that it
 * leaves out are known until their time is over.
 * @param at ms since the epoch; @param steady ms of a clock that nobody sets
 */
export function withTold(
  before: DriverHealth,
  told: readonly ToldHealth[],
  { at, steady }: { at: number; steady: number },
): { health: DriverHealth; changed: boolean } {
  const news = told.map((one): [string, DeviceHealth] => [
    deviceKey(one),
    { ...one, updatedAt: at, until: steady + one.timeoutMs },
  ]);
  const changed = news.some(([key, { health, timeoutMs }]) => {
    const old = before[key];
    return old?.health !== health || old.timeoutMs !== timeoutMs;
  });
  return { health: { ...before, ...Object.fromEntries(news) }, changed };
}

/** What is known of a driver's devices at this time: nothing of those whose time is over; null when that is the same as before. */
export function withoutStale(before: DriverHealth, steady: number): DriverHealth | null {
  const stale = Object.entries(before).filter(([, one]) => isStale(one, steady));
  if (stale.length === 0) return null;
  return { ...before, ...Object.fromEntries(stale.map(([key, one]) => [key, { ...one, health: 'Unknown' as const }])) };
}

/** Is its time over, and is it told as if it were not? */
export function isStale({ health, until }: DeviceHealth, steady: number): boolean {
  return health !== 'Unknown' && steady > until;
}

/**
 * How the devices of the claims of a pod's containers are (kubelet: dra.UpdateAllocatedResourcesStatus): a row for each claim, or request of
 * one, that a container names, when the claim has been prepared. Claims that the pod names themselves count, too (kubelet: those made for it).
 */
export function claimHealth(state: Pick<ClaimState, 'claims' | 'health'>, pod: Pod): PodHealth {
  const claims = new Map<string, KnownClaim>();
  for (const named of namedClaims(pod, false)) {
    if ('problem' in named || named.name === null) continue;
    const known = state.claims[claimKey(pod.metadata?.namespace ?? '', named.name)];
    if (known !== undefined) claims.set(named.podClaim, known);
  }
  const rows = (pod.spec?.containers ?? []).map(({ name, resources }): [string, ResourceHealthRow[]] => [
    name,
    (resources?.claims ?? []).flatMap(({ name: claim, request = '' }) => {
      const known = claims.get(claim);
      const devices = known === undefined ? [] : rowsOf(state.health ?? {}, known, request);
      const row = { name: `claim:${claim}${request === '' ? '' : `/${request}`}`, resources: devices };
      return devices.length === 0 ? [] : [row];
    }),
  ]);
  return Object.fromEntries(rows.filter(([, of]) => of.length > 0));
}

/** The API takes no name twice in a row: one that several devices share is none of theirs. */
function rowsOf(health: NonNullable<ClaimState['health']>, { drivers }: KnownClaim, request: string): ResourceHealth[] {
  const rows = new Map<string, ResourceHealth['health']>();
  for (const driver of Object.keys(drivers).sort())
    for (const device of drivers[driver] ?? []) {
      if (!isFor(device, request)) continue;
      const whole = `${driver}/${deviceKey(device)}`;
      const short = device.cdi[0] ?? whole;
      rows.set(rows.has(short) ? whole : short, health[driver]?.[deviceKey(device)]?.health ?? 'Unknown');
    }
  return [...rows].map(([resourceID, is]) => ({ resourceID, health: is }));
}
