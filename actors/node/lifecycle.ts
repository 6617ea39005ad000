import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { ActorletError } from '../../machines/errors/define.ts';
import { nodeErrors } from '../../machines/errors/node-errors.ts';

/**
 * When a part is stopped. First what gives the pods' actors work, then the actors, then what they told things to; the ways
 * to the runtime and to the machine last, since all others may still be on them.
 */
export const STOP_PHASES = ['work', 'shards', 'hearers', 'ways'] as const;
export type StopPhase = (typeof STOP_PHASES)[number];

/** Something of the node that is started and stopped. */
export interface Part {
  /** For the log, e.g. `PLEG`. */
  name: string;
  /** When it is stopped. */
  phase: StopPhase;
  /** May reject: then nothing that comes after it is started, and all is stopped. */
  start?: () => void | Promise<void>;
  /** Must do no harm to a part that was not started, or whose start failed half-way. */
  stop?: () => void | Promise<void>;
}

/** Time that one part gets for its end, ms: less than systemd waits for all of them (`TimeoutStopSec`, 90 s). */
const STOP_LIMIT_MS = 10_000;

/**
 * Starts the parts of a node in order, and stops them in phases. When a start fails, all parts are stopped and the first
 * error is thrown; a stop that fails or hangs is told and keeps no other from being stopped.
 */
export class Lifecycle {
  private readonly steps: Part[][] = [];
  private readonly log: Logger;
  private readonly stopLimitMs: number;
  private stopping: Promise<void> | undefined;

  constructor(log: Logger, stopLimitMs = STOP_LIMIT_MS) {
    this.log = log;
    this.stopLimitMs = stopLimitMs;
  }

  /** Adds parts that are started side by side, when those before them have started. */
  add(...parts: Part[]): void {
    this.steps.push(parts);
  }

  /** Something that is there already and has to be ended. */
  has(name: string, phase: StopPhase, stop: () => void | Promise<void>): void {
    this.add({ name, phase, stop });
  }

  /** Starts all parts; rejects with the first error when everything is stopped again. */
  async start(): Promise<void> {
    for (const parts of this.steps) {
      if (this.stopping !== undefined) return;
      const errors: unknown[] = [];
      await Promise.all(parts.map((part) => begun(part).catch((error: unknown) => errors.push(error))));
      if (errors.length === 0) continue;
      await this.stop();
      throw errors[0];
    }
  }

  /** Stops all parts, once however often it is called. Never rejects. */
  stop(): Promise<void> {
    this.stopping ??= this.stopAll();
    return this.stopping;
  }

  private async stopAll(): Promise<void> {
    for (const phase of STOP_PHASES) {
      const parts = this.steps.flat().filter((part) => part.phase === phase);
      await Promise.all(parts.map((part) => this.stopOne(part)));
    }
  }

  private async stopOne({ name, stop }: Part): Promise<void> {
    if (stop === undefined) return;
    const over = new AbortController();
    const late = sleep(this.stopLimitMs, 'late', { signal: over.signal }).catch(() => 'over');
    try {
      const ended = await Promise.race([Promise.resolve(stop()), late]);
      if (ended === 'late') throw new Error(`it has not ended within ${this.stopLimitMs / 1000} s`);
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      this.log.error(
        { err: new ActorletError(nodeErrors.stopFailed, { part: name, problem }, { cause: error }) },
        'Stop',
      );
    } finally {
      over.abort();
    }
  }
}

async function begun({ start }: Part): Promise<void> {
  await start?.();
}
