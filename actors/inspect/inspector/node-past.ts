import { setImmediate as turn } from 'node:timers/promises';
import { statePath } from '../../../machines/machine-step/step.ts';
import type { NodeMessage } from '../../../machines/node/node-context.ts';
import type { NodeSnapshot } from '../../record/journal/node-replay.ts';
import { restoredNode, stepNode } from '../../record/journal/node-replay.ts';
import type { StepDetail } from './inspector-api.ts';
import type { JournalIndex } from './journal-index.ts';
import type { PodEntry } from './pod-entry.ts';
import { isObject } from '../../../machines/protocol/json-object.ts';
import { parsed } from './step-reader.ts';

/** Longest time that a replay holds up the thread. */
const SLICE_MS = 15;

/**
 * The node machine after the step, replayed from the beginning of its segment: its log is short. `seen` is told each
 * step on the way. Null when what is needed is not in the journal (any more).
 */
export async function nodeAfter(
  index: JournalIndex,
  entry: PodEntry,
  goal: number,
  seen?: (message: NodeMessage, snapshot: NodeSnapshot) => void,
): Promise<NodeSnapshot | null> {
  const base = entry.bases.findLast((b) => b.index <= goal) ?? (goal < 0 ? entry.bases[0] : undefined);
  if (base === undefined) return null;
  let snapshot: NodeSnapshot | null = null;
  for (let at = base.index; snapshot === null || at <= goal;) {
    const reading = index.store.reading();
    const until = performance.now() + SLICE_MS;
    try {
      if (snapshot === null) {
        const record = parsed(reading.line(base.settings));
        if (record === null || !isObject(record['context'])) return null;
        snapshot = restoredNode(record['value'], record['context']);
      }
      for (; at <= goal && performance.now() < until; at++) {
        const row = entry.steps.row(at);
        const message = row === undefined ? null : parsed(reading.line(row.message))?.['m'];
        if (!isObject(message)) return null;
        snapshot = afterStep(snapshot, message as unknown as NodeMessage);
        seen?.(message as unknown as NodeMessage, snapshot);
      }
    } finally {
      reading.close();
    }
    if (at <= goal) await turn();
  }
  return snapshot;
}

/** As in the agent: a message on which the machine throws changes nothing. */
function afterStep(snapshot: NodeSnapshot, message: NodeMessage): NodeSnapshot {
  try {
    return stepNode(snapshot, message).snapshot;
  } catch {
    return snapshot;
  }
}

/** What the page shows of the node at a moment; its status is what the Ready condition says. */
export function shownNode({
  value,
  context,
}: NodeSnapshot): Pick<StepDetail, 'machines' | 'spec' | 'status' | 'context'> {
  const { nodeName, agent, cluster, reasons } = context;
  const state = statePath(value);
  const ready =
    reasons.length === 0 && !state.startsWith('starting')
      ? { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' }
      : { type: 'Ready', status: 'False', reason: 'KubeletNotReady', message: reasons.join(', ') };
  return {
    machines: { pod: state, containers: {}, probes: {}, volumes: {} },
    spec: { nodeName, agent, cluster },
    status: { conditions: [ready] },
    context,
  };
}
