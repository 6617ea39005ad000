import { setTimeout as sleep } from 'node:timers/promises';
import { ControlPlane } from '../cluster/support/control-plane.ts';
import { drawnAction } from './draw/actions.ts';
import { script } from './draw/behaviour.ts';
import { drawnPod } from './draw/pod.ts';
import { Side } from './side.ts';
import type { Seen } from './side.ts';

/** What a run draws and how long it goes on. Times in ms. */
export interface RunOptions {
  seed: number;
  pods: number;
  /** The runtime refuses calls, things happen to pods, agents are restarted: off for what shall not depend on the time of day. */
  faults: boolean;
  actions: boolean;
  restart: boolean;
  /** From the last pod's creation to the deletion of all. */
  lasts: number;
}

/** What was seen of both agents, and of which pods. */
export interface Both {
  kubelet: Seen;
  actorlet: Seen;
  pods: string[];
  /** Pods that the API server refused, and why: the drawing asks for what cannot be. */
  refused: string[];
  logs: { kubelet: string; actorlet: string };
}

/** Longest end of a pod that is waited for. */
const END_MS = 120_000;

/** Has both agents run the same drawn pods, each on a simulated runtime of its own with the same script. */
export async function runBeside(options: RunOptions): Promise<Both> {
  const { seed, lasts } = options;
  const plane = await ControlPlane.start();
  const sides: Side[] = [];
  try {
    const told = script(seed, options.faults ? options.pods : 0);
    for (const agent of ['kubelet', 'actorlet'] as const) sides.push(await Side.start(plane, agent, told));
    const { pods, refused } = await create(sides, options);
    const names = pods.map(({ metadata }) => metadata.name);
    await sleep(lasts * 0.4);
    if (options.actions) await act(sides, options, pods);
    await sleep(lasts * 0.2);
    if (options.restart) await Promise.all(sides.map((side) => side.restart()));
    await sleep(lasts * 0.4);
    await Promise.all(sides.map((side) => side.end(END_MS)));
    // The last removals and events come after a pod is gone.
    await sleep(3_000);
    const [kubelet, actorlet] = await Promise.all(sides.map((side) => side.seen()));
    const [first = '', second = ''] = await Promise.all(sides.map((side) => side.logs()));
    if (kubelet === undefined || actorlet === undefined) throw new Error('one side is missing');
    return { kubelet, actorlet, pods: names, refused, logs: { kubelet: first, actorlet: second } };
  } finally {
    await Promise.allSettled(sides.map((side) => side.stop()));
    await plane.stop();
  }
}

async function create(sides: readonly Side[], { seed, pods: count }: RunOptions) {
  const pods: ReturnType<typeof drawnPod>[] = [];
  const refused: string[] = [];
  for (let number = 0; number < count; number++) {
    const pod = drawnPod(seed, number);
    const [first, second] = sides;
    const problem = await first?.create(pod);
    if (problem != null) refused.push(`${pod.metadata.name}: ${problem}`);
    else {
      await second?.create(pod);
      pods.push(pod);
    }
  }
  return { pods, refused };
}

async function act(sides: readonly Side[], { seed }: RunOptions, pods: readonly ReturnType<typeof drawnPod>[]) {
  for (const pod of pods) {
    const { name } = pod.metadata;
    const action = drawnAction(seed, Number(name.slice(1)), pod);
    if (action === null) continue;
    // Of a pod that has ended the API server refuses some changes, for both.
    await Promise.all(sides.map((side) => side.act(name, action).catch(() => undefined)));
  }
}
