import { setImmediate as turn } from 'node:timers/promises';
import type { PodSnapshot } from '../../../machines/pod/pod-context.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { isObject } from '../../../machines/values/json-object.ts';
import type { NodeSettings } from '../../../machines/protocol/node-settings.ts';
import type { Played } from '../../record/journal/played-step.ts';
import { playMessage } from '../../record/journal/played-step.ts';
import { recordOf } from '../../record/journal/records.ts';
import type { AnyJournaled, Message, Surroundings } from '../../record/machines/journaled-machine.ts';
import type { NodeSnapshot } from '../../record/machines/node.ts';
import { pods } from '../../record/machines/pods.ts';
import { SINGLES } from '../../record/machines/registry.ts';
import type { JournalIndex } from './journal-index.ts';
import type { Base, PodEntry } from './pod-entry.ts';
import { visibleSteps } from './pod-entry.ts';
import { ReplayMarks } from './replay-marks.ts';
import type { LineReading } from './segment-store.ts';
import { parsed } from './step-reader.ts';

/** Longest time that a replay holds up the thread. */
const SLICE_MS = 15;
/** Specs that are kept parsed. */
const KEPT_SPECS = 256;

/** Who looks on while a machine is stepped. */
export interface Onlooker {
  /** Its place at the beginning of a segment, before the step at this time. */
  restored: (state: unknown, at: number) => void;
  stepped: (message: Message, played: Played<unknown, unknown>) => void;
}

/**
 * A machine's state after any step, made by stepping the same machine over the recorded messages from the nearest
 * place that is known: one of the journal, or one that an earlier replay has kept.
 */
export class MachineReplay {
  private readonly index: JournalIndex;
  private readonly marks = new ReplayMarks();
  private readonly specs = new Map<string, Pod>();
  private readonly settings = new Map<string, NodeSettings>();

  constructor(index: JournalIndex) {
    this.index = index;
  }

  /** A pod's snapshot after the step; null when what is needed for it is not in the journal (any more). */
  async podAfter(entry: PodEntry, index: number): Promise<PodSnapshot | null> {
    return (await this.after(entry, index)) as PodSnapshot | null;
  }

  /** The node's. @param index -1: before the first step */
  async nodeAfter(entry: PodEntry, index: number): Promise<NodeSnapshot | null> {
    return (await this.singleAfter(entry, index)) as NodeSnapshot | null;
  }

  /** A single machine's state. @param index -1: before the first step */
  async singleAfter(entry: PodEntry, index: number): Promise<unknown> {
    const [first] = entry.bases;
    if (index >= 0 || first === undefined) return this.after(entry, index);
    return this.reading((reading) => this.restored(reading, machineOf(entry), first));
  }

  /** A pod's newest snapshot; of one without a step since its segment began the one that stands there. */
  async newestPod(entry: PodEntry): Promise<PodSnapshot | null> {
    const total = visibleSteps(entry);
    if (total > entry.steps.first) return this.podAfter(entry, total - 1);
    const base = entry.bases.at(-1);
    return base === undefined
      ? null
      : (this.reading((reading) => this.restored(reading, pods, base)) as PodSnapshot | null);
  }

  /** Replays a pod to its end, so that each of its steps is near a place that is known. */
  async warm(entry: PodEntry): Promise<void> {
    if (entry.steps.end > entry.steps.first) await this.after(entry, entry.steps.end - 1);
  }

  /** Forgets a pod. */
  forget(uid: string): void {
    this.marks.forget(uid);
  }

  /** Steps a machine from a base to the step `to`, or `null` when something of it is gone. */
  async walk(entry: PodEntry, from: Base, to: number, onlooker: Onlooker): Promise<unknown> {
    return this.steps(entry, from.index, null, to, onlooker);
  }

  private async after(entry: PodEntry, index: number): Promise<unknown> {
    const base = entry.bases.findLast((b) => b.index <= index);
    const mark = this.marks.nearest(entry.line.uid, index);
    if (mark !== null && mark.index >= entry.steps.first && (base === undefined || mark.index >= base.index))
      return this.steps(entry, mark.index + 1, mark.state, index);
    return base === undefined ? null : this.steps(entry, base.index, null, index);
  }

