import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { NodeSettings } from '../../../machines/protocol/node-settings.ts';
import type { AnyJournaled, SpecReference, Surroundings } from '../machines/journaled-machine.ts';
import { JOURNALED } from '../machines/registry.ts';
import type { Outcome } from './difference.ts';
import { OpenSteps } from './open-steps.ts';
import type { PlayedStep } from './played-step.ts';
import { THREW, playMessage } from './played-step.ts';
import type { JournalRecord } from './records.ts';
import { isStepText, kindOf } from './records.ts';
import { specIdOf } from './spec-book.ts';

/** A record of one machine. */
type RecordOf<T extends JournalRecord['t']> = Extract<JournalRecord, { t: T }>;

/** The machines of one declaration on their way. */
interface Lane {
  machine: AnyJournaled;
  /** Start of its outcomes' lines. */
  stepStart: string;
  states: Map<string, unknown>;
  open: OpenSteps;
  /** Of a single machine: the beginning of its segment, as long as pieces of its place may come. */
  beginning: { head: object; rows: object[] } | null;
}

/** What is played back. */
export interface PlaybackOptions {
  /** All that there are, unless others are named. */
  machines?: readonly AnyJournaled[];
  /** Is asked at each beginning; machines that it says no of are not stepped. */
  follows: (machine: AnyJournaled, key: string, state: unknown) => boolean;
  /** Recorded outcomes will be told, too: steps are kept until then. True unless given. */
  outcomes?: boolean;
}

const refer = (pod: Pod): SpecReference => ({ $spec: specIdOf(pod) });

/**
 * Steps machines over the records of a journal, one after the other, as the agent stepped them: `replay`, `explain` and
 * `--export` go by what it gives. Records of one log must come in their order.
 */
export class Playback {
  private readonly lanes: readonly Lane[];
  private readonly specs = new Map<string, Pod>();
  private readonly follows: PlaybackOptions['follows'];
  private readonly outcomes: boolean;
  private readonly around: Surroundings & { settings: NodeSettings | null };

  constructor({ machines = JOURNALED, follows, outcomes = true }: PlaybackOptions) {
    this.follows = follows;
    this.outcomes = outcomes;
    this.lanes = machines.map((machine) => ({
      machine,
      stepStart: `{"r":"${kindOf(machine, 'step')}"`,
      ...{ states: new Map(), open: new OpenSteps(), beginning: null },
    }));
    const spec = (id: string): Pod | undefined => this.specs.get(id);
    const podOf = ({ $spec: id }: SpecReference): Pod => {
      const pod = spec(id);
      if (pod === undefined) throw new Error(`the spec ${id} was not written before`);
      return pod;
    };
    this.around = { settings: null, spec, podOf };
  }

  /** What the segment at hand says of the node. */
  get settings(): NodeSettings | null {
    return this.around.settings;
  }

  /** Messages that wait for their outcome. */
  get unanswered(): number {
    return this.lanes.reduce((sum, { open }) => sum + open.size, 0);
  }

  /** Where a machine is; undefined when it is not followed. */
  stateOf(machine: AnyJournaled, key: string): unknown {
    return this.laneOf(machine).states.get(key);
  }

  /** Takes in a record that says where machines are, or what messages refer to; others are left alone. Throws when it is damaged. */
  begin(record: JournalRecord): void {
    if (record.t === 'segment') this.beginSegment(record);
    else if (record.t === 'spec') this.specs.set(record.id, record.pod);
    else if (record.t === 'snap') this.restore(record);
  }

  /** Does a message again; null when its machine is not followed. Throws when what it refers to is missing. */
  message({ machine, n, key, raw }: RecordOf<'msg'>): PlayedStep | null {
    const lane = this.laneOf(machine);
    if (lane.beginning !== null) this.endBeginning(lane, lane.beginning);
    const message = machine.unpackMessage(raw, this.around);
    const played = playMessage(machine, lane.states.get(key) ?? null, message, this.settings);
    if (played === null) return null;
    const { before, after, outputs, fault } = played;
    if (before !== lane.states.get(key) && !this.follows(machine, key, before)) return null;
    lane.states.set(key, after);
    const step: PlayedStep = {
      ...{ machine, key, n, raw, message, before, after, outputs, fault },
      state: fault === null ? machine.stateName(after) : `${THREW} ${fault}`,
      packed: machine.packOutputs(outputs, refer),
    };
    if (this.outcomes) lane.open.add(step);
    return step;
  }

  /** The step that a recorded outcome is of, and what was recorded; null when its message was not followed. */
  outcome(record: RecordOf<'step' | 'fault'>): { step: PlayedStep; recorded: Outcome } | null {
    const step = this.laneOf(record.machine).open.take(record.key, record.n);
    if (step === undefined) return null;
    const recorded = record.t === 'step' ? record : { state: THREW, outputs: [] };
    return { step, recorded };
  }

  /** Whether a line is, byte for byte, the outcome that comes next; it is over then, and need not be parsed. */
  isExpected(text: string): boolean {
    for (const { machine, stepStart, open } of this.lanes) {
      if (!text.startsWith(stepStart)) continue;
      const step = open.first();
      if (step === undefined || !isStepText(text, machine, step)) return false;
      open.shift();
      return true;
    }
    return false;
  }

  private beginSegment({ machine, settings, head }: RecordOf<'segment'>): void {
    const lane = this.laneOf(machine);
    lane.open.passAll();
    // Pods of the shard that the segment does not carry on have ended, or begin anew.
    if (machine.many) {
      this.around.settings = settings;
      return;
    }
    lane.beginning = { head, rows: [] };
    lane.states.clear();
    this.place(lane, '', machine.revive(head, [], this.around));
  }

  private restore({ machine, key, row }: RecordOf<'snap'>): void {
    const lane = this.laneOf(machine);
    if (machine.many) this.place(lane, key, machine.revive({}, [row], this.around));
    else lane.beginning?.rows.push(row);
  }

  private endBeginning(lane: Lane, { head, rows }: { head: object; rows: object[] }): void {
    lane.beginning = null;
    if (rows.length > 0) this.place(lane, '', lane.machine.revive(head, rows, this.around));
  }

  private place({ machine, states }: Lane, key: string, state: unknown): void {
    if (state !== null && this.follows(machine, key, state)) states.set(key, state);
  }

  private laneOf(machine: AnyJournaled): Lane {
    const lane = this.lanes.find((one) => one.machine === machine);
    if (lane === undefined) throw new Error(`the machine ${machine.name} is not played back here`);
    return lane;
  }
}
