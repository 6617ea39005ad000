import type { PodStatus } from '../../../machines/protocol/api-types.ts';
import { statePath } from '../../../machines/machine-step/step.ts';
import { FleetHistory } from './node-overview/fleet-history.ts';
import type { PodEntry } from './pod-entry.ts';
import { newEntry, takeStatus, visibleSteps } from './pod-entry.ts';
import type { HeadEffect, RecordHead } from '../../record/journal/record-head.ts';
import { isObject } from '../../../machines/values/json-object.ts';
import { recordHead } from '../../record/journal/record-head.ts';
import type { SegmentStore } from './segment-store.ts';
import { SINGLES } from '../../record/machines/registry.ts';
import { SingleLog } from './single-log.ts';
import { SpecPlaces } from './spec-places.ts';
import type { Place } from './step-table.ts';
import { StateNames } from './step-table.ts';

/** Names of the logs of single machines. */
const LOGS: ReadonlySet<string> = new Set([...SINGLES.values()].map(({ name }) => name));

/** What is known of one log (`shard-00`) at the line that is read. */
interface Writer {
  settings: Place | null;
  /** When its segment at hand began. */
  began: number;
  /** Pods that the segment at hand carries on; null once its first message was read. */
  carried: Set<string> | null;
}

/**
 * All pods of a journal and where each of their steps stands. Lines are handed in in the order of their log; what they
 * say stays on disk, but for the state and the pod's line in the list.
 */
export class JournalIndex {
  readonly store: SegmentStore;
  readonly states = new StateNames();
  readonly pods = new Map<string, PodEntry>();
  /** What all pods did over time. */
  readonly fleet = new FleetHistory();
  private readonly singles = new Map<string, SingleLog>();
  readonly specs = new SpecPlaces();
  /** Those that single machines refer to: their logs are kept for another time than the pods'. */
  readonly singleSpecs = new SpecPlaces();
  /** Pods of which something has changed since {@link takeChanged} was last called. */
  private changed = new Set<string>();
  private lost: string[] = [];
  private readonly writers = new Map<string, Writer>();
  /** Counts what changes, for answers that are kept. */
  version = 0;
  nodeName = '';
  agent = '';
  from = 0;
  to = 0;

  constructor(store: SegmentStore) {
    this.store = store;
  }

  /**
   * Takes one line of the log `name`.
   * @throws Error when the line is no journal record; nothing has changed then
   */
  take(name: string, segment: number, line: Buffer, offset: number): void {
    const head = recordHead(line);
    const place: Place = { segment, offset, bytes: line.length };
    const writer = this.writer(name);
    switch (head.r) {
      case 'segment':
        this.openSegment(name, writer, head, place);
        break;
      case 'spec':
        (LOGS.has(name) ? this.singleSpecs : this.specs).take(head.id, line, place);
        break;
      case 'snap':
        writer.carried?.add(head.uid);
        this.takeSnap(name, writer, head.uid, line, place);
        break;
      case 'msg':
        this.endOpening(name, writer);
        this.takeMessage(name, writer, head, line, place);
        break;
      case 'step':
        this.takeStep(head, place);
        break;
      case 'fault':
        this.takeFault(head, place);
        break;
      case 'machine.segment':
        this.openSingle(name, head, place);
        break;
      case 'machine.snap':
        this.singles.get(head.uid)?.row(place);
        break;
      case 'other':
        break;
    }
  }

  /** The pod of this UID, or the machine that goes by it. */
  entry(uid: string): PodEntry | undefined {
    return SINGLES.has(uid) ? this.singles.get(uid)?.entry : this.pods.get(uid);
  }

  /** The machines that there is one of, the node too, as far as the journals have logs of them. */
  singleEntries(): PodEntry[] {
    return [...SINGLES.keys()].flatMap((uid) => this.singles.get(uid)?.entry ?? []);
  }

  /** The pods that have changed since the last call. */
  takeChanged(): Set<string> {
    const { changed } = this;
    this.changed = new Set();
    return changed;
  }

  /** The pods of which nothing is left, since the last call. */
  takeLost(): string[] {
    const { lost } = this;
    this.lost = [];
    return lost;
  }

  /** All lines are read and none will come: what waits for its outcome will not get one. */
  noMore(): void {
    for (const entry of this.pods.values()) this.settlePending(entry);
    for (const entry of this.singleEntries()) this.settlePending(entry);
  }

