import { explainPod } from '../../../machines/explain/explain-pod.ts';
import type { Explanation } from '../../../machines/explain/explanation.ts';
import { explainMachine } from '../../../machines/explain/machine-reasons.ts';
import type { NodePlace } from '../../../machines/explain/node-reasons.ts';
import { explainNode } from '../../../machines/explain/node-reasons.ts';
import { NODE_UID } from '../../../machines/node/node-context.ts';
import type { PodSnapshot } from '../../../machines/pod/pod-context.ts';
import type { PodMessage } from '../../../machines/protocol/messages.ts';
import type { Played } from '../../record/journal/played-step.ts';
import type { NodeSnapshot } from '../../record/machines/node.ts';
import { SINGLES } from '../../record/machines/registry.ts';
import { NodeTrail } from '../explain/node-trail.ts';
import { PodTrail } from '../explain/pod-trail.ts';
import type { Inspector } from './inspector.ts';
import { momentOf } from './node-overview/machine-moments.ts';
import type { PodEntry } from './pod-entry.ts';
import { visibleSteps } from './pod-entry.ts';

/** So many steps before the explained one are looked at; what failed earlier does not explain it any more. */
const MAX_PAST = 20_000;

/**
 * Why a pod was in its state after the step: what `actorlet explain --json` gives at that moment.
 * @returns null when the journal does not have what is needed (any more)
 */
export async function explainStep(inspector: Inspector, entry: PodEntry, index: number): Promise<Explanation | null> {
  const total = visibleSteps(entry);
  const row = entry.steps.row(index);
  if (row === undefined || index >= total) return null;
  if (entry.line.uid === NODE_UID) {
    const node = await nodeTrailTo(inspector, index);
    const now = inspector.source.mode === 'live' && index === total - 1 ? Date.now() : row.at;
    return node === null ? null : explainNode(node, now);
  }
  if (SINGLES.has(entry.line.uid)) {
    const { name, uid, startedAt } = entry.line;
    const at = await momentOf(inspector.index, inspector.replay, entry, index);
    return explainMachine({ ...at, name, uid, startedAt }, row.at);
  }
  const { bases } = entry;
  const base =
    bases.find((b) => b.index <= index && b.index >= index - MAX_PAST) ?? bases.findLast((b) => b.index <= index);
  if (base === undefined) return null;
  const trail = new PodTrail();
  const walked = await inspector.replay.walk(entry, base, index, {
    restored: (state, at) => trail.restore(state as PodSnapshot, at),
    stepped: (message, played) => trail.saw(message as PodMessage, played as Played<PodSnapshot, unknown>),
  });
  if (walked === null) return null;
  if (trail.place === null) return null;
  // The clock goes on for what is so now.
  const live = inspector.source.mode === 'live' && index === total - 1 && !entry.line.gone;
  const node = await nodeAt(inspector, row.at);
  return explainPod({ ...trail.place, now: live ? Date.now() : row.at, ...(node !== null && { node }) });
}

/** The node at a moment. */
async function nodeAt(inspector: Inspector, at: number): Promise<NodePlace | null> {
  const entry = inspector.entry(NODE_UID);
  if (entry === undefined) return null;
  let index = visibleSteps(entry) - 1;
  while (index >= entry.steps.first && (entry.steps.row(index)?.at ?? 0) > at) index--;
  return index < entry.steps.first ? null : nodeTrailTo(inspector, index);
}

async function nodeTrailTo(inspector: Inspector, index: number): Promise<NodePlace | null> {
  const entry = inspector.entry(NODE_UID);
  if (entry === undefined) return null;
  const base = entry.bases.findLast((b) => b.index <= index);
  if (base === undefined) return null;
  const trail = new NodeTrail();
  const walked = await inspector.replay.walk(entry, base, index, {
    restored: () => undefined,
    stepped: ({ at }, { after }) => trail.saw((after as NodeSnapshot).context, at),
  });
  return walked === null ? null : trail.place;
}
