import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { pino } from 'pino';
import { createCadvisorMetrics } from '../../../actors/serve/cadvisor/create-cadvisor-metrics.ts';
import { createCgroupReader } from '../../../actors/resources/cgroup-stats/create-cgroup-reader.ts';
import { detectCgroups } from '../../../actors/host/cgroups/cgroup-detect.ts';
import { createCriClient } from '../../../cri/client/cri-client.ts';
import { ContainerConfig, RuntimeServiceService } from '../../../cri/generated/runtime/v1/api.ts';
import { BUSYBOX_IMAGE, PAUSE_IMAGE } from '../../../cri/private-containerd/own-images.ts';
import { waitFor } from '../../tools/wait-for.ts';
import { withContainerd } from '../support/with-containerd.ts';
import { parseText } from './support/parse-text.ts';
import type { TestContainerd } from '../support/with-containerd.ts';
import type { Family, Sample } from './support/parse-text.ts';

const reference = JSON.parse(readFileSync(new URL('./reference-families.json', import.meta.url), 'utf8')) as {
  families: Family[];
  elsewhere: Family[];
};

const UID = '11111111-2222-3333-4444-555555555555';
const POD = { 'io.kubernetes.pod.name': 'busy', 'io.kubernetes.pod.namespace': 'default' };
/** Uses CPU up to its quota; writes a file; talks to the gateway, which refuses. */
const LOAD = `while :; do :; done &
i=0; while :; do i=$((i+1)); head -c 1000000 /dev/zero > /tmp/f$((i%4)); nc -w 1 $(ip route | awk '/default/ {print $3}') 9 < /dev/null; sleep 0.2; done`;

test('a pod under load: the series of the reference, values of the kernel, counters that grow', async () => {
  const root = `/actorlet-test/cadvisor-${process.pid}`;
  await withContainerd(async (containerd) => {
    const parent = `${root}/pod${UID}`;
    const { sandbox, container } = await runLoad(containerd, parent);
    const cri = createCriClient({ endpoint: containerd.endpoint });
    try {
      const host = detectCgroups();
      const metrics = createCadvisorMetrics({
        ...{ reader: createCgroupReader(host), cri, roots: [root], pressure: true, maxAgeMs: 0 },
        log: pino({ level: 'silent' }),
        node: {
          nodeName: 'n',
          pods: () => [{ metadata: { name: 'busy', namespace: 'default', uid: UID } }],
          podNamed: () => undefined,
        },
      });
      const scrape = async () => parseText(await metrics.text());

      // its shell has begun to work
      const first = await waitFor('the processes of the container', async () => {
        const { families, samples } = await scrape();
        const id = `${parent}/${container}`;
        const counted = samples.find((one) => one.name === 'container_processes' && one.labels['id'] === id);
        return (counted?.value ?? 0) >= 2 ? { families, samples } : undefined;
      });
      sameFamilies(first.families);

      const of = (samples: Sample[], name: string, id: string, more: Record<string, string> = {}): Sample => {
        const found = samples.filter(
          (one) =>
            one.name === name &&
            one.labels['id'] === id &&
            Object.entries(more).every(([key, value]) => one.labels[key] === value),
        );
        assert.equal(found.length, 1, `${name} of ${id}`);
        return found[0] as Sample;
      };
      const [podId, sandboxId, containerId] = [parent, `${parent}/${sandbox}`, `${parent}/${container}`];
      const identity = (id: string) => {
        const {
          container: name,
          image,
          name: runtimeId,
          namespace,
          pod,
        } = of(first.samples, 'container_last_seen', id).labels;
        return { container: name, image, name: runtimeId, namespace, pod };
      };
      const pod = { namespace: 'default', pod: 'busy' };
      assert.deepEqual(identity(podId), { container: '', image: '', name: '', ...pod });
      assert.deepEqual(identity(sandboxId), { container: '', image: PAUSE_IMAGE, name: sandbox, ...pod });
      assert.deepEqual(identity(containerId), { container: 'load', image: BUSYBOX_IMAGE, name: container, ...pod });

      // what was asked for
      assert.equal(of(first.samples, 'container_spec_cpu_quota', containerId).value, 20_000);
      assert.equal(of(first.samples, 'container_spec_cpu_period', containerId).value, 100_000);
      assert.equal(of(first.samples, 'container_spec_memory_limit_bytes', containerId).value, 64 * 1024 * 1024);
      const started = of(first.samples, 'container_start_time_seconds', containerId).value;
      assert.ok(Math.abs(Date.now() / 1000 - started) < 60, String(started));

      const networks = first.samples.filter((one) => one.name === 'container_network_receive_bytes_total');
      assert.ok(networks.some((one) => one.labels['id'] === '/'));
      assert.ok(!networks.some((one) => one.labels['id'] === containerId || one.labels['id'] === podId));
      assert.equal(of(first.samples, 'container_network_receive_bytes_total', sandboxId).labels['interface'], 'eth0');

      // between two looks at the kernel's own files
      const used = () => usedCpuSeconds(host.mounts, containerId);
      const before = used();
      const second = await scrape();
      const told = of(second.samples, 'container_cpu_usage_seconds_total', containerId, { cpu: 'total' }).value;
      assert.ok(before <= told && told <= used(), `${before} <= ${told}`);

      const grows = (later: { samples: Sample[] }, name: string, id: string) => {
        const [from, to] = [of(first.samples, name, id), of(later.samples, name, id)];
        assert.ok(to.value > from.value, `${name} of ${id}: ${from.value} -> ${to.value}`);
        assert.ok((to.at ?? 0) > (from.at ?? 0), `${name}: times`);
      };
      // a busy machine gives it less than its quota at times, so that it is not throttled
      await waitFor('counters that grow', async () => {
        const later = await scrape();
        for (const id of [containerId, podId, root, '/']) grows(later, 'container_cpu_usage_seconds_total', id);
        grows(later, 'container_cpu_cfs_throttled_periods_total', containerId);
        grows(later, 'container_network_transmit_packets_total', sandboxId);
        return true;
      });

      await containerd.cri.stopContainer(container);
      await waitFor('the container to be gone', async () =>
        (await scrape()).samples.some((one) => one.labels['id'] === containerId) ? undefined : true,
      );
    } finally {
      cri.close();
    }
  });
});