  /** Segments are gone from disk: drops what stood in them. */
  drop(segments: readonly number[]): void {
    for (const segment of segments) this.store.drop(segment);
    const gone = (segment: number) => this.store.isDropped(segment);
    this.specs.drop(gone);
    this.singleSpecs.drop(gone);
    for (const [uid, entry] of this.pods) {
      const fewer = entry.steps.dropFrom(gone);
      entry.bases = entry.bases.filter((b) => b.index >= entry.steps.first && !gone((b.snap ?? b.settings).segment));
      if (entry.line.gone && entry.steps.first === entry.steps.end) {
        this.pods.delete(uid);
        this.changed.delete(uid);
        this.lost.push(uid);
      } else if (fewer) this.touch(uid);
    }
    for (const [uid, log] of this.singles) if (log.drop(gone)) this.touch(uid);
    this.from = this.oldest();
    this.fleet.forgetBefore(this.from);
    this.version++;
  }

  /** The oldest moment of which a step is left. */
  private oldest(): number {
    let oldest = this.to;
    for (const { steps } of [...this.pods.values(), ...this.singleEntries()])
      if (steps.first < steps.end) oldest = Math.min(oldest, steps.timeOf(steps.first));
    return oldest;
  }

  private writer(name: string): Writer {
    let writer = this.writers.get(name);
    if (writer === undefined) {
      writer = { settings: null, began: 0, carried: null };
      this.writers.set(name, writer);
    }
    return writer;
  }

  private openSegment(name: string, writer: Writer, head: Extract<RecordHead, { r: 'segment' }>, place: Place): void {
    this.endOpening(name, writer);
    writer.settings = place;
    writer.began = head.at;
    writer.carried = new Set();
    this.agent = head.agent;
    if (isObject(head.settings) && typeof head.settings['nodeName'] === 'string')
      this.nodeName = head.settings['nodeName'];
    this.seenAt(head.at);
  }

  /** A pod of this log that the new segment does not carry on has no actor any more, until it is started again. */
  private endOpening(name: string, writer: Writer): void {
    const { carried } = writer;
    if (carried === null) return;
    writer.carried = null;
    for (const [uid, entry] of this.pods) {
      if (entry.writer !== name || carried.has(uid)) continue;
      this.settlePending(entry);
      if (entry.line.gone) continue;
      entry.line.gone = true;
      this.fleet.place(entry, writer.began);
      this.touch(uid);
    }
  }

  private takeSnap(name: string, writer: Writer, uid: string, line: Buffer, place: Place): void {
    if (writer.settings === null) return;
    let entry = this.pods.get(uid);
    const known = entry !== undefined && entry.writer === name && !entry.line.gone && entry.steps.end > 0;
    entry ??= this.add(uid, name);
    entry.writer = name;
    entry.bases.push({ index: entry.steps.end, settings: writer.settings, snap: place });
    // Of a pod that is followed already it says nothing new.
    if (known) return;
    const { spec, source, value, context } = JSON.parse(line.toString('utf8')) as SnapRecord;
    const state = statePath(value);
    entry.asked.clear();
    if (entry.steps.first === entry.steps.end) entry.steps.before = this.states.number(state);
    Object.assign(entry.line, {
      source,
      state,
      why: context.why ?? '',
      gone: false,
      startedAt: context.startedAt ?? 0,
    });
    if (entry.line.since === 0) entry.line.since = writer.began;
    if (entry.seenAt === 0) entry.seenAt = writer.began;
    this.fleet.place(entry, writer.began);
    this.describe(entry, spec);
    takeStatus(entry.line, context.status);
    this.touch(uid);
  }

  private openSingle(name: string, head: Extract<RecordHead, { r: 'machine.segment' }>, place: Place): void {
    const { uid } = head;
    const machine = SINGLES.get(uid);
    if (machine === undefined) return;
    const log = this.singles.get(uid) ?? new SingleLog(uid, machine, name);
    this.settlePending(log.entry);
    log.open(head, place, (state) => this.states.number(state));
    this.singles.set(uid, log);
    this.nodeName ||= head.nodeName;
    this.agent ||= head.agent;
    this.seenAt(head.at);
    this.touch(uid);
  }

