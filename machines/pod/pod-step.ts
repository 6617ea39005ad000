import { bornSnapshot, resolve, statePath, step } from '../machine-step/step.ts';
import type { Effect } from '../protocol/effects.ts';
import type { PodMessage } from '../protocol/messages.ts';
import { deadlineAt } from './deadline.ts';
import type { PodContext, PodSnapshot } from './pod-context.ts';
import type { PodInput } from './pod-machine.ts';
import { podMachine } from './pod-machine.ts';
import { volumesOfTasks } from './volume-children.ts';

/** A pod machine at its birth, before `pod.start`. */
export function bornPod(input: PodInput): PodSnapshot {
  return bornSnapshot(podMachine, input) as PodSnapshot;
}

/** A pod machine at a journaled place. Journals of 0.1.0 know no volume machines: those are made from the pod's tasks. */
export function restoredPod(
  value: unknown,
  context: Omit<PodContext, 'volumes'> & Partial<Pick<PodContext, 'volumes'>>,
): PodSnapshot {
  const { volumes } = context;
  const whole: PodContext =
    volumes === undefined ? { ...context, volumes: volumesOfTasks(context) } : { ...context, volumes };
  return resolve(podMachine, { value, context: whole }) as PodSnapshot;
}

/** One step of one pod: pure, the same for the node, the simulation and replay. */
export function stepPod(snapshot: PodSnapshot, message: PodMessage): { snapshot: PodSnapshot; effects: Effect[] } {
  return step(podMachine, snapshot, message);
}

/** The pod's state as a dotted path, e.g. `syncing.creatingSandbox`. */
export function podState(snapshot: PodSnapshot): string {
  return statePath(snapshot.value);
}

/** When the pod wants a `timer` message, ms since the epoch; null when only the world can move it. */
export function nextDeadline(snapshot: PodSnapshot): number | null {
  return deadlineAt(snapshot.context);
}
