import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MessageChannel } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';
import type { Logger } from 'pino';
import { Piscina } from 'piscina';
import { ActorletError } from '../../../machines/errors/define.ts';
import { nodeErrors } from '../../../machines/errors/node-errors.ts';
import { threadCpuMs } from '../../host/kernel/thread-cpu.ts';
import { goDuration } from '../../../machines/values/go-duration.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import type { Metrics } from '../../record/metrics/metrics-registry.ts';
import { keepHeapsSmall } from './small-heaps.ts';
import type { FromShard, ShardTask, ToShard } from './shard-protocol.ts';
import { MARKS_BYTES, WorkMarks } from './work-marks.ts';
import { patienceMs } from './worker-patience.ts';

/** How often heartbeats are looked at, ms. */
const CHECK_MS = 500;
/** A shard that has had no worker which answers for so long is lost: to replace them does not help any more, ms. */
const LOST_MS = 120_000;

/** What the pool is made from. */
export interface ShardPoolOptions {
  shards: number;
  task: Omit<ShardTask, 'shard' | 'port' | 'marks' | 'careful'>;
  log: Logger;
  metrics: Metrics;
  onMessage: (shard: number, message: FromShard) => void;
  /** After how long without an answer a shard is lost, ms; two minutes when it is not given. */
  lostMs?: number;
  /** Threads that were started ahead, by {@link startThreads}. */
  threads?: Piscina;
  /** A worker died or hung and a new one has taken its place, empty. */
  onReplaced: (shard: number, death: WorkerDeath) => void;
}

/** What main knows of a worker's end. */
export interface WorkerDeath {
  problem: string;
  /** Was it at this pod? Null when it was at none. */
  wasAt: ((uid: string) => boolean) | null;
}

/** What a thread runs; it has the ending of this file: .ts in a checkout, .js in a package. */
const ENTRY = new URL(`./shard-worker${extname(import.meta.url)}`, import.meta.url);

/**
 * Starts the worker threads and has them load their code, so that this happens while the main thread still reads its
 * configuration.
 * @param entry the module they run; a test may have its own around `shard-worker.ts`
 */
export function startThreads(shards: number, entry: URL = ENTRY): Piscina {
  const filename = fileURLToPath(entry);
  // Before the threads are made, also by who has them started ahead: what a heap may be is set when its thread begins.
  keepHeapsSmall();
  // With 'sync' an idle worker would sleep in Atomics.wait, where neither its timers nor its sockets are served.
  const pool = new Piscina({
    filename,
    minThreads: shards,
    maxThreads: shards,
    atomics: 'disabled',
    concurrentTasksPerWorker: 1,
    idleTimeout: Infinity,
  });
  for (let i = 0; i < shards; i++) void pool.run(null, { name: 'warm' }).catch(() => undefined);
  return pool;
}

interface Worker {
  port: MessagePort;
  marks: WorkMarks;
  lastBeat: number;
  lastSeen: number;
  abort: AbortController;
  ended: Promise<void>;
  ready: Promise<void>;
  /** It has answered once. */
  loaded: boolean;
  /** The kernel's id of its thread; null before it has answered. */
  thread: number | null;
  /** What its thread had computed when it had loaded its code, ms; null when nobody knows. */
  loadCpuMs: number | null;
  /** What its thread had computed when it was first found without a new beat, ms; null when it beats, or nobody knows. */
  quietAtCpuMs: number | null;
  /** It takes another's place and has not been told of its pods yet. */
  toldAnew: boolean;
}

/**
 * The worker threads that host pods: one long-running piscina task each. A worker that ends or falls silent is
 * replaced; the others do not notice.
 */
export class ShardPool {
  private readonly options: ShardPoolOptions;
  private readonly pool: Piscina;
  private readonly workers: Worker[] = [];
  /** When a worker of each shard has answered last, of whichever. */
  private readonly answered: number[] = [];
  private watch: NodeJS.Timeout | undefined;
  private lastCheck = 0;
  private stopping = false;

  constructor(options: ShardPoolOptions) {
    this.options = options;
    this.pool = options.threads ?? startThreads(options.shards);
  }

  /** Starts all workers; resolves when each has answered. */
  async start(): Promise<void> {
    for (let shard = 0; shard < this.options.shards; shard++) this.workers[shard] = this.launch(shard);
    await Promise.all(this.workers.map((w) => w.ready));
    this.lastCheck = performance.now();
    this.answered.push(...this.workers.map(() => this.lastCheck));
    this.watch = setInterval(() => this.check(), CHECK_MS);
  }

  /**
   * Sends to a shard's worker. One that takes another's place hears of its pods when it is ready, all of them anew: what came
   * before that would make it begin them twice, and its calls to the runtime with them.
   */
  post(shard: number, message: ToShard): void {
    const worker = this.workers[shard];
    if (worker === undefined || (worker.toldAnew && (message.t === 'pod' || message.t === 'result'))) return;
    worker.port.postMessage(message);
  }

  /** How much the workers log from now on (`--v`). */
  setVerbosity(level: number): void {
    this.options.task.log.verbosity = level;
    for (const worker of this.workers) worker.port.postMessage({ t: 'verbosity', level } satisfies ToShard);
  }

