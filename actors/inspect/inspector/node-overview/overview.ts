import { NODE_UID } from '../../../../machines/node/node-context.ts';
import type { MachineMoment, Overview, SlowCall } from '../inspector-api.ts';
import type { JournalIndex } from '../journal-index.ts';
import type { MachineReplay } from '../machine-replay.ts';
import { effectLane, subjectOf } from '../step-words.ts';
import { machineMoment, momentOf, stepAt } from './machine-moments.ts';
import { byLength, keepSlow } from './slow-calls.ts';
import type { Call } from './slow-calls.ts';
import { pressureAt } from './pressure-at.ts';
import { resourcesAt } from './resources-at.ts';
import { waitingPods } from './waiting-pods.ts';

/**
 * The node with its pods at a moment.
 * @param asked ms since the epoch; null: the newest
 * @param now the clock of a running agent; null for files, where time stands at their end
 */
export async function overviewOf(
  index: JournalIndex,
  replay: MachineReplay,
  asked: number | null,
  now: number | null,
): Promise<Overview> {
  const { fleet } = index;
  const to = Math.max(index.to, now ?? 0);
  // Nothing was read yet.
  const from = index.from === 0 ? to : index.from;
  const at = asked === null ? to : Math.min(Math.max(asked, from), to);
  const moment = asked === null ? null : at;
  const node = index.entry(NODE_UID) ?? null;
  const machines: MachineMoment[] = [];
  for (const entry of index.singleEntries())
    if (entry !== node) machines.push(await machineMoment(index, replay, entry, moment));
  return {
    ...{ at, from, to },
    node: node === null ? null : await momentOf(index, replay, node, stepAt(node, moment)),
    machines,
    history: fleet.states(from, to),
    waiting: waitingPods(index.pods.values(), index.states, moment),
    calls: slowCalls(index, from, to, at),
    pressure: await pressureAt(index, replay, moment, at),
    resources: await resourcesAt(index, replay, moment),
  };
}

/** Those that were answered, those that were under way at the moment, and those that have no answer to this day. */
function slowCalls(index: JournalIndex, from: number, to: number, at: number): SlowCall[] {
  const { answered, underWay } = index.fleet.calls(from, to, at);
  const all: { call: Call; open: boolean }[] = answered.map((call) => ({ call, open: false }));
  const open: Call[] = [];
  for (const call of underWay) keepSlow(open, { ...call, ms: at - call.at });
  for (const entry of index.pods.values()) {
    if (entry.line.gone) continue;
    for (const [key, { step, type }] of entry.asked) {
      const since = entry.steps.timeOf(step);
      if (since === 0 || since > at) continue;
      const { uid } = entry.line;
      keepSlow(open, { uid, type, key, asked: step, answered: -1, at: since, ms: at - since, failed: false });
    }
  }
  all.push(...open.map((call) => ({ call, open: true })));
  return all
    .sort((a, b) => byLength(a.call, b.call))
    .flatMap(({ call, open: still }) => shownCall(index, call, still) ?? [])
    .slice(0, SHOWN_CALLS);
}

/** Most calls that are told. */
const SHOWN_CALLS = 10;

/** Null when its steps are not in the journal any more. */
function shownCall(index: JournalIndex, call: Call, open: boolean): SlowCall | null {
  const entry = index.entry(call.uid);
  if (entry === undefined || call.asked < entry.steps.first) return null;
  const { uid, namespace, name } = entry.line;
  return {
    ...{ uid, namespace, name, type: call.type, to: effectLane(call.type) },
    // What is done for the whole pod says so by its type.
    subject: call.key.startsWith('task/') ? '' : subjectOf(call.key),
    ...{ step: open ? call.asked : call.answered, at: call.at, ms: call.ms },
    outcome: open ? 'underWay' : call.failed ? 'failed' : 'done',
  };
}
