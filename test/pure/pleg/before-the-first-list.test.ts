import assert from 'node:assert/strict';
import { test } from 'node:test';
import pino from 'pino';
import { createMetrics } from '../../../actors/record/metrics/metrics-registry.ts';
import { Pleg } from '../../../actors/runtime/pleg/pleg.ts';
import { GENERIC_RATE } from '../../../actors/runtime/pleg/relist-rate.ts';
import type { CriClient } from '../../../cri/client/cri-client.ts';

/** A runtime that holds nothing and whose lists fail while `down`. */
function emptyRuntime(state: { down: boolean }): CriClient {
  const list = (answer: object) => () => (state.down ? Promise.reject(new Error('down')) : Promise.resolve(answer));
  return {
    runtime: { listPodSandbox: list({ items: [] }), listContainers: list({ containers: [] }) },
  } as unknown as CriClient;
}

test('before the first list succeeded the runtime may hold something of any pod', async (t) => {
  const state = { down: true };
  const pleg = new Pleg({
    cri: emptyRuntime(state),
    rate: GENERIC_RATE,
    log: pino({ level: 'silent' }),
    metrics: createMetrics({ processMetrics: false }),
    onPod: () => undefined,
    onRelist: () => undefined,
  });
  t.after(() => pleg.stop());
  await pleg.relist();
  assert.equal(pleg.holds('some-pod'), true, 'nobody could look yet');
  state.down = false;
  await pleg.relist();
  assert.equal(pleg.holds('some-pod'), false);
});
