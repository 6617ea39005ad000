import { setImmediate as turn } from 'node:timers/promises';
import type { PodContext, PodSnapshot } from '../../../machines/pod/pod-context.ts';
import { bornPod, restoredPod, stepPod } from '../../../machines/pod/pod-step.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { PodMessage, PodSource } from '../../../machines/protocol/messages.ts';
import type { NodeSettings } from '../../../machines/protocol/node-settings.ts';
import type { JournalIndex } from './journal-index.ts';
import type { Base, PodEntry } from './pod-entry.ts';
import { visibleSteps } from './pod-entry.ts';
import { isObject } from '../../../machines/protocol/json-object.ts';
import type { LineReading } from './segment-store.ts';
import type { Place } from './step-table.ts';
import { ReplayMarks } from './replay-marks.ts';
import { parsed } from './step-reader.ts';

/** Longest time that a replay holds up the thread. */
const SLICE_MS = 15;
/** Specs that are kept parsed. */
const KEPT_SPECS = 256;

/**
 * The machine's snapshot after any step, made by stepping the same machine over the recorded messages from the nearest
 * place that is known: a snapshot of the journal, or one that an earlier replay has kept.
 */
export class PodReplay {
  private readonly index: JournalIndex;
  private readonly marks = new ReplayMarks();
  private readonly specs = new Map<string, Pod>();
  private readonly settings = new Map<string, NodeSettings>();

  constructor(index: JournalIndex) {
    this.index = index;
  }

  /** The snapshot after the step; null when what is needed for it is not in the journal (any more). */
  async after(entry: PodEntry, index: number): Promise<PodSnapshot | null> {
    const { uid } = entry.line;
    const base = entry.bases.findLast((b) => b.index <= index);
    const mark = this.marks.nearest(uid, index);
    const fromMark =
      mark !== null && mark.index >= entry.steps.first && (base === undefined || mark.index >= base.index);
    if (!fromMark && base === undefined) return null;
    let at = fromMark ? mark.index + 1 : (base?.index ?? 0);
    let snapshot: PodSnapshot | null = fromMark ? mark.snapshot : null;
    const starts = new Map(entry.bases.map((b) => [b.index, b]));
    while (at <= index) {
      const reading = this.index.store.reading();
      const until = performance.now() + SLICE_MS;
      try {
        for (; at <= index && performance.now() < until; at++) {
          const start = starts.get(at);
          if (start?.snap !== undefined && snapshot === null) snapshot = this.restored(reading, start);
          snapshot = this.step(reading, entry, at, snapshot, start);
          if (snapshot === null) return null;
          this.marks.note(uid, at, snapshot, index);
        }
      } finally {
        reading.close();
      }
      if (at <= index) await turn();
    }
    return snapshot;
  }

  /** The newest snapshot; of a pod without a step since its segment began the one that stands there. */
  async newest(entry: PodEntry): Promise<PodSnapshot | null> {
    const total = visibleSteps(entry);
    if (total > entry.steps.first) return this.after(entry, total - 1);
    const base = entry.bases.at(-1);
    if (base?.snap === undefined) return null;
    const reading = this.index.store.reading();
    try {
      return this.restored(reading, base);
    } finally {
      reading.close();
    }
  }

  /** Replays a pod to its end, so that each of its steps is near a place that is known. */
  async warm(entry: PodEntry): Promise<void> {
    if (entry.steps.end > entry.steps.first) await this.after(entry, entry.steps.end - 1);
  }

  /** Forgets a pod. */
  forget(uid: string): void {
    this.marks.forget(uid);
  }

  private step(
    reading: LineReading,
    entry: PodEntry,
    at: number,
    snapshot: PodSnapshot | null,
    start: Base | undefined,
  ): PodSnapshot | null {
    const row = entry.steps.row(at);
    const message = row === undefined ? null : this.messageOf(reading, row.message);
    if (message === null) return null;
    let from = snapshot;
    if (message.type === 'pod.start') {
      const settings = start === undefined ? null : this.settingsOf(reading, start);
      if (settings === null) return null;
      from = bornPod({ pod: message.pod, source: message.source, settings });
    }
    if (from === null) return null;
    try {
      return stepPod(from, message).snapshot;
    } catch {
      // As in the agent: nothing has changed.
      return from;
    }
  }

  /** A recorded message with its pod put in; null when the record or the pod's spec is gone. */
  messageOf(reading: LineReading, place: Place): PodMessage | null {
    const raw = parsed(reading.line(place))?.['m'];
    if (!isObject(raw)) return null;
    const reference = raw['pod'];
    if (!isObject(reference)) return raw as unknown as PodMessage;
    const pod = this.specOf(reading, String(reference['$spec']));
    return pod === null ? null : ({ ...raw, pod } as unknown as PodMessage);
  }

  /** The snapshot that stands in a segment's beginning. */
  restored(reading: LineReading, base: Base): PodSnapshot | null {
    const record = base.snap === undefined ? null : parsed(reading.line(base.snap));
    const settings = this.settingsOf(reading, base);
    const pod = record === null ? null : this.specOf(reading, String(record['spec']));
    if (record === null || settings === null || pod === null || !isObject(record['context'])) return null;
    const source = record['source'] as PodSource;
    const context = { source, ...record['context'], pod, settings } as unknown as PodContext;
    return restoredPod(record['value'], context);
  }

  private specOf(reading: LineReading, id: string): Pod | null {
    const kept = this.specs.get(id);
    if (kept !== undefined) return kept;
    const place = this.index.specs.get(id);
    const record = place === undefined ? null : parsed(reading.line(place));
    if (record === null) return null;
    const pod = record['pod'] as Pod;
    this.specs.set(id, pod);
    if (this.specs.size > KEPT_SPECS) this.specs.delete(this.specs.keys().next().value ?? '');
    return pod;
  }

  /** The same settings are one object: each snapshot holds them. */
  settingsOf(reading: LineReading, { settings: place }: Base): NodeSettings | null {
    const settings = parsed(reading.line(place))?.['settings'];
    if (!isObject(settings)) return null;
    const text = JSON.stringify(settings);
    let kept = this.settings.get(text);
    if (kept === undefined) {
      kept = settings as unknown as NodeSettings;
      if (this.settings.size > 16) this.settings.clear();
      this.settings.set(text, kept);
    }
    return kept;
  }
}
