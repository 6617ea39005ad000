import { setImmediate as turn } from 'node:timers/promises';
import { explainPod } from '../../../machines/explain/explain-pod.ts';
import type { Explanation } from '../../../machines/explain/explanation.ts';
import type { NodePlace } from '../../../machines/explain/node-reasons.ts';
import { explainNode } from '../../../machines/explain/node-reasons.ts';
import { NODE_UID } from '../../../machines/node/node-context.ts';
import { PodTrail } from '../explain/pod-trail.ts';
import type { Inspector } from './inspector.ts';
import { nodeAfter } from './node-past.ts';
import type { Base, PodEntry } from './pod-entry.ts';
import { visibleSteps } from './pod-entry.ts';
import type { LineReading } from './segment-store.ts';

/** So many steps before the explained one are looked at; what failed earlier does not explain it any more. */
const MAX_PAST = 20_000;
const SLICE_MS = 15;

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
  const { bases } = entry;
  const base =
    bases.find((b) => b.index <= index && b.index >= index - MAX_PAST) ?? bases.findLast((b) => b.index <= index);
  if (base === undefined) return null;
  const trail = new PodTrail();
  const starts = new Map(bases.map((b) => [b.index, b]));
  for (let at = base.index; at <= index;) {
    const reading = inspector.index.store.reading();
    const until = performance.now() + SLICE_MS;
    try {
      for (; at <= index && performance.now() < until; at++)
        if (!take(inspector, reading, entry, at, trail, starts.get(at))) return null;
    } finally {
      reading.close();
    }
    if (at <= index) await turn();
  }
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
  const places: NodePlace[] = [];
  await nodeAfter(inspector.index, entry, index, ({ at }, { context }) => {
    const before = places.pop();
    places.push({ context, since: before !== undefined && before.context.focus === context.focus ? before.since : at });
  });
  return places[0] ?? null;
}

function take(
  { replay }: Inspector,
  reading: LineReading,
  entry: PodEntry,
  at: number,
  trail: PodTrail,
  base: Base | undefined,
): boolean {
  const row = entry.steps.row(at);
  const message = row === undefined ? null : replay.messageOf(reading, row.message);
  if (row === undefined || message === null) return false;
  if (base?.snap !== undefined) {
    const snapshot = replay.restored(reading, base);
    if (snapshot === null) return false;
    const { pod, settings, ...context } = snapshot.context;
    trail.restore(snapshot.value, context, pod, settings, row.at);
  }
  trail.take(message, base === undefined ? null : replay.settingsOf(reading, base));
  return true;
}
