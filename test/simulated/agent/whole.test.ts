import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { freePorts } from '../../../bin/demo-steps/free-ports.ts';
import { bench, containerOf, IMAGE, manifest, running, until } from './support/bench.ts';

test('pods from a URL with headers: added, changed and removed', async (t) => {
  const asked: string[][] = [];
  let answer = JSON.stringify({ apiVersion: 'v1', kind: 'PodList', items: [manifest('a'), manifest('b')] });
  const server = createServer((request, response) => {
    asked.push([String(request.headers['x-token']), String(request.headers['x-many'])]);
    response.end(answer);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const b = await bench(t, {
    config: {
      staticPodURL: `http://127.0.0.1:${port}/pods`,
      staticPodURLHeader: { 'X-Token': ['secret-token'], 'X-Many': ['one', 'two'] },
      httpCheckFrequency: 200,
    },
  });
  await running(b, 2);
  assert.deepEqual(asked[0], ['secret-token', 'one, two']);
  const first = containerOf(b.sim, 'a')?.id;
  answer = JSON.stringify({ apiVersion: 'v1', kind: 'PodList', items: [manifest('a'), manifest('c')] });
  await until('b to go and c to come', async () => {
    const names = (await b.agent.rows()).filter((r) => r.state === 'syncing.running').map((r) => r.name);
    return names.sort().join() === 'a-node,c-node' && b.sim.state.sandboxes.size === 2;
  });
  assert.equal(containerOf(b.sim, 'a')?.id, first);
  const pod = (await b.agent.pods()).find((p) => p.metadata?.name === 'a-node');
  assert.equal(pod?.metadata?.annotations?.['kubernetes.io/config.source'], 'http');
});

test('image pull policies and back-off', async (t) => {
  const script = {
    images: [
      { image: IMAGE, present: true },
      { image: 'registry.example/flaky:1', pull: { fail: { code: 'Unknown', message: 'registry is down' }, times: 1 } },
    ],
  } as const;
  const b = await bench(t, { script: { images: script.images.map((image) => ({ ...image })) } });
  const calls = b.sim.state.calls;
  await b.put('present.yaml', manifest('present', {}, { imagePullPolicy: 'IfNotPresent' }));
  await running(b, 1);
  assert.equal(calls.count('PullImage'), 0);
  await b.put('always.yaml', manifest('always', {}, { imagePullPolicy: 'Always' }));
  await running(b, 2);
  assert.equal(calls.count('PullImage'), 1);
  await b.put('never.yaml', manifest('never', {}, { image: 'registry.example/absent:1', imagePullPolicy: 'Never' }));
  await until('ErrImageNeverPull', async () =>
    (await b.agent.pods()).some(
      (p) => p.status?.containerStatuses?.[0]?.state?.waiting?.reason === 'ErrImageNeverPull',
    ),
  );
  await b.put('flaky.yaml', manifest('flaky', {}, { image: 'registry.example/flaky:1' }));
  await until('the back-off', async () =>
    (await b.agent.rows()).some((r) => r.name === 'flaky-node' && r.state === 'syncing.imageBackOff'),
  );
  const flaky = (await b.agent.pods()).find((p) => p.metadata?.name === 'flaky-node');
  const waiting = flaky?.status?.containerStatuses?.[0]?.state?.waiting;
  assert.match(waiting?.reason ?? '', /^(ErrImagePull|ImagePullBackOff)$/);
  assert.match(waiting?.message ?? '', /registry is down|Back-off pulling image/);
  await running(b, 1, (name) => name === 'flaky-node');
  assert.equal(calls.count('PullImage'), 3);
  const reasons = (await b.agent.events()).filter((e) => e.name === 'flaky-node').map((e) => e.reason);
  for (const reason of ['Pulling', 'Failed', 'Pulled', 'Created', 'Started'])
    assert.ok(reasons.includes(reason), reason);
});

test('probes follow what their commands say: not ready, ready, and a restart when no longer live', async (t) => {
  const b = await bench(t);
  const exec = (word: string, failureThreshold: number) => ({
    exec: { command: [word] },
    periodSeconds: 1,
    failureThreshold,
  });
  b.sim.setExec({ match: { pod: 'p-node' }, command: 'ready', results: [{ code: 1 }] });
  b.sim.setExec({ match: { pod: 'p-node' }, command: 'live', results: [{ code: 0 }] });
  await b.put('p.yaml', manifest('p', {}, { readinessProbe: exec('ready', 1), livenessProbe: exec('live', 2) }));
  const state = async () => (await b.agent.rows())[0]?.state;
  await until('not ready', async () => (await state()) === 'syncing.waitingForReadiness');
  b.sim.setExec({ match: { pod: 'p-node' }, command: 'ready', results: [{ code: 0 }] });
  await until('ready', async () => (await state()) === 'syncing.running');
  const ready = (await b.agent.pods())[0]?.status?.conditions?.find((c) => c.type === 'Ready');
  assert.equal(ready?.status, 'True');
  b.sim.setExec({ match: { pod: 'p-node' }, command: 'live', results: [{ code: 1 }, { code: 1 }, { code: 0 }] });
  await until('a restart', async () => (await b.agent.rows())[0]?.restarts === 1, { agent: b.agent });
  await until('ready again', async () => (await state()) === 'syncing.running');
  const reasons = (await b.agent.events()).map((e) => e.reason);
  assert.ok(reasons.includes('Unhealthy') && reasons.includes('Killing'));
});

test('`actorlet pods`, /healthz, /pods and /metrics of a live agent', async (t) => {
  const [healthzPort = 0, readOnlyPort = 0] = await freePorts(2);
  const b = await bench(t, {
    config: { healthzPort, readOnlyPort, healthzBindAddress: '127.0.0.1', address: '127.0.0.1' },
  });
  await b.put(
    'p.yaml',
    manifest('a'),
    manifest('b'),
    manifest('c', { containers: [{ name: 'c', image: 'x', imagePullPolicy: 'Never' }] }),
  );
  await running(b, 2);
  const get = async (port: number, path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    return { status: response.status, text: await response.text() };
  };
  assert.deepEqual(await get(healthzPort, '/healthz'), { status: 200, text: 'ok' });
  const list = JSON.parse((await get(readOnlyPort, '/pods')).text) as {
    kind: string;
    items: { metadata: { name: string } }[];
  };
  assert.deepEqual(
    [list.kind, list.items.map((p) => p.metadata.name).sort()],
    ['PodList', ['a-node', 'b-node', 'c-node']],
  );
  // The gauges are of one relist, which may have begun before the containers ran; what workers count comes each second.
  const wanted = [
    /^kubelet_running_pods 3$/m,
    /^kubelet_running_containers\{container_state="running"\} 2$/m,
    /^kubelet_runtime_operations_total\{operation_type="run_podsandbox"\} 3$/m,
  ];
  const metrics = await until('gauges and counters', async () => {
    const { text } = await get(readOnlyPort, '/metrics');
    return wanted.every((line) => line.test(text)) ? text : null;
  });
  assert.match(metrics, /^kubelet_pleg_relist_duration_seconds_count \d+$/m);
  assert.match(metrics, /^kubelet_node_name\{node="node"\} 1$/m);

  const main = join(import.meta.dirname, '../../../bin/actorlet.ts');
  const child = spawn(process.execPath, [main, 'pods', '--server', `http://127.0.0.1:${readOnlyPort}`]);
  let table = '';
  child.stdout.on('data', (data: Buffer) => (table += data.toString()));
  const code = await new Promise((resolve) => child.once('close', resolve));
  assert.equal(code, 0);
  const lines = table.trimEnd().split('\n');
  assert.equal(lines.length, 4);
  assert.match(lines[0] ?? '', /^POD +PHASE +STATE +RESTARTS +IP +AGE +WHY$/);
  assert.match(lines[1] ?? '', /^default\/a-node +Running +syncing\.running +0 +10\.88\./);
  assert.match(lines[3] ?? '', /^default\/c-node +Pending +syncing\.\w+.*ErrImageNeverPull/);
});
