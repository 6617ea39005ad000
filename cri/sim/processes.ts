import { constants } from 'node:os';
import { ContainerEventType, ContainerState, Signal } from '../generated/runtime/v1/api.ts';
import type { EventHub } from './event-hub.ts';
import type { LogWriter } from './log-writer.ts';
import type { NanoClock } from './nano-clock.ts';
import { playContainer } from './play/play.ts';
import { drawBetween } from './prng.ts';
import type { RecordIndex } from './record-index.ts';
import type { ContainerRecord } from './records.ts';
import type { ContainerBehaviour } from './script.ts';
import type { Timer } from './sim-time.ts';
import type { Timers } from './timers.ts';

const SIGKILL_EXIT = 137;

/** What the processes need. */
export interface ProcessParts {
  readonly seed: number;
  readonly clock: NanoClock;
  readonly timers: Timers;
  readonly logs: LogWriter;
  readonly events: EventHub;
  readonly containers: RecordIndex<ContainerRecord>;
}

/** The life of containers' processes: they start, write logs, answer signals and end. */
export class Processes {
  readonly #parts: ProcessParts;

  constructor(parts: ProcessParts) {
    this.#parts = parts;
  }

  /** CREATED -> RUNNING, with the log lines and the end that the script gives this attempt. */
  start(record: ContainerRecord): void {
    const { clock, containers, events } = this.#parts;
    record.startedAt = clock.now();
    containers.setState(record, ContainerState.CONTAINER_RUNNING);
    events.emit(record.id, ContainerEventType.CONTAINER_STARTED_EVENT, record.sandbox);
    for (const line of record.behaviour.logs) this.#schedule(record, line);
    let attempt = attemptOf(record);
    if (attempt !== undefined && 'plays' in attempt) {
      if (this.#play(record)) return;
      attempt = attempt.otherwise;
    }
    if (attempt === undefined || !('exit' in attempt)) return;
    const { after, code, reason, message } = attempt.exit;
    this.#later(record, this.#draw(record, 'exit', after), () => this.exit(record, code, reason, message));
  }

  /** The stop signal: the container ends as its `onStop` says, or not at all. Sent once. */
  signal(record: ContainerRecord): void {
    if (record.stopSignalled || !isRunning(record)) return;
    record.stopSignalled = true;
    const signal = signalNumber(record.config.stopSignal);
    if (signal === constants.signals.SIGKILL) {
      this.kill(record);
      return;
    }
    if (record.play !== undefined) {
      record.play.terminate();
      return;
    }
    const { onStop } = record.behaviour;
    if (onStop === 'ignore') return;
    const code = onStop.code ?? 128 + signal;
    this.#later(record, this.#draw(record, 'stop', onStop.after), () => this.exit(record, code));
  }

  /** SIGKILL. */
  kill(record: ContainerRecord): void {
    this.exit(record, SIGKILL_EXIT);
  }

  /** RUNNING -> EXITED; nothing when it does not run. */
  exit(record: ContainerRecord, code: number, reason = '', message = ''): void {
    if (!isRunning(record)) return;
    const { clock, containers, events } = this.#parts;
    this.#quieten(record);
    record.finishedAt = clock.now();
    record.exitCode = code;
    record.reason = reason;
    record.message = message;
    containers.setState(record, ContainerState.CONTAINER_EXITED);
    for (const done of [...(record.exitWaiters ?? [])]) done();
    events.emit(record.id, ContainerEventType.CONTAINER_STOPPED_EVENT, record.sandbox);
  }

  /** CREATED -> EXITED without having run, as containerd records a failed start. */
  failStart(record: ContainerRecord, message: string): void {
    record.finishedAt = this.#parts.clock.now();
    record.exitCode = 128;
    record.reason = 'StartError';
    record.message = message;
    this.#parts.containers.setState(record, ContainerState.CONTAINER_EXITED);
  }

  /** Writes to the container's log, if it has one. */
  writeLog(record: ContainerRecord, stream: 'stdout' | 'stderr', text: string, partial = false): void {
    if (record.logPath !== '') this.#parts.logs.write(record.logPath, this.#parts.clock.now(), stream, text, partial);
  }

  /** The record's command as the process of its container; false when it is not known. */
  #play(record: ContainerRecord): boolean {
    const play = playContainer(record, {
      sleep: (ms) => new Promise((resolve) => this.#later(record, ms, resolve)),
      line: (stream, text, partial) => this.writeLog(record, stream, text, partial),
    });
    record.play = play;
    void play?.ended.then((code) => this.exit(record, code));
    return play !== undefined;
  }

  #schedule(record: ContainerRecord, line: ContainerBehaviour['logs'][number]): void {
    const { every } = line;
    let left = line.times ?? (every === undefined ? 1 : Infinity);
    const write = (): void => {
      this.writeLog(record, line.stream, line.text);
      left--;
      if (left > 0) this.#later(record, every ?? 0, write);
    };
    if (line.at === 0) write();
    else this.#later(record, line.at, write);
  }

  /** A timer of this run: it does not outlive it. */
  #later(record: ContainerRecord, ms: number, action: () => void): void {
    const timer = this.#parts.timers.after(ms, () => {
      forget(record, timer);
      action();
    });
    (record.timers ??= new Set()).add(timer);
  }

  #quieten(record: ContainerRecord): void {
    for (const timer of record.timers ?? []) timer.cancel();
    record.timers = undefined;
    if (record.logPath !== '') this.#parts.logs.close(record.logPath);
  }

  #draw(record: ContainerRecord, what: string, range: { min: number; max: number }): number {
    // Not by UID or id: those differ from run to run.
    const { namespace, name } = record.sandbox.metadata;
    const { name: container, attempt } = record.metadata;
    return drawBetween(range, this.#parts.seed, what, namespace, name, container, attempt);
  }
}

/** True from start to exit. */
export function isRunning(record: ContainerRecord): boolean {
  return record.state === ContainerState.CONTAINER_RUNNING;
}

/** What the script gives this attempt; the last one goes on. */
export function attemptOf(record: ContainerRecord): ContainerBehaviour['attempts'][number] | undefined {
  const { attempts } = record.behaviour;
  return attempts[Math.min(record.metadata.attempt, attempts.length - 1)];
}

/** Linux's number of a CRI signal; SIGTERM for the runtime's default and for what Node does not know. */
function signalNumber(signal: Signal): number {
  const name = Object.entries(Signal).find(([, value]) => value === signal)?.[0] ?? '';
  const numbers: Record<string, number> = constants.signals;
  return numbers[name] ?? constants.signals.SIGTERM;
}

/** Calls `done` when the container ends; gives back how to call that off. */
export function whenExits(record: ContainerRecord, done: () => void): () => void {
  const waiters = (record.exitWaiters ??= new Set());
  waiters.add(done);
  return () => {
    waiters.delete(done);
    if (waiters.size === 0 && record.exitWaiters === waiters) record.exitWaiters = undefined;
  };
}

/** A timer has fired. */
function forget(record: ContainerRecord, timer: Timer): void {
  record.timers?.delete(timer);
  // Most containers of a thousand nodes wait for nothing: a set that is empty takes as much as a small one.
  if (record.timers?.size === 0) record.timers = undefined;
}
