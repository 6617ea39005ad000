import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { resolveFeatureGates } from '../../../actors/configure/configuration/feature-gates.ts';
import { kubeletConfigurationSchema } from '../../../actors/configure/configuration/kubelet-configuration.ts';
import { StatsProvider } from '../../../actors/resources/stats/stats-provider.ts';
import { createRuntimeMetrics } from '../../../actors/serve/cadvisor/create-runtime-metrics.ts';
import { createCriClient } from '../../../cri/client/cri-client.ts';
import { FakeCgroups, reading } from '../../pure/stats/support/fake-node.ts';
import { bench } from '../sim/sim-client.ts';

test('PodAndContainerStatsFromCRI: summary and metrics are what the runtime tells over its socket', async (t) => {
  const sim = await bench(t);
  const log = pino({ level: 'silent' });
  const cri = createCriClient({ endpoint: `unix://${sim.sim.socket}`, retryMs: 0 });
  t.after(() => cri.close());
  const reader = new FakeCgroups();
  reader.cgroups.set('/', reading(100));
  const stats = new StatsProvider({
    ...{ node: { nodeName: 'one', pods: () => [] }, cri, reader, log, now: Date.now },
    config: kubeletConfigurationSchema.parse({ cgroupRoot: '/', podLogsDir: sim.dir }),
    featureGates: resolveFeatureGates({ PodAndContainerStatsFromCRI: true }).gates,
    flags: { rootDir: sim.dir, runtimeCgroups: '' },
    machine: { ownCgroup: () => null },
  });
  const sandbox = await sim.sandbox('web');
  await sim.run(sandbox, 'main');
  await sim.run(sandbox, 'side');

  const [pod] = (await stats.summary()).pods;
  assert.deepEqual(pod?.containers.map(({ name }) => name).sort(), ['main', 'side']);
  assert.equal(pod.process_stats?.process_count, 3, 'the runtime counts a process of its own');
  assert.equal(pod.network?.name, 'eth0');
  assert.ok(pod.cpu?.usageNanoCores !== undefined && pod.memory?.workingSetBytes !== undefined);

  const text = await createRuntimeMetrics({ cri, log, now: Date.now }).text();
  assert.match(text, /^container_cpu_usage_seconds_total\{container="side",pod="web",namespace="default"\} \d+ \d+$/m);
  assert.match(text, /^machine_cpu_cores\{/m);
});
