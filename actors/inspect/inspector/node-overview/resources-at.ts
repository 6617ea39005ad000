import { resourcesOf } from '../../../../machines/admission/node-resources.ts';
import type { AdmissionState } from '../../../../machines/admission/admission-state.ts';
import type { ClaimState } from '../../../../machines/claims/claim-state.ts';
import type { DeviceState } from '../../../../machines/devices/device-state.ts';
import { holdersOf, resourceTable } from '../../../../machines/pod-resources-api/resource-rows.ts';
import type { Holdings } from '../../../../machines/pod-resources-api/resource-rows.ts';
import type { Pod } from '../../../../machines/protocol/api-types.ts';
import { admission } from '../../../record/machines/admission.ts';
import { claims } from '../../../record/machines/claims.ts';
import { devices } from '../../../record/machines/devices.ts';
import type { ResourcesMoment } from '../inspector-api.ts';
import type { JournalIndex } from '../journal-index.ts';
import type { MachineReplay } from '../machine-replay.ts';
import { stateAt, stepAt } from './machine-moments.ts';

/** So many pods that have something are told: there may be hundreds. */
export const MOST_HOLDERS = 50;

/** Who had which CPUs, memory, devices and claims. @param moment ms since the epoch; null: the newest */
export async function resourcesAt(
  index: JournalIndex,
  replay: MachineReplay,
  moment: number | null,
): Promise<ResourcesMoment | null> {
  const holdings = await holdingsAt(index, replay, moment);
  const holders = [...holdersOf(holdings)];
  const { resources } = holdings;
  if (holders.length === 0 && !resources?.cpu && !resources?.memory) return null;
  const nameOf = (uid: string): string => {
    const line = index.entry(uid)?.line;
    // Those that are not known (any more) come last.
    return line === undefined ? '~' : `${line.namespace}/${line.name}`;
  };
  const shown = holders
    .map((uid) => ({ uid, name: nameOf(uid) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .slice(0, MOST_HOLDERS);
  const pods: Pod[] = [];
  for (const { uid } of shown) {
    const entry = index.entry(uid);
    const snapshot = entry && (await replay.podAfter(entry, stepAt(entry, moment)));
    if (!snapshot) continue;
    const { pod, startedAt } = snapshot.context;
    const startTime = new Date(startedAt).toISOString();
    pods.push({ ...pod, status: { ...pod.status, ...(startedAt > 0 && { startTime }) } });
  }
  const { rows, ...left } = resourceTable(holdings, pods);
  const told = new Set(shown.map(({ uid }) => uid));
  return { ...left, rows: rows.filter(({ uid }) => told.has(uid)), more: holders.length - shown.length };
}

async function holdingsAt(index: JournalIndex, replay: MachineReplay, moment: number | null): Promise<Holdings> {
  const taken = await stateAt<AdmissionState>(index, replay, admission, moment);
  return {
    resources: taken && resourcesOf(taken.managed),
    devices: await stateAt<DeviceState>(index, replay, devices, moment),
    claims: await stateAt<ClaimState>(index, replay, claims, moment),
    // Where the gate is off, there is no such claim.
    extended: true,
  };
}
