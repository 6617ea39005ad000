import { setTimeout as sleep } from 'node:timers/promises';
import { ControlPlane } from '../cluster/support/control-plane.ts';
import { drawnAction } from './draw/actions.ts';
import { script } from './draw/behaviour.ts';
import { withDevices } from './draw/devices.ts';
import { Draws } from './draw/draws.ts';
import { drawnPod } from './draw/pod.ts';
import type { DrawnPod } from './draw/pod.ts';
import { drawnStaticAction } from './draw/static-actions.ts';
import { drawnStaticPod } from './draw/static-pod.ts';
import { NODE } from './pod-names.ts';
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
  outage: boolean;
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

/** How long the runtime refuses all calls, and its network is not ready after that. */
const OUTAGE_MS = 5_000;

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
    const names = pods.map(({ name }) => name);
    await sleep(lasts * 0.4);
    if (options.actions) {
      await act(sides, options, pods);
      await Promise.all(sides.map((side) => side.renewDevices()));
    }
    await sleep(lasts * 0.2);
    if (options.outage) await Promise.all(sides.map((side) => side.outage(OUTAGE_MS)));
    if (options.restart) await Promise.all(sides.map((side) => side.restart()));
    await sleep(lasts * 0.4);
    await Promise.all(sides.map((side) => side.look()));
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

/** Each pod of this many is a static one. */
const STATIC_EVERY = 6;

interface Drawn {
  number: number;
  pod: DrawnPod;
  /** As it is known on both sides. */
  name: string;
  isStatic: boolean;
}

function drawn(seed: number, number: number): Drawn {
  const isStatic = number % STATIC_EVERY === STATIC_EVERY - 1;
  const own = new Draws(seed, `devices-${String(number)}`);
  const pod = isStatic ? drawnStaticPod(seed, number) : withDevices(own, drawnPod(seed, number));
  return { number, pod, name: isStatic ? `${pod.metadata.name}-${NODE}` : pod.metadata.name, isStatic };
}

async function create(sides: readonly Side[], { seed, pods: count }: RunOptions) {
  const pods: Drawn[] = [];
  const refused: string[] = [];
  for (let number = 0; number < count; number++) {
    const one = drawn(seed, number);
    const [first, second] = sides;
    if (one.isStatic) for (const side of sides) await side.put(one.pod);
    const problem = one.isStatic ? null : await first?.create(one.pod);
    if (problem != null) refused.push(`${one.name}: ${problem}`);
    else {
      if (!one.isStatic) await second?.create(one.pod);
      pods.push(one);
    }
  }
  return { pods, refused };
}

async function act(sides: readonly Side[], { seed }: RunOptions, pods: readonly Drawn[]) {
  for (const { number, pod, name, isStatic } of pods) {
    const action = isStatic ? drawnStaticAction(seed, number, pod) : drawnAction(seed, number, pod);
    if (action === null) continue;
    // Of a pod that has ended the API server refuses some changes, for both.
    await Promise.all(sides.map((side) => side.act(name, action).catch(() => undefined)));
  }
}
