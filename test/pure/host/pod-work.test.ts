import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { test } from 'node:test';
import fc from 'fast-check';
import { lastPodWork, podWork } from '../../../actors/host/files/pod-work.ts';

test('work on one folder never overlaps; work on two does', async () => {
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  const first = podWork('/a', (turn) => turn.alone(() => gate));
  const steps: string[] = [];
  const second = podWork('/a', (turn) => turn.alone(async () => void steps.push('a')));
  await podWork('/b', (turn) => turn.alone(async () => void steps.push('b')));
  assert.deepEqual(steps, ['b']);
  open();
  await Promise.all([first, second]);
  assert.deepEqual(steps, ['b', 'a']);
});

test('the last work waits for a step that is under way, and stops what waits or comes later', async () => {
  let finish = (): void => undefined;
  const busy = new Promise<void>((resolve) => (finish = resolve));
  const done: string[] = [];
  const acting = podWork('/a', async (turn) => {
    await turn.alone(() => busy.then(() => void done.push('step')));
    await turn.alone(async () => void done.push('next step'));
  });
  const waiting = podWork('/a', (turn) => turn.waitFor(new Promise<never>(() => undefined)));
  await setImmediate();
  const last = lastPodWork('/a', async () => void done.push('last'));
  const stopped = Promise.all([acting, waiting].map((work) => assert.rejects(work, { code: 'Canceled' })));
  await setImmediate();
  assert.equal(done.join(), '');
  finish();
  await Promise.all([last, stopped]);
  assert.equal(done.join(), 'step,last');
  // A pod of the same UID may come again.
  await podWork('/a', (turn) => turn.alone(async () => void done.push('again')));
  assert.equal(done.join(), 'step,last,again');
});

test('in any mix of work, steps of one folder follow each other and none is lost after a failure', async () => {
  const work = fc.array(fc.record({ last: fc.boolean(), fails: fc.boolean(), turns: fc.nat(3) }), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(work, async (list) => {
      let inside = 0;
      let ended = 0;
      const step = async ({ fails, turns }: { fails: boolean; turns: number }): Promise<void> => {
        inside++;
        assert.equal(inside, 1);
        for (let i = 0; i < turns; i++) await setImmediate();
        inside--;
        if (fails) throw new Error('failed');
      };
      const all = list.map((one) =>
        (one.last ? lastPodWork('/p', () => step(one)) : podWork('/p', (turn) => turn.alone(() => step(one))))
          .catch((error: unknown) => assert.match(String(error), /failed|torn down/))
          .finally(() => ended++),
      );
      await Promise.all(all);
      assert.equal(ended, list.length);
    }),
    { numRuns: 50 },
  );
});
