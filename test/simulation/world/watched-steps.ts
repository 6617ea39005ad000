import type { PodSnapshot } from '../../../machines/pod/pod-context.ts';
import * as steps from '../../../machines/pod/pod-step.ts';
import type { Effect } from '../../../machines/protocol/effects.ts';
import type { PodMessage } from '../../../machines/protocol/messages.ts';

export { bornPod, nextDeadline, podState, restoredPod } from '../../../machines/pod/pod-step.ts';

/** Hears of each step of a pod before its effects are carried out. */
export type StepListener = (before: PodSnapshot, message: PodMessage, after: PodSnapshot, effects: Effect[]) => void;

let listener: StepListener | null = null;

/** Who hears of the steps of all shards from now on. */
export function listenToSteps(to: StepListener | null): void {
  listener = to;
}

/** As the machine's own; the loader gives the declaration of pods this one. */
export function stepPod(snapshot: PodSnapshot, message: PodMessage): { snapshot: PodSnapshot; effects: Effect[] } {
  const stepped = steps.stepPod(snapshot, message);
  listener?.(snapshot, message, stepped.snapshot, stepped.effects);
  return stepped;
}
