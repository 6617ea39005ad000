import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { pino } from 'pino';
import { createCriClient } from '../../../cri/client/cri-client.ts';
import { RuntimeServiceService } from '../../../cri/generated/runtime/v1/api.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { createCgroupReader } from '../../../actors/resources/cgroup-stats/create-cgroup-reader.ts';
import { resolveFeatureGates } from '../../../actors/configure/configuration/feature-gates.ts';
import { kubeletConfigurationSchema } from '../../../actors/configure/configuration/kubelet-configuration.ts';
import { detectCgroups } from '../../../actors/host/cgroups/cgroup-detect.ts';
import { resourceMetrics } from '../../../actors/resources/stats/resource-metrics.ts';
import { StatsProvider } from '../../../actors/resources/stats/stats-provider.ts';
import type { ContainerStats } from '../../../actors/resources/stats/summary.ts';
import { waitFor } from '../../tools/wait-for.ts';
import { withContainerd } from '../support/with-containerd.ts';
import type { TestContainerd } from '../support/with-containerd.ts';

const MIB = 1024 * 1024;
const UID = 'stats-0001';
const CGROUP = `/actorlet-test/kubepods/burstable/pod${UID}`;
/** Holds some 16 MiB of memory, a bit of its layer and of its log, and uses a cpu. */
const LOAD =
  'dd if=/dev/zero of=/file bs=1M count=3 2>/dev/null; x=$(head -c 16000000 /dev/zero | tr "\\0" a); echo ready; while :; do :; done';

const host = detectCgroups();

/** Cpu time of a cgroup, ns, straight out of its file. */
function cpuNs(cgroup: string): number {
  if (host.version === 1) {
    return Number(readFileSync(join(host.mounts['cpuacct'] ?? '', cgroup, 'cpuacct.usage'), 'utf8'));
  }
  const stat = readFileSync(join(host.mounts[''] ?? '', cgroup, 'cpu.stat'), 'utf8');
  return Number(/^usage_usec (\d+)$/m.exec(stat)?.[1]) * 1000;
}

/** A pod with a busy container, an idle one and one that has ended, with a volume; and a provider beside it. */
async function busyPod(c: TestContainerd) {
  const podLogsDir = join(c.rootDir, 'pod-logs');
  const rootDir = join(c.rootDir, 'kubelet');
  const logDirectory = join(podLogsDir, `default_busy_${UID}`);
  for (const name of ['work', 'idle', 'done']) mkdirSync(join(logDirectory, name), { recursive: true });
  const data = join(rootDir, 'pods', UID, 'volumes', 'kubernetes.io~empty-dir', 'data');
  mkdirSync(data, { recursive: true });
  writeFileSync(join(data, 'file'), Buffer.alloc(20 * MIB, 1));
  const sandbox = await c.cri.runSandbox({ name: 'busy', uid: UID, cgroupParent: CGROUP, logDirectory });
  const work = await c.cri.runContainer(sandbox, 'work', ['sh', '-c', LOAD], 'work/0.log');
  const idle = await c.cri.runContainer(sandbox, 'idle', ['sleep', '100000'], 'idle/0.log');
  await c.cri.runContainer(sandbox, 'done', ['true'], 'done/0.log');
  const pod: Pod = {
    metadata: { name: 'busy', namespace: 'default', uid: UID },
    spec: { containers: [], volumes: [{ name: 'data', emptyDir: {} }] },
  };
  const cri = createCriClient({ endpoint: c.endpoint });
  const stats = new StatsProvider({
    node: { nodeName: 'one', pods: () => [pod] },
    ...{ cri, reader: createCgroupReader(host), log: pino({ level: 'silent' }), now: Date.now },
    config: kubeletConfigurationSchema.parse({ cgroupRoot: '/actorlet-test', podLogsDir }),
    featureGates: resolveFeatureGates({}).gates,
    flags: { rootDir, runtimeCgroups: '' },
  });
  // From here on it holds as much memory, and has as many processes, as it ever will.
  await waitFor('the busy container to be ready', () =>
    readFileSync(join(logDirectory, 'work', '0.log'), 'utf8').includes('ready') ? true : undefined,
  );
  return { stats, work, idle, data, sandbox, close: () => cri.close() };
}

function near(got: number | undefined, wanted: number, part: number, what: string): void {
  assert.ok(
    got !== undefined && Math.abs(got - wanted) <= wanted * part,
    `${what}: ${String(got)}, not near ${wanted}`,
  );
}

