import { isWaiting } from '../../../../machines/charts/state-tone.ts';
import type { WaitingPod } from '../inspector-api.ts';
import type { PodEntry } from '../pod-entry.ts';
import { visibleSteps } from '../pod-entry.ts';
import type { StateNames } from '../step-table.ts';

/** Most pods that are named. */
export const MOST_WAITING = 12;

interface Wait {
  entry: PodEntry;
  state: string;
  since: number;
  step: number;
}

/**
 * The pods that are not where they should be at a moment, those first that have been so for longest. A pod that goes from
 * one such state to the next (it is pulled, backs off, is pulled again) has waited all that time.
 * @param moment null: the newest
 */
export function waitingPods(
  entries: Iterable<PodEntry>,
  names: StateNames,
  moment: number | null,
): { total: number; pods: WaitingPod[] } {
  const waits: Wait[] = [];
  for (const entry of entries) {
    if (entry.line.name === '') continue;
    const wait = moment === null ? waitNow(entry) : waitAt(entry, names, moment);
    if (wait !== null) waits.push(wait);
  }
  waits.sort((a, b) => a.since - b.since || (a.entry.line.uid < b.entry.line.uid ? -1 : 1));
  const pods = waits.slice(0, MOST_WAITING).map(({ entry, state, since, step }) => {
    const { uid, namespace, name, why } = entry.line;
    return { uid, namespace, name, state, since, step, why: moment === null ? why : '' };
  });
  return { total: waits.length, pods };
}

function waitNow(entry: PodEntry): Wait | null {
  const { line, steps, waitingSince } = entry;
  if (line.gone || waitingSince === 0) return null;
  const last = visibleSteps(entry) - 1;
  return { entry, state: line.state, since: waitingSince, step: last < steps.first ? -1 : last };
}

function waitAt(entry: PodEntry, names: StateNames, moment: number): Wait | null {
  const { steps, seenAt, goneAt } = entry;
  if (moment < seenAt || (goneAt > 0 && moment >= goneAt)) return null;
  const step = steps.lastUntil(moment);
  const stateAfter = (index: number): string => names.name(steps.stateBefore(index + 1));
  const state = stateAfter(step);
  if (state === '' || !isWaiting(state)) return null;
  // How long it waits: states, not lines, are looked at, so even a long history takes no time.
  let began = step;
  while (began >= steps.first && isWaiting(stateAfter(began - 1))) began--;
  const since = began < steps.first ? seenAt : steps.timeOf(began);
  return { entry, state, since: Math.max(since, seenAt), step: step < steps.first ? -1 : step };
}
