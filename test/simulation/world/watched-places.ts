import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import * as steps from '../../../machines/machine-step/step.ts';
import type { Place } from '../../../machines/machine-step/step.ts';
import type { Effect } from '../../../machines/protocol/effects.ts';

export { bornSnapshot, hears, interpretedStep, resolve, statePath } from '../../../machines/machine-step/step.ts';
export type { EffectAction, Place } from '../../../machines/machine-step/step.ts';

/** Hears of each machine that came to another state; `from` is null for one that was just made. */
export type PlaceListener = (machine: string, from: unknown, event: string, to: unknown) => void;

let listener: PlaceListener | null = null;

/** Who hears of the states of all machines from now on, of children as well. */
export function listenToPlaces(to: PlaceListener | null): void {
  listener = to;
}

/** As the machine's own; the loader gives it to all of the agent. */
export function step<S extends AnyMachineSnapshot, F = Effect>(
  machine: AnyStateMachine,
  snapshot: S,
  event: { type: string },
): { snapshot: S; effects: F[] } {
  const stepped = steps.step<S, F>(machine, snapshot, event);
  if (listener !== null && stepped.snapshot.value !== snapshot.value)
    listener(machine.id, snapshot.value, event.type, stepped.snapshot.value);
  return stepped;
}

/** As the machine's own; the loader gives it to all of the agent. */
export function stepPlace<C, F>(
  machine: AnyStateMachine,
  from: Place<C>,
  event: { type: string },
  effects: F[],
): Place<C> {
  const to = steps.stepPlace(machine, from, event, effects);
  if (listener !== null && to.value !== from.value) listener(machine.id, from.value, event.type, to.value);
  return to;
}

/** As the machine's own; the loader gives it to all of the agent. */
export function bornPlace<C>(machine: AnyStateMachine, input: unknown): Place<C> {
  const place = steps.bornPlace<C>(machine, input);
  listener?.(machine.id, null, 'born', place.value);
  return place;
}
