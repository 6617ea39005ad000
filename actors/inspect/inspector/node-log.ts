import { statePath } from '../../../machines/machine-step/step.ts';
import { NODE_UID } from '../../../machines/node/node-context.ts';
import type { NodeMessage } from '../../../machines/node/node-context.ts';
import { playMessage } from '../../record/journal/played-step.ts';
import type { RecordHead } from '../../record/journal/record-head.ts';
import type { NodeSnapshot } from '../../record/machines/node.ts';
import { node, restoredNode } from '../../record/machines/node.ts';
import type { PodEntry } from './pod-entry.ts';
import { newEntry } from './pod-entry.ts';
import type { Place } from './step-table.ts';

/** The node in the index: an entry like a pod's, and its machine, which goes along for the line that the list shows. */
export class NodeLog {
  /** Null while no log of the node was read. */
  entry: PodEntry | null = null;
  private snapshot: NodeSnapshot | null = null;

  /** An agent begins the log, or goes on with it in a new segment; returns the entry. */
  open(writer: string, head: Extract<RecordHead, { r: 'node.segment' }>, place: Place, state: number): PodEntry {
    const entry = (this.entry ??= newEntry(NODE_UID, writer));
    const { line, steps, bases } = entry;
    bases.push({ index: steps.end, settings: place, snap: place });
    this.snapshot = restoredNode(head.value, head.context);
    if (steps.first === steps.end) steps.before = state;
    Object.assign(line, { name: head.nodeName, source: 'node', state: statePath(head.value) });
    if (line.since === 0) line.since = head.at;
    this.describe(entry);
    return entry;
  }

  /** A message of it; one on which the machine throws changes nothing. */
  take(entry: PodEntry, record: Buffer): void {
    if (this.snapshot === null) return;
    const { m } = JSON.parse(record.toString('utf8')) as { m: NodeMessage };
    this.snapshot = playMessage(node, this.snapshot, m, null)?.after ?? null;
    this.describe(entry);
  }

  /** Segments are gone from disk; true when steps went with them. */
  drop(gone: (segment: number) => boolean): boolean {
    const { entry } = this;
    if (entry === null) return false;
    const fewer = entry.steps.dropFrom(gone);
    entry.bases = entry.bases.filter((b) => b.index >= entry.steps.first && !gone(b.settings.segment));
    return fewer;
  }

  private describe({ line }: PodEntry): void {
    if (this.snapshot === null) return;
    const { reasons, startedAt } = this.snapshot.context;
    line.why = reasons.join(', ');
    line.phase = statePath(this.snapshot.value).startsWith('ready') ? 'Ready' : 'NotReady';
    line.startedAt = startedAt;
  }
}
