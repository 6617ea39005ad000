import type { TestContext } from 'node:test';
import type { JournaledMachine, Message } from '../../../actors/record/machines/journaled-machine.ts';

/** What a machine that was made to fail throws. */
export const BROKEN = 'a step that nobody foresaw';

/**
 * Makes a machine throw on messages of some kinds for the rest of the test, or until `mend` is called.
 *
 * @param kinds types of messages
 * @param times how often it throws; each time when it is not given
 */
export function failOn<S, M extends Message, O>(
  t: TestContext,
  machine: JournaledMachine<S, M, O>,
  kinds: readonly M['type'][],
  times = Infinity,
): { mend: () => void } {
  const step = machine.step.bind(machine);
  let left = times;
  const mock = t.mock.method(machine, 'step', (state: S, message: M) => {
    if (kinds.includes(message.type) && left-- > 0) throw new Error(BROKEN);
    return step(state, message);
  });
  return { mend: () => mock.mock.restore() };
}
