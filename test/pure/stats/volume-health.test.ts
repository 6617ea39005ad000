import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { nodeStats } from '../../../actors/node/node-stats.ts';
import type { NodeStatsOptions } from '../../../actors/node/node-stats.ts';
import { resolveFeatureGates } from '../../../actors/configure/configuration/feature-gates.ts';
import { kubeletConfigurationSchema } from '../../../actors/configure/configuration/kubelet-configuration.ts';
import type { Clock } from '../../../actors/host/time/clock.ts';
import { createMetrics } from '../../../actors/record/metrics/metrics-registry.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { waitFor } from '../../tools/wait-for.ts';

const USAGE = { capacityBytes: 1, usedBytes: 1, availableBytes: 0, inodes: 0, inodesUsed: 0, inodesFree: 0 };
const POD: Pod = {
  metadata: { name: 'web', namespace: 'shop', uid: 'u1' },
  spec: { containers: [], volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'c' } }] },
};

/** A node's stats with a volume that its driver calls abnormal; nobody asks for any of them. */
function node(gates: Record<string, boolean>, volumeStatsAggPeriod = '7s') {
  const config = kubeletConfigurationSchema.parse({ cgroupRoot: '/', featureGates: gates, volumeStatsAggPeriod });
  const looks = new Map<number, () => void>();
  const stops: (() => unknown)[] = [];
  const told: string[] = [];
  const clock: Clock = {
    ...{ now: () => 0, steady: () => 0, looking: () => 0 },
    lookAfter: (ms, look) => {
      looks.set(ms, look);
      return { cancel: () => void looks.delete(ms) };
    },
  };
  const made = nodeStats({
    ...{ config, clock, metrics: createMetrics(), log: pino({ level: 'silent' }) },
    featureGates: resolveFeatureGates(config.featureGates).gates,
    flags: { rootDir: '/nowhere', runtimeCgroups: '' },
    cgroups: { version: 2, controllers: [], mounts: {} },
    life: { has: (_name, _phase, stop) => void stops.push(stop) },
    // Nothing of the runtime is asked for.
    cri: {} as NodeStatsOptions['cri'],
  });
  const measured = {
    ...{ nodeName: 'one', pods: () => [POD] },
    claimed: () => [
      {
        ...{ name: 'data', path: '/x', source: 'csi' },
        usage: () => Promise.resolve({ ...USAGE, health: { abnormal: true, message: 'it is lost' } }),
      },
    ],
    onAbnormal: ({ metadata }: Pod, volume: string, why: string) =>
      void told.push(`${metadata?.name ?? ''} ${volume}: ${why}`),
  };
  assert.equal(made(measured), made(measured), 'one provider for all');
  return { looks, told, stops };
}

test('with the gate CSIVolumeHealth an abnormal volume is told of though nobody asks, each volumeStatsAggPeriod at most', async () => {
  const { looks, told, stops } = node({ CSIVolumeHealth: true });
  assert.deepEqual([...looks.keys()], [7_000]);
  looks.get(7_000)?.();
  await waitFor('the volume to be told of', () => Promise.resolve(told[0]));
  assert.deepEqual(told, ['web data: it is lost']);
  assert.deepEqual([...looks.keys()], [7_000], 'it looks again');
  for (const stop of stops) stop();
  assert.equal(looks.size, 0);
});

test('without it volumes are counted when somebody asks, and with no period never', () => {
  assert.equal(node({}).looks.size, 0);
  assert.equal(node({ CSIVolumeHealth: true }, '-1s').looks.size, 0);
});
