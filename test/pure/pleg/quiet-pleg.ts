import type { TestContext } from 'node:test';
import pino from 'pino';
import { createMetrics } from '../../../actors/record/metrics/metrics-registry.ts';
import { Pleg } from '../../../actors/runtime/pleg/pleg.ts';
import { GENERIC_RATE } from '../../../actors/runtime/pleg/relist-rate.ts';
import type { CriClient } from '../../../cri/client/cri-client.ts';

/** PLEG of a runtime that answers its lists so, which nobody hears; it ends with the test. */
export function quietPleg(
  t: TestContext,
  runtime: Record<'listPodSandbox' | 'listContainers', () => Promise<unknown>>,
): Pleg {
  const pleg = new Pleg({
    cri: { runtime } as unknown as CriClient,
    rate: GENERIC_RATE,
    log: pino({ level: 'silent' }),
    metrics: createMetrics({ processMetrics: false }),
    onPod: () => undefined,
    onRelist: () => undefined,
  });
  t.after(() => pleg.stop());
  return pleg;
}
