import { SINGLES } from '../../../record/machines/registry.ts';
import type { MachineMoment, NodeMoment } from '../inspector-api.ts';
import type { JournalIndex } from '../journal-index.ts';
import type { MachineReplay } from '../machine-replay.ts';
import type { PodEntry } from '../pod-entry.ts';
import { visibleSteps } from '../pod-entry.ts';
import { stepPage } from '../step-reader.ts';

/** So many of its last messages are told of a machine. */
const LAST = 3;

/** A machine that there is one of, as the overview shows it. @param moment ms since the epoch; null: the newest */
export async function machineMoment(
  index: JournalIndex,
  replay: MachineReplay,
  entry: PodEntry,
  moment: number | null,
): Promise<MachineMoment> {
  const { uid, name } = entry.line;
  const step = stepAt(entry, moment);
  const from = Math.max(entry.steps.first, step + 1 - LAST);
  const last = step < from ? [] : stepPage(index, entry, from, step + 1 - from).steps.reverse();
  return { uid, name, ...(await momentOf(index, replay, entry, step)), last };
}

/** Its state after a step, since when, and why. */
export async function momentOf(
  index: JournalIndex,
  replay: MachineReplay,
  entry: PodEntry,
  step: number,
): Promise<NodeMoment> {
  const { steps } = entry;
  const stateAfter = (i: number): string => index.states.name(steps.stateBefore(i + 1));
  const state = stateAfter(step);
  let entered = step;
  while (entered >= steps.first && stateAfter(entered - 1) === state) entered--;
  const known = entered >= steps.first;
  return {
    state,
    before: known ? stateAfter(entered - 1) : '',
    since: known ? steps.timeOf(entered) : Math.max(index.from, entry.line.startedAt),
    why: await whyAt(replay, entry, step),
  };
}

/** The last step until a moment (null: of all); one before the first that is left when there is none. */
export function stepAt(entry: PodEntry, moment: number | null): number {
  const newest = visibleSteps(entry) - 1;
  return moment === null ? newest : Math.min(newest, entry.steps.lastUntil(moment));
}

/** What a machine that there is one of remembered at a moment; null when that cannot be told (any more). @param moment ms since the epoch; null: the newest */
export async function stateAt<S>(
  index: JournalIndex,
  replay: MachineReplay,
  { name }: { readonly name: string },
  moment: number | null,
): Promise<S | null> {
  const entry = index.entry(`@${name}`);
  return entry === undefined ? null : ((await replay.singleAfter(entry, stepAt(entry, moment))) as S | null);
}

async function whyAt(replay: MachineReplay, entry: PodEntry, step: number): Promise<string> {
  const machine = SINGLES.get(entry.line.uid);
  const state = step < entry.steps.first ? null : await replay.singleAfter(entry, step);
  return machine === undefined || state === null ? '' : machine.why(state);
}
