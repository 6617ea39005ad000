/** Events of the node name it as kubelet's reference does: without a UID, so that `kubectl describe node` shows them together. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { pino } from 'pino';
import type { CriClient } from '../../../cri/client/cri-client.ts';
import type { PodLogs } from '../../../actors/host/logs/pod-logs.ts';
import { machineClock } from '../../../actors/host/time/clock.ts';
import { createMetrics } from '../../../actors/record/metrics/metrics-registry.ts';
import { ContainerGcManager } from '../../../actors/resources/container-gc/container-gc-manager.ts';
import { ImageGcManager } from '../../../actors/runtime/images/image-gc-manager.ts';
import type { RecordedEvent } from '../../../machines/protocol/recorded-event.ts';

const broken = (): Promise<never> => Promise.reject(new Error('the runtime is away'));

/** What both collectors have of a node whose runtime fails; `events`: what they record. */
function ground() {
  const events: RecordedEvent[] = [];
  const runtime = { listContainers: broken, listPodSandbox: broken };
  const options = {
    settings: { nodeName: 'n' },
    cri: { runtime } as unknown as CriClient,
    clock: { ...machineClock, lookAfter: () => ({ cancel: () => undefined }) },
    log: pino({ level: 'silent' }),
    events: { record: (event: RecordedEvent) => void events.push(event) },
    ...{ journal: null, pods: () => [], stateOf: () => null, sourcesReady: () => true, heardOf: () => true },
    podLogs: { folders: broken, deadLinks: broken } as unknown as PodLogs,
  };
  return { options, events };
}

/** The first event, once there is one. */
async function firstOf(events: readonly RecordedEvent[]): Promise<RecordedEvent | undefined> {
  for (let i = 0; i < 50 && events.length === 0; i++) await turn();
  return events[0];
}

const NODE = { apiVersion: 'v1', kind: 'Node', namespace: '', name: 'n', uid: '' };

test('containers could not be collected', async () => {
  const { options, events } = ground();
  const policy = { minAgeMs: 0, maxPerContainer: 1, maxContainers: -1 };
  const manager = new ContainerGcManager({ ...options, policy });
  manager.start();
  const event = await firstOf(events);
  manager.stop();
  assert.equal(event?.reason, 'ContainerGCFailed');
  assert.deepEqual(event.object, NODE);
});

test('images could not be collected', async () => {
  const { options, events } = ground();
  const nothing = {
    runtime: {
      listContainers: () => Promise.resolve({ containers: [] }),
      status: () => Promise.resolve({ info: {} }),
    },
    image: {
      listImages: () => Promise.resolve({ images: [] }),
      imageFsInfo: () => Promise.resolve({ imageFilesystems: [{ fsId: { mountpoint: '/' } }] }),
    },
  };
  const manager = new ImageGcManager({
    ...{ ...options, cri: nothing as unknown as CriClient },
    config: {
      ...{ imageGCHighThresholdPercent: 85, imageGCLowThresholdPercent: 80 },
      ...{ imageMinimumGCAge: 0, imageMaximumGCAge: 0 },
    },
    metrics: createMetrics({ processMetrics: false }),
    images: { records: null, disk: () => Promise.resolve({ capacityBytes: 0, availableBytes: 0 }) },
  });
  manager.start();
  const event = await firstOf(events);
  manager.stop();
  assert.equal(event?.reason, 'InvalidDiskCapacity');
  assert.deepEqual(event.object, NODE);
});

test('a pass of the collector of containers that fails altogether holds up no later one', async () => {
  const { options } = ground();
  let asked = 0;
  const record = (): never => {
    asked++;
    throw new Error('nobody takes events');
  };
  const policy = { minAgeMs: 0, maxPerContainer: 1, maxContainers: -1 };
  const manager = new ContainerGcManager({ ...options, events: { record }, policy });
  manager.start();
  await assert.rejects(manager.reclaim.containers(), /nobody takes events/);
  manager.stop();
  assert.equal(asked, 2, 'each pass was begun');
});
