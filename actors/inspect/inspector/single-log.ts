import { NODE_UID } from '../../../machines/node/node-context.ts';
import { playMessage } from '../../record/journal/played-step.ts';
import type { RecordHead } from '../../record/journal/record-head.ts';
import type { AnyJournaled, Message } from '../../record/machines/journaled-machine.ts';
import type { NodeSnapshot } from '../../record/machines/node.ts';
import type { PodEntry } from './pod-entry.ts';
import { newEntry } from './pod-entry.ts';
import type { Place } from './step-table.ts';

/** A segment's beginning is read without what `snap` records add to it: that changes neither its name nor what the list shows. */
const ALONE = {
  settings: null,
  spec: () => undefined,
  podOf: () => {
    throw new Error('a place without its pods');
  },
};

/** A machine that there is one of, in the index: an entry like a pod's. */
export class SingleLog {
  readonly entry: PodEntry;
  private readonly machine: AnyJournaled;
  /** The node's machine goes along for the line that the list shows; null for others, and before it has begun. */
  private snapshot: NodeSnapshot | null = null;

  constructor(uid: string, machine: AnyJournaled, writer: string) {
    this.entry = newEntry(uid, writer);
    this.machine = machine;
    Object.assign(this.entry.line, { name: machine.name, source: 'machine', phase: '' });
  }

  /** An agent begins the log, or goes on with it in a new segment. @param numberOf of a state's name */
  open(head: Extract<RecordHead, { r: 'machine.segment' }>, place: Place, numberOf: (state: string) => number): void {
    const { entry, machine } = this;
    const { line, steps, bases } = entry;
    bases.push({ index: steps.end, settings: place, snap: place, rows: [] });
    const state = machine.revive(head.head, [], ALONE);
    line.state = machine.stateName(state);
    if (steps.first === steps.end) steps.before = numberOf(line.state);
    if (line.since === 0) line.since = head.at;
    if (line.startedAt === 0) line.startedAt = head.at;
    if (line.uid !== NODE_UID) return;
    Object.assign(line, { name: head.nodeName, source: 'node' });
    this.snapshot = state as NodeSnapshot;
    this.describe();
  }

  /** A piece of the place that the segment begins with. */
  row(place: Place): void {
    this.entry.bases.at(-1)?.rows?.push(place);
  }

  /** A message of it; one on which the machine throws changes nothing. */
  take(record: Buffer): void {
    if (this.snapshot === null) return;
    const { m } = JSON.parse(record.toString('utf8')) as { m: Message };
    const played = playMessage(this.machine, this.snapshot as unknown, m, null);
    this.snapshot = (played?.after ?? null) as NodeSnapshot | null;
    this.describe();
  }

  /** Segments are gone from disk; true when steps went with them. */
  drop(gone: (segment: number) => boolean): boolean {
    const { entry } = this;
    const fewer = entry.steps.dropFrom(gone);
    entry.bases = entry.bases.filter((b) => b.index >= entry.steps.first && !gone(b.settings.segment));
    return fewer;
  }

  private describe(): void {
    if (this.snapshot === null) return;
    const { line } = this.entry;
    line.why = this.machine.why(this.snapshot);
    line.phase = this.machine.stateName(this.snapshot).startsWith('ready') ? 'Ready' : 'NotReady';
    line.startedAt = this.snapshot.context.startedAt;
  }
}