  /** Which shard nobody answers for, for too long; null when each has somebody who does. */
  unhealthy(): string | null {
    const { lostMs = LOST_MS } = this.options;
    const shard = this.answered.findIndex((at) => performance.now() - at > lostMs);
    if (shard < 0) return null;
    const seconds = Math.round((performance.now() - (this.answered[shard] ?? 0)) / 1000);
    return `shard ${shard} was last seen active ${seconds}s ago; threshold is ${goDuration(lostMs)}`;
  }

  /** Ends all workers: their journals are closed; containers are not touched. */
  async stop(): Promise<void> {
    this.stopping = true;
    clearInterval(this.watch);
    for (const worker of this.workers) worker.port.postMessage({ t: 'stop' } satisfies ToShard);
    const late = setTimeout(() => this.workers.forEach((w) => w.abort.abort()), 2_000);
    await Promise.all(this.workers.map((w) => w.ended));
    clearTimeout(late);
    await this.pool.destroy();
  }

  private launch(shard: number, careful = false): Worker {
    const { port1: port, port2 } = new MessageChannel();
    const marks = new SharedArrayBuffer(MARKS_BYTES);
    const abort = new AbortController();
    const task: ShardTask = { ...this.options.task, shard, port: port2, marks, careful };
    const run = this.pool.run(task, { transferList: [port2], signal: abort.signal });
    let answered: () => void = () => undefined;
    const ready = new Promise<void>((resolve) => (answered = resolve));
    const worker: Worker = {
      port,
      marks: new WorkMarks(marks),
      lastBeat: 0,
      lastSeen: performance.now(),
      abort,
      ready,
      loaded: false,
      thread: null,
      loadCpuMs: null,
      quietAtCpuMs: null,
      toldAnew: false,
      ended: Promise.resolve(),
    };
    port.on('message', (message: FromShard) => {
      if (message.t === 'ready') {
        worker.loaded = true;
        worker.thread = message.thread;
        worker.loadCpuMs = cpuOf(message.thread);
        worker.lastSeen = performance.now();
        answered();
      } else this.options.onMessage(shard, message);
    });
    worker.ended = run.then(
      () => this.gone(shard, worker, 'its task returned'),
      (error: unknown) => this.gone(shard, worker, messageOf(error)),
    );
    worker.ended = worker.ended.finally(answered);
    return worker;
  }

  private gone(shard: number, worker: Worker, problem: string): void {
    worker.port.close();
    if (this.stopping || this.workers[shard] !== worker) return;
    this.options.log.error({ err: new ActorletError(nodeErrors.shardEnded, { shard, problem }) }, 'Shard ended');
    this.replace(shard, worker, { reason: 'died', problem });
  }

  private replace(shard: number, old: Worker, { reason, problem }: { reason: string; problem: string }): void {
    const death: WorkerDeath = { problem, wasAt: old.marks.whereabouts() };
    this.options.metrics.shardRestarts.inc({ shard: String(shard) });
    this.options.log.warn({ shard, reason }, 'Shard is replaced');
    const worker = this.launch(shard, death.wasAt === null);
    worker.toldAnew = true;
    this.workers[shard] = worker;
    void worker.ready.then(() => {
      worker.toldAnew = false;
      if (!this.stopping) this.options.onReplaced(shard, death);
    });
  }

  /** A silent worker is ended. When main itself was held up (a suspended machine, a busy core) nobody is to blame. */
  private check(): void {
    // Not the clock, which may be set: a hung worker must not be borne for an hour.
    const now = performance.now();
    const heldUp = now - this.lastCheck > 4 * CHECK_MS;
    this.lastCheck = now;
    this.workers.forEach((worker, shard) => {
      const beat = worker.marks.beats;
      if (beat !== worker.lastBeat || heldUp) {
        worker.lastBeat = beat;
        worker.lastSeen = now;
        worker.quietAtCpuMs = null;
        if (worker.loaded) this.answered[shard] = now;
        this.options.metrics.shardHeartbeat.set({ shard: String(shard) }, Date.now() / 1000);
        return;
      }
      const ms = Math.round(now - worker.lastSeen);
      if (ms < patienceWith(worker)) return;
      this.options.log.error({ err: new ActorletError(nodeErrors.shardSilent, { shard, ms }) }, 'Shard is silent');
      // Taken off the list first, so that its end is not reported a second time.
      this.replace(shard, worker, { reason: 'silent', problem: `it gave no sign of life for ${ms} ms` });
      worker.abort.abort();
    });
  }
}

/** How long a worker may be silent, ms, by what its thread computes meanwhile. */
function patienceWith(worker: Worker): number {
  const { loaded, thread, loadCpuMs } = worker;
  const cpuMs = cpuOf(thread);
  return patienceMs({ loaded, loadCpuMs, quietCpuMs: cpuMs === null ? null : cpuMs - (worker.quietAtCpuMs ??= cpuMs) });
}

function cpuOf(thread: number | null): number | null {
  return thread === null ? null : threadCpuMs(thread);
}
