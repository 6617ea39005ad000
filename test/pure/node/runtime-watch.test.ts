import assert from 'node:assert/strict';
import { test } from 'node:test';
import { machineClock } from '../../../actors/host/time/clock.ts';
import { RuntimeWatch } from '../../../actors/runtime/runtime-state/runtime-watch.ts';
import type { RuntimeState } from '../../../actors/runtime/runtime-state/runtime-watch.ts';
import type { CriClient } from '../../../cri/client/cri-client.ts';
import { memoryLog } from '../journal/journal-fixture.ts';

const condition = (type: string) => ({ type, status: true, reason: '', message: '' });

test('a runtime that does not answer is down when it was not ready for 30 s, and pods hear of it at once', async () => {
  let steady = 1_000;
  let answers = true;
  let next: () => void = () => undefined;
  const told: RuntimeState[] = [];
  const runtime = {
    status: () =>
      answers
        ? Promise.resolve({ status: { conditions: [condition('RuntimeReady'), condition('NetworkReady')] } })
        : Promise.reject(new Error('no answer')),
  };
  const watch = new RuntimeWatch({
    cri: { runtime } as unknown as CriClient,
    clock: {
      ...machineClock,
      steady: () => steady,
      lookAfter(_ms, look) {
        next = look;
        return { cancel: () => undefined };
      },
    },
    log: memoryLog().log,
    onChange: (state) => told.push(state),
  });
  const lookAfter = async (ms: number): Promise<void> => {
    steady += ms;
    next();
    await new Promise((resolve) => setImmediate(resolve));
  };
  await watch.start();
  assert.deepEqual(
    told.map((s) => s.runtimeReady),
    [true],
  );

  answers = false;
  await lookAfter(1_000);
  assert.equal(watch.state.runtimeReady, false);
  assert.deepEqual([watch.state.quiet, watch.state.messages], [true, []]);
  await lookAfter(28_000);
  assert.equal(told.length, 2);
  await lookAfter(1_000);
  assert.deepEqual([watch.state.quiet, watch.state.messages], [undefined, ['container runtime is down']]);
  assert.equal(told.length, 3);

  answers = true;
  await lookAfter(500);
  answers = false;
  await lookAfter(500);
  answers = true;
  await lookAfter(500);
  assert.deepEqual(
    told.slice(3).map((s) => [s.runtimeReady, s.messages]),
    [
      [true, []],
      [false, []],
      [true, []],
    ],
  );
  watch.stop();
});

test('whoever fails at a change of the runtime state ends neither the looks nor the agent', async () => {
  let next: (() => void) | null = null;
  let ready = true;
  const { log, lines } = memoryLog();
  const told: boolean[] = [];
  const watch = new RuntimeWatch({
    cri: {
      runtime: {
        status: () =>
          Promise.resolve({
            status: { conditions: [{ ...condition('RuntimeReady'), status: ready }, condition('NetworkReady')] },
          }),
      },
    } as unknown as CriClient,
    clock: { ...machineClock, lookAfter: (_ms, look) => ((next = look), { cancel: () => undefined }) },
    log,
    onChange: ({ runtimeReady }) => {
      told.push(runtimeReady);
      if (!runtimeReady) throw new Error('a pod that is none');
    },
  });
  await watch.start();
  for (ready of [false, true]) {
    const look = next as (() => void) | null;
    next = null;
    look?.();
    await new Promise((resolve) => setImmediate(resolve));
    assert.notEqual(next, null, 'the next look is waited for');
  }
  assert.deepEqual(told, [true, false, true]);
  assert.match(lines.at(-1) ?? '', /could not be told/);
  watch.stop();
});
