import { signal } from '@preact/signals';
import type { WaitingPod } from '../../inspector/inspector-api.ts';
import type { Explanation } from '../../../../machines/explain/explanation.ts';
import { server } from './server.ts';

/** What `explain` says of a pod that waits. */
export interface Words {
  step: number;
  /** The nearest cause. */
  cause: string;
  /** All of it. */
  summary: string;
  /** What comes by itself, and when; null: nothing does. */
  next: { at: number; what: string } | null;
}

/** By the pod's UID; of the pods that the list names. */
export const waitingWords = signal<ReadonlyMap<string, Words>>(new Map());

/** A pod that goes on is explained anew at most this often, ms: each explanation replays its machine. */
const AGAIN_MS = 5_000;

let wanted: readonly WaitingPod[] = [];
let isNewest = true;
const when = new Map<string, number>();
let running = false;
let timer = 0;

/** Has these pods explained, one after the other. @param newest they are told of as they are now, and go on */
export function explainWaiting(pods: readonly WaitingPod[], newest: boolean): void {
  wanted = pods;
  isNewest = newest;
  if (!running) void run();
}

async function run(): Promise<void> {
  running = true;
  clearTimeout(timer);
  const tried = new Set<string>();
  try {
    for (;;) {
      const pod = wanted.find((p) => isDue(p) && !tried.has(`${p.uid} ${String(p.step)}`));
      if (pod === undefined) break;
      tried.add(`${pod.uid} ${String(pod.step)}`);
      when.set(pod.uid, performance.now());
      try {
        keep(pod, (await server.explain(pod.uid, pod.step)) as Explanation);
      } catch {
        // The list still has the state, and what the pod itself says.
      }
    }
  } finally {
    running = false;
  }
  if (wanted.some((pod) => !isCurrent(pod))) timer = window.setTimeout(() => void run(), AGAIN_MS);
}

function isCurrent({ uid, step }: WaitingPod): boolean {
  return step < 0 || waitingWords.value.get(uid)?.step === step;
}

function isDue(pod: WaitingPod): boolean {
  if (isCurrent(pod)) return false;
  return !isNewest || performance.now() - (when.get(pod.uid) ?? -Infinity) > AGAIN_MS;
}

function keep({ uid, step }: WaitingPod, { summary, causes, next }: Explanation): void {
  const there = new Set(wanted.map((pod) => pod.uid));
  const kept = [...waitingWords.value].filter(([other]) => there.has(other));
  for (const other of when.keys()) if (!there.has(other)) when.delete(other);
  const words = { step, cause: causes[0]?.text ?? '', summary, next: next ?? null };
  waitingWords.value = new Map([...kept, [uid, words]]);
}