  private async steps(
    entry: PodEntry,
    from: number,
    known: unknown,
    to: number,
    onlooker?: Onlooker,
  ): Promise<unknown> {
    const { uid } = entry.line;
    const machine = machineOf(entry);
    const starts = new Map(entry.bases.map((b) => [b.index, b]));
    let state = known;
    for (let at = from; at <= to;) {
      const until = performance.now() + SLICE_MS;
      const whole = this.reading((reading) => {
        for (; at <= to && performance.now() < until; at++) {
          const row = entry.steps.row(at);
          const base = starts.get(at);
          if (row === undefined) return false;
          const around = this.around(reading, base);
          if (base?.snap !== undefined) {
            state = this.restored(reading, machine, base);
            if (state === null) return false;
            onlooker?.restored(state, row.at);
          }
          const message = messageOf(machine, parsed(reading.line(row.message)), around);
          const played = message === null ? null : playMessage(machine, state, message, around.settings);
          if (message === null || played === null) return false;
          state = played.after;
          onlooker?.stepped(message, played);
          this.marks.note(uid, at, state, to);
        }
        return true;
      });
      if (!whole) return null;
      if (at <= to) await turn();
    }
    return state;
  }

  private reading<T>(read: (reading: LineReading) => T): T {
    const reading = this.index.store.reading();
    try {
      return read(reading);
    } finally {
      reading.close();
    }
  }

  /** The place that stands in a segment's beginning. */
  private restored(reading: LineReading, machine: AnyJournaled, base: Base): unknown {
    const raw = base.snap === undefined ? null : parsed(reading.line(base.snap));
    if (raw === null) return null;
    const around = this.around(reading, base);
    return orNull(() => {
      const record = recordOf(raw);
      if (record.t === 'segment') return machine.revive(record.head, this.rows(reading, base), around);
      return record.t === 'snap' ? machine.revive({}, [record.row], around) : null;
    });
  }

  /** The further pieces of a single machine's place. Throws when one is gone. */
  private rows(reading: LineReading, { rows = [] }: Base): object[] {
    return rows.map((place) => {
      const row = parsed(reading.line(place));
      if (row === null) throw new Error('a piece of the place is not there');
      return row;
    });
  }

  private around(reading: LineReading, base: Base | undefined): Surroundings {
    const spec = (id: string): Pod | undefined => this.specOf(reading, id);
    const podOf = ({ $spec: id }: { $spec: string }): Pod => {
      const pod = spec(id);
      if (pod === undefined) throw new Error(`the spec ${id} is not there`);
      return pod;
    };
    return { settings: base === undefined ? null : this.settingsOf(reading, base), spec, podOf };
  }

  private specOf(reading: LineReading, id: string): Pod | undefined {
    const kept = this.specs.get(id);
    if (kept !== undefined) return kept;
    const place = this.index.specs.get(id) ?? this.index.singleSpecs.get(id);
    const record = place === undefined ? null : parsed(reading.line(place));
    if (record === null) return undefined;
    const pod = record['pod'] as Pod;
    this.specs.set(id, pod);
    if (this.specs.size > KEPT_SPECS) this.specs.delete(this.specs.keys().next().value ?? '');
    return pod;
  }

  /** The same settings are one object: each snapshot holds them. */
  private settingsOf(reading: LineReading, { settings: place }: Base): NodeSettings | null {
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

/** The machine whose steps these are. */
function machineOf({ line }: PodEntry): AnyJournaled {
  return SINGLES.get(line.uid) ?? pods;
}

/** A recorded message with its pod put in; null when the record or the pod's spec is gone. */
function messageOf(machine: AnyJournaled, raw: Record<string, unknown> | null, around: Surroundings): Message | null {
  const m = raw?.['m'];
  return isObject(m) ? orNull(() => machine.unpackMessage(m as unknown as Message, around)) : null;
}

/** What cannot be read is not there. */
function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