/** A sandbox with cgroups below `parent` and a container with limits in it. */
async function runLoad({ cri }: TestContainerd, parent: string): Promise<{ sandbox: string; container: string }> {
  const made = await cri.runSandbox({ name: 'busy', uid: UID, cgroupParent: parent, labels: POD });
  const config = ContainerConfig.fromPartial({
    metadata: { name: 'load', attempt: 0 },
    image: { image: BUSYBOX_IMAGE },
    command: ['sh', '-c', LOAD],
    labels: { ...POD, 'io.kubernetes.container.name': 'load' },
    linux: {
      resources: { cpuQuota: '20000', cpuPeriod: '100000', memoryLimitInBytes: String(64 * 1024 * 1024) },
      securityContext: { namespaceOptions: { network: 0, pid: 1, ipc: 0 } },
    },
  });
  const { containerId } = await cri.call(RuntimeServiceService.createContainer, {
    podSandboxId: made.id,
    config,
    sandboxConfig: made.config,
  });
  await cri.call(RuntimeServiceService.startContainer, { containerId });
  return { sandbox: made.id, container: containerId };
}

/** All families of the reference, in its order and with its words; further ones only of those that depend on the machine. */
function sameFamilies(ours: Family[]): void {
  const known = new Map([...reference.families, ...reference.elsewhere].map((one) => [one.name, one]));
  for (const family of ours) assert.deepEqual(family, known.get(family.name), family.name);
  const names = ours.map((one) => one.name);
  for (const { name } of reference.families) assert.ok(names.includes(name), `missing: ${name}`);
  assert.deepEqual(names, [...names].sort());
}

/** CPU time of a cgroup by its own file. */
function usedCpuSeconds(mounts: Record<string, string>, cgroup: string): number {
  const v1 = mounts['cpuacct'];
  if (v1 !== undefined) return Number(readFileSync(`${v1}${cgroup}/cpuacct.usage`, 'utf8')) / 1e9;
  const text = readFileSync(`${mounts['']}${cgroup}/cpu.stat`, 'utf8');
  return Number(/^usage_usec (\d+)/m.exec(text)?.[1]) / 1e6;
}
