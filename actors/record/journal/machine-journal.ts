import { join } from 'node:path';
import type { Logger } from 'pino';
import type { JournaledMachine, Message } from '../machines/journaled-machine.ts';
import { faultText, messageText, segmentText, snapText, stepText } from './records.ts';
import type { LogDisk } from './log-disk.ts';
import { SegmentLog } from './segment-log.ts';
import { SpecBook } from './spec-book.ts';

/** What a machine's journal is made from. */
export interface JournalSettings {
  /** The journal's folder. */
  dir: string;
  /** Version of the agent. */
  agent: string;
  /** Bound on all segments of this log together, bytes on disk. */
  maxBytes: number;
  log: Logger;
  /** The way to the disk; without it each write is waited for. */
  disk?: LogDisk;
}

/** A machine that lives: its UID (of a single machine '') and its state. */
export interface Living<S> {
  readonly key: string;
  readonly state: S;
}

/**
 * How long lines wait for others, ms: what pods came to is read back after a restart, and is on disk before anybody can have read their
 * status from the API server; of single machines nothing is read back.
 */
const GATHER_MS = { pods: 5, single: 50 };

/**
 * The append-only log of a machine's messages and of what came out of them. Lines are gathered; {@link flush} must run before
 * a message is handled, so that a killed agent has on disk whatever it acted on.
 */
export class MachineJournal<S, M extends Message, O> {
  private readonly machine: JournaledMachine<S, M, O>;
  private readonly agent: string;
  private readonly about: object;
  private readonly living: () => Iterable<Living<S>>;
  private readonly specs = new SpecBook();
  private readonly refer = this.specs.refer.bind(this.specs);
  private readonly segments: SegmentLog;
  private number = 0;

  /**
   * @param about further fields of a segment's first record; a shard's number makes the log's name
   * @param living what is written at the start of a segment, so that it can be read alone
   */
  constructor(
    machine: JournaledMachine<S, M, O>,
    { dir, agent, maxBytes, log, disk }: JournalSettings,
    about: { shard?: number; settings?: object; nodeName?: string },
    living: () => Iterable<Living<S>>,
  ) {
    this.machine = machine;
    this.agent = agent;
    this.about = about;
    this.living = living;
    const name = about.shard === undefined ? machine.name : `shard-${String(about.shard).padStart(2, '0')}`;
    const opening = (seq: number): string => this.opening(seq);
    this.segments = new SegmentLog({
      dir: join(dir, machine.folder),
      name,
      maxBytes,
      log,
      opening,
      gatherMs: machine.many ? GATHER_MS.pods : GATHER_MS.single,
      ...(disk && { disk }),
    });
  }

  /** Bytes written since the start of this process or worker. */
  get totalBytes(): number {
    return this.segments.totalBytes;
  }

  /** Gathers a message; returns its number. */
  message(key: string, message: M): number {
    this.number++;
    const text = messageText(this.machine, this.number, key, this.machine.packMessage(message, this.refer));
    this.segments.append(this.specs.take() + text);
    return this.number;
  }

  /** Gathers the outcome of the message `n`. */
  step(n: number, key: string, state: string, outputs: readonly O[]): void {
    const text = stepText(this.machine, n, key, state, this.machine.packOutputs(outputs, this.refer));
    this.segments.append(this.specs.take() + text);
  }

  /** Gathers that the machine threw on the message `n`. */
  fault(n: number, key: string, error: string): void {
    this.segments.append(faultText(this.machine, n, key, error));
  }

  /** Writes what was gathered. Without space the agent goes on and the journal says so once. */
  flush(): void {
    this.segments.flush();
  }

  /** Writes what was gathered with what comes next, soon at the latest. */
  flushSoon(): void {
    this.segments.flushSoon();
  }

  /** Calls back, at once where that is so, when what was flushed is on the disk, or the agent goes on without a journal. */
  whenWritten(then: () => void): void {
    this.segments.whenWritten(then);
  }

  /** Begins a new segment when the current one is full. To be called between steps, never within one. */
  rotateIfFull(): void {
    this.segments.rotateIfDue();
  }

  close(): void {
    this.segments.close();
  }

  private opening(seq: number): string {
    const { machine, agent, about } = this;
    this.specs.reset();
    let head: object = {};
    let rows = '';
    for (const { key, state } of this.living()) {
      const place = machine.write(state, this.refer);
      ({ head } = place);
      for (const row of place.rows) rows += this.specs.take() + snapText(machine, key, row);
    }
    return segmentText(machine, { at: Date.now(), seq, agent, ...about }, machine.many ? {} : head) + rows;
  }
}
