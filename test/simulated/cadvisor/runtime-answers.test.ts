import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { createCadvisorMetrics } from '../../../actors/serve/cadvisor/create-cadvisor-metrics.ts';
import type { CgroupReader } from '../../../actors/resources/cgroup-stats/cgroup-reading.ts';
import type { CriClient } from '../../../cri/client/cri-client.ts';

const C = 'c'.repeat(64);
const S = 'd'.repeat(64);
const LABELS = { 'io.kubernetes.pod.name': 'web', 'io.kubernetes.pod.namespace': 'shop' };

/** A runtime with one pod; it counts its calls and fails when told to. */
function runtime() {
  const calls: string[] = [];
  const state = { down: false, images: [{ id: 'sha256:1', repoTags: ['reg.io/web:1'], repoDigests: [] }] };
  const answer = <T>(name: string, value: () => T) => {
    calls.push(name);
    return state.down ? Promise.reject(new Error('down')) : Promise.resolve(value());
  };
  const container = { id: C, imageRef: 'sha256:1', image: { image: 'sha256:1' } };
  const cri = {
    runtime: {
      listContainers: () =>
        answer('containers', () => ({
          containers: [{ ...container, labels: { ...LABELS, 'io.kubernetes.container.name': 'main' } }],
        })),
      listPodSandbox: () => answer('sandboxes', () => ({ items: [{ id: S, labels: LABELS }] })),
      podSandboxStatus: () => answer('status', () => ({ info: { info: '{"image":"reg.io/pause:1"}' } })),
    },
    image: { listImages: () => answer('images', () => ({ images: state.images })) },
  };
  return { calls, state, cri: cri as unknown as CriClient };
}

/** Cgroups `/k/podU`, its sandbox and its container, the latter with a scope's name. */
function cgroups() {
  const read: string[] = [];
  const reader: CgroupReader = {
    read: (cgroup) => {
      read.push(cgroup);
      return cgroup.endsWith('gone') ? null : { at: Date.now(), createdAt: 5000 };
    },
    tree: (from) => [from, '/k/podU', `/k/podU/${S}`, `/k/podU/cri-containerd-${C}.scope`, '/k/x.mount', '/k/gone'],
    firstPid: () => process.pid,
  };
  return { read, reader };
}

function setUp(maxAgeMs: number) {
  const { calls, state, cri } = runtime();
  const { read, reader } = cgroups();
  const pod = { metadata: { name: 'web', namespace: 'shop', uid: 'U' } };
  const metrics = createCadvisorMetrics({
    ...{ reader, cri, roots: ['/k'], pressure: false, maxAgeMs, log: pino({ level: 'silent' }) },
    node: { nodeName: 'n', pods: () => [pod], podNamed: () => undefined },
  });
  const seen = async () => {
    const lines = (await metrics.text()).split('\n');
    return lines.filter((line) => /^container_(start_time_seconds|scrape_error)[{ ]/.test(line));
  };
  return { calls, state, read, metrics, seen };
}

const EXPECTED = [
  'container_scrape_error 0',
  'container_start_time_seconds{container="",id="/",image="",name="",namespace="",pod=""} 5',
  'container_start_time_seconds{container="",id="/k",image="",name="",namespace="",pod=""} 5',
  'container_start_time_seconds{container="",id="/k/podU",image="",name="",namespace="shop",pod="web"} 5',
  `container_start_time_seconds{container="",id="/k/podU/${S}",image="reg.io/pause:1",name="${S}",namespace="shop",pod="web"} 5`,
  `container_start_time_seconds{container="main",id="/k/podU/cri-containerd-${C}.scope",image="reg.io/web:1",name="${C}",namespace="shop",pod="web"} 5`,
];

test('cgroups get the names of pod, sandbox and container; mounts and vanished ones do not come', async () => {
  const { seen, calls } = setUp(0);
  assert.deepEqual(await seen(), EXPECTED);
  assert.deepEqual(calls, ['containers', 'sandboxes', 'images', 'status']);
  await seen();
  // images and the pause image are asked for once
  assert.deepEqual(calls.slice(4), ['containers', 'sandboxes']);
});

test('a runtime that does not answer: scrape error, names known before', async () => {
  const { seen, state } = setUp(0);
  state.down = true;
  const nameless = await seen();
  assert.equal(nameless[0], 'container_scrape_error 1');
  assert.ok(nameless.some((line) => line.includes(`id="/k/podU/${S}",image="",name="",namespace="",pod=""`)));
  state.down = false;
  await seen();
  state.down = true;
  assert.deepEqual(await seen(), ['container_scrape_error 1', ...EXPECTED.slice(1)]);
});

test('measurements serve again while they are fresh; scrapes at the same time share one reading', async () => {
  const fresh = setUp(60_000);
  await fresh.seen();
  const first = fresh.read.length;
  await fresh.seen();
  // only what was gone is looked for again
  assert.deepEqual(fresh.read.slice(first), ['/k/gone']);
  const old = setUp(0);
  const [one, two] = await Promise.all([old.metrics.text(), old.metrics.text()]);
  assert.equal(one, two);
  assert.equal(old.calls.filter((name) => name === 'containers').length, 1);
});
