import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { ActorletSettings } from '../../../../actors/configure/configuration/actorlet-settings.ts';
import type { KubeletConfiguration } from '../../../../actors/configure/configuration/kubelet-configuration.ts';
import type { PodRow } from '../../../../actors/pods/store/pod-row.ts';
import type { PodEventReport } from '../../../../actors/pods/shard/shard-protocol.ts';
import type { Pod } from '../../../../machines/protocol/api-types.ts';
import type { ThreadHeap } from './heap-probe.ts';

/** How an agent under test is started; plain JSON. */
export interface AgentOptions {
  /** Everything of it lies below; manifests are read from `<dir>/manifests`. */
  dir: string;
  endpoint: string;
  config?: Partial<KubeletConfiguration>;
  settings?: Partial<ActorletSettings>;
  verbosity?: number;
  /** With an API server; the agent then makes its root directory a shared mount, which the test unmounts. */
  kubeconfigPath?: string;
  /** Added to the environment. */
  env?: Record<string, string>;
  /** {@link Agent.heap} can be asked. */
  probed?: boolean;
}

/** What the agent's process is asked; `n` comes back with the answer. */
export type Question = { n: number } & (
  | { ask: 'rows' | 'pods' | 'tracked' | 'events' | 'metrics' | 'usage' | 'stop' }
  | { ask: 'heap'; snapshotTo: string | null }
  | { ask: 'fault'; shard: number; kind: 'loop' | 'exit' }
);

/** An answer of the agent's process. */
export interface Answer {
  n: number;
  value: unknown;
}

/** What the agent has used up; `heaps`: `used/total` MiB of the JavaScript heaps, main's first. */
export interface Usage {
  cpuMs: number;
  rssMiB: number;
  heaps: string;
}

/** An agent in a process of its own. */
export interface Agent {
  readonly pid: number;
  /** Its log: JSON lines. */
  readonly logFile: string;
  rows(): Promise<PodRow[]>;
  pods(): Promise<Pod[]>;
  /** Pods that have an actor or wait for one. */
  tracked(): Promise<number>;
  events(): Promise<PodEventReport[]>;
  metrics(): Promise<string>;
  usage(): Promise<Usage>;
  /**
   * Main first, then each worker, after their garbage was collected (only with `probed`). `snapshotTo`: start of the paths of
   * heap snapshots to write.
   */
  heap(snapshotTo?: string): Promise<ThreadHeap[]>;
  /** Makes a worker thread loop for ever, or end. */
  fault(shard: number, kind: 'loop' | 'exit'): Promise<void>;
  /** Ends it in order. */
  stop(): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
}

const PROBE_ARGV = ['--expose-gc', '--import', join(import.meta.dirname, 'heap-probe.ts')];

type Ask = Question extends infer Q ? (Q extends unknown ? Omit<Q, 'n'> : never) : never;

/** Starts an agent; resolves when it works. The caller ends it. */
export async function startAgent(options: AgentOptions): Promise<Agent> {
  mkdirSync(join(options.dir, 'manifests'), { recursive: true });
  const logFile = join(options.dir, 'agent.log');
  // A file, not a pipe: nobody has to read it for the agent to go on.
  const out = openSync(logFile, 'a');
  const child = fork(join(import.meta.dirname, 'agent-process.ts'), {
    env: { ...process.env, ...options.env, AGENT_OPTIONS: JSON.stringify(options) },
    stdio: ['ignore', out, out, 'ipc'],
    execArgv: [...(process.env['AGENT_EXEC_ARGV']?.split(' ') ?? []), ...(options.probed === true ? PROBE_ARGV : [])],
    serialization: 'advanced',
  });
  closeSync(out);
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  child.on('message', ({ n, value }: Answer) => {
    waiting.get(n)?.resolve(value);
    waiting.delete(n);
  });
  void ended.then(() => {
    for (const { reject } of waiting.values()) reject(new Error(`the agent ended; its log: ${logFile}`));
    waiting.clear();
  });
  let last = 0;
  const ask = (question: Ask) => {
    const n = ++last;
    const answered = new Promise<unknown>((resolve, reject) => waiting.set(n, { resolve, reject }));
    // Told here, one that has ended is no error of the whole process.
    child.send({ n, ...question }, (error) => {
      if (error !== null) waiting.get(n)?.reject(error);
    });
    return answered;
  };
  await new Promise<unknown>((resolve, reject) => waiting.set(0, { resolve, reject }));
  return {
    pid: child.pid ?? 0,
    logFile,
    rows: () => ask({ ask: 'rows' }) as Promise<PodRow[]>,
    pods: () => ask({ ask: 'pods' }) as Promise<Pod[]>,
    tracked: () => ask({ ask: 'tracked' }) as Promise<number>,
    events: () => ask({ ask: 'events' }) as Promise<PodEventReport[]>,
    metrics: () => ask({ ask: 'metrics' }) as Promise<string>,
    usage: () => ask({ ask: 'usage' }) as Promise<Usage>,
    heap: (snapshotTo) => ask({ ask: 'heap', snapshotTo: snapshotTo ?? null }) as Promise<ThreadHeap[]>,
    fault: async (shard, kind) => void (await ask({ ask: 'fault', shard, kind })),
    stop: () => end(child, ended, () => ask({ ask: 'stop' })),
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

async function end(child: ChildProcess, ended: Promise<void>, ask: () => Promise<unknown>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const late = setTimeout(() => child.kill('SIGKILL'), 120_000);
  await ask().catch(() => undefined);
  await ended;
  clearTimeout(late);
}