  private takeMessage(
    name: string,
    writer: Writer,
    head: Extract<RecordHead, { r: 'msg' }>,
    line: Buffer,
    place: Place,
  ): void {
    const { uid, at, type } = head;
    let entry = this.entry(uid);
    const start = type === 'pod.start' && writer.settings !== null;
    // Without its beginning there is nothing to step: a damaged file, or one of which the first part is missing.
    if (entry === undefined && !start) return;
    this.singles.get(uid)?.take(line);
    entry ??= this.add(uid, name);
    entry.writer = name;
    const index = entry.steps.append(at, place);
    entry.pending.set(head.n, { step: index, key: head.key, failed: head.failed });
    if (entry.seenAt === 0) entry.seenAt = at;
    this.seenAt(at);
    if (start && writer.settings !== null) {
      this.settlePending(entry, index);
      entry.asked.clear();
      entry.bases.push({ index, settings: writer.settings });
      entry.line.gone = false;
      entry.line.startedAt = at;
    }
    if (type === 'pod.start' || type === 'pod.update') {
      const { m } = JSON.parse(line.toString('utf8')) as { m: { source?: string; pod?: { $spec?: string } } };
      if (m.source !== undefined) entry.line.source = m.source;
      this.describe(entry, m.pod?.$spec ?? '');
    }
  }

  private takeStep({ n, uid, state, effects }: Extract<RecordHead, { r: 'step' }>, place: Place): void {
    const entry = this.entry(uid);
    const pending = entry?.pending.get(n);
    if (entry === undefined || pending === undefined) return;
    const index = pending.step;
    entry.pending.delete(n);
    this.answer(entry, pending);
    entry.steps.settle(index, place, this.states.number(state));
    const { line } = entry;
    if (line.state !== state) {
      line.state = state;
      line.since = entry.steps.row(index)?.at ?? line.since;
    }
    effects.forEach((effect, position) => this.takeEffect(entry, index, effect, position));
    if (!SINGLES.has(uid)) this.fleet.place(entry, entry.steps.timeOf(index));
    this.touch(uid);
  }

  /** Only now: messages of a turn stand before the outcomes of all of them. */
  private answer(entry: PodEntry, { step, key, failed }: { step: number; key: string; failed: boolean }): void {
    const asked = key === '' ? undefined : entry.asked.get(key);
    if (asked === undefined) return;
    const { type, step: issuer, position } = asked;
    entry.asked.delete(key);
    entry.steps.answers(step, issuer, position);
    const { uid } = entry.line;
    const at = entry.steps.timeOf(issuer);
    // The step that asked may be gone from disk.
    if (at > 0)
      this.fleet.call({ uid, type, key, asked: issuer, answered: step, at, ms: entry.steps.timeOf(step) - at, failed });
  }

  private takeEffect(entry: PodEntry, step: number, { type, key, params }: HeadEffect, position: number): void {
    if (key !== '') entry.asked.set(key, { step, position, type });
    if (type === 'pod.Finished') entry.line.gone = true;
    if (type !== 'status.Publish') return;
    entry.line.why = typeof params['why'] === 'string' ? params['why'] : '';
    takeStatus(entry.line, params['status'] as PodStatus | undefined);
  }

  private takeFault({ n, uid }: Extract<RecordHead, { r: 'fault' }>, place: Place): void {
    const entry = this.entry(uid);
    const pending = entry?.pending.get(n);
    if (entry === undefined || pending === undefined) return;
    entry.pending.delete(n);
    this.answer(entry, pending);
    entry.steps.settle(pending.step, place, null);
    this.touch(uid);
  }

  /** Messages before `until` that wait for their outcome will not get one: the agent was ended. */
  private settlePending(entry: PodEntry, until = Infinity): void {
    if (entry.pending.size === 0) return;
    for (const [n, { step }] of entry.pending) if (step < until) entry.pending.delete(n);
    this.touch(entry.line.uid);
  }

  private add(uid: string, writer: string): PodEntry {
    const entry = newEntry(uid, writer);
    this.pods.set(uid, entry);
    return entry;
  }

  private describe({ line }: PodEntry, spec: string): void {
    const facts = this.specs.get(spec);
    if (facts === undefined) return;
    const { namespace, name, containers } = facts;
    Object.assign(line, { namespace, name, containers });
  }

  private touch(uid: string): void {
    const entry = this.entry(uid);
    if (entry !== undefined) entry.line.steps = visibleSteps(entry);
    this.changed.add(uid);
    this.version++;
  }

  private seenAt(at: number): void {
    if (this.from === 0 || at < this.from) this.from = at;
    if (at > this.to) this.to = at;
  }
}

interface SnapRecord {
  spec: string;
  source: string;
  value: unknown;
  context: { why?: string; startedAt?: number; status?: PodStatus | null };
}