describe('stats of real containers', () => {
  it('agree with the cgroup files, the runtime and du', async () => {
    await withContainerd(async (c) => {
      const { stats, work, data, close } = await busyPod(c);
      try {
        // containerd measures layers each 10 s
        const seen = await waitFor('layer, log and memory to be told', async () => {
          const least = cpuNs(`${CGROUP}/${work}`);
          const summary = await stats.summary();
          const most = cpuNs(`${CGROUP}/${work}`);
          const pod = summary.pods.find(({ podRef }) => podRef.uid === UID);
          const container = pod?.containers.find(({ name }) => name === 'work');
          const there =
            (container?.rootfs?.usedBytes ?? 0) > 3 * MIB &&
            (container?.logs?.usedBytes ?? 0) > 0 &&
            (container?.memory?.rssBytes ?? 0) > 15 * MIB;
          return pod && container && there ? { summary, pod, container, least, most } : undefined;
        });
        const { summary, pod, container, least, most } = seen;
        assert.deepEqual(pod.containers.map(({ name }) => name).sort(), ['idle', 'work'], 'what has ended is not told');

        const used = container.cpu?.usageCoreNanoSeconds ?? 0;
        assert.ok(used >= least && used <= most, `${least} <= ${used} <= ${most}`);
        const rate = container.cpu?.usageNanoCores ?? 0;
        assert.ok(rate > 1e7 && rate < 1.2e9, `one busy thread: ${rate}`);
        assert.ok((pod.cpu?.usageCoreNanoSeconds ?? 0) >= used, 'a pod uses what its containers use');
        assert.ok((summary.node.cpu?.usageCoreNanoSeconds ?? 0) > used);
        assert.ok((pod.memory?.workingSetBytes ?? 0) >= (container.memory?.workingSetBytes ?? 0));

        const { stats: told } = await c.cri.call(RuntimeServiceService.containerStats, { containerId: work });
        near(container.memory?.workingSetBytes, Number(told?.memory?.workingSetBytes?.value), 0.2, 'working set');
        near(container.memory?.usageBytes, Number(told?.memory?.usageBytes?.value), 0.2, 'memory usage');
        assert.equal(container.rootfs?.usedBytes, Number(told?.writableLayer?.usedBytes?.value));
        assert.equal(container.rootfs?.inodesUsed, Number(told?.writableLayer?.inodesUsed?.value));
        assert.ok(Number(told?.cpu?.usageCoreNanoSeconds?.value) >= used, 'the runtime was asked later');

        const du = (flag: string) => Number.parseInt(execFileSync('du', [...flag.split(' '), data]).toString(), 10);
        assert.deepEqual(
          pod.volume?.map(({ name, usedBytes, inodesUsed }) => ({ name, usedBytes, inodesUsed })),
          [{ name: 'data', usedBytes: du('-sk') * 1024, inodesUsed: du('-s --inodes') }],
        );
        const sum = (of: (from: ContainerStats) => number | undefined) =>
          pod.containers.reduce((total, each) => total + (of(each) ?? 0), 0);
        assert.equal(
          pod['ephemeral-storage']?.usedBytes,
          sum(({ rootfs }) => rootfs?.usedBytes) +
            sum(({ logs }) => logs?.usedBytes) +
            (pod.volume?.[0]?.usedBytes ?? 0),
        );
        assert.equal(pod.network?.name, 'eth0');
        assert.equal(pod.process_stats?.process_count, 2, 'a shell and a sleep');
        assert.ok((summary.node.runtime?.imageFs.usedBytes ?? 0) > 0);
        assert.ok((summary.node.rlimit?.curproc ?? 0) > 0);
      } finally {
        close();
      }
    });
  });

  it('give metrics-server cpu and memory of every container, and forget what is gone', async () => {
    await withContainerd(async (c) => {
      const { stats, idle, sandbox, close } = await busyPod(c);
      try {
        const text = async () => resourceMetrics(await stats.cpuAndMemory(false));
        const of = (all: string, name: string, container: string) =>
          new RegExp(`^${name}\\{container="${container}",namespace="default",pod="busy"\\} (\\S+)`, 'm').exec(
            all,
          )?.[1];
        const all = await text();
        // metrics-server drops a container without both, or with a 0
        for (const container of ['work', 'idle']) {
          assert.ok(Number(of(all, 'container_cpu_usage_seconds_total', container)) > 0, all);
          assert.ok(Number(of(all, 'container_memory_working_set_bytes', container)) > 0, all);
        }
        const later = await waitFor('the busy container to use more', async () => {
          const now = await text();
          const grown =
            Number(of(now, 'container_cpu_usage_seconds_total', 'work')) >
            Number(of(all, 'container_cpu_usage_seconds_total', 'work'));
          return grown ? now : undefined;
        });
        assert.match(later, /^pod_cpu_usage_seconds_total\{namespace="default",pod="busy"\} /m);
        await c.cri.stopContainer(idle);
        assert.equal(of(await text(), 'container_cpu_usage_seconds_total', 'idle'), undefined);
        await c.cri.removeSandbox(sandbox.id);
        assert.doesNotMatch(await text(), /pod="busy"/);
      } finally {
        close();
      }
    });
  });
});
