import { pressureReport } from '../../../../machines/pressure/pressure-report.ts';
import type { PressureReport } from '../../../../machines/pressure/pressure-report.ts';
import { eviction } from '../../../record/machines/eviction.ts';
import type { EvictionSnapshot } from '../../../record/machines/eviction.ts';
import type { JournalIndex } from '../journal-index.ts';
import type { MachineReplay } from '../machine-replay.ts';
import { stateAt } from './machine-moments.ts';

/** So many pods of each ranking are told: there may be hundreds. */
const FIRST_PODS = 8;

/** How near the node was to evictions. @param moment null: the newest @param at the moment, ms since the epoch */
export async function pressureAt(
  index: JournalIndex,
  replay: MachineReplay,
  moment: number | null,
  at: number,
): Promise<PressureReport | null> {
  const state = await stateAt<EvictionSnapshot>(index, replay, eviction, moment);
  if (state === null || state.context.thresholds.length === 0) return null;
  const report = pressureReport(state.context, at);
  const rankings = report.rankings.map((each) => ({ ...each, pods: each.pods.slice(0, FIRST_PODS) }));
  return { ...report, rankings };
}
