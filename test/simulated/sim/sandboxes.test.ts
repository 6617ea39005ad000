import assert from 'node:assert/strict';
import { test } from 'node:test';
import { status } from '@grpc/grpc-js';
import { ContainerState, NamespaceMode, PodSandboxState } from '../../../cri/generated/runtime/v1/api.ts';
import { bench, call, sandboxConfig } from './sim-client.ts';
import { until } from '../../tools/wait-for.ts';

test('a sandbox is ready, has an address of the range, and is listed', async (t) => {
  const b = await bench(t, { runtime: { podCIDRs: ['10.1.2.0/24', 'fd00::/64'] } });
  const before = BigInt(Date.now()) * 1_000_000n;
  const id = await b.sandbox('web', { annotations: { a: '1' } });
  assert.match(id, /^[0-9a-f]{64}$/);
  const { status: got, info } = await call(b.runtime, b.runtime.podSandboxStatus, { podSandboxId: id, verbose: true });
  assert.equal(got?.state, PodSandboxState.SANDBOX_READY);
  assert.deepEqual(got?.network, { ip: '10.1.2.2', additionalIps: [{ ip: 'fd00::2' }] });
  assert.deepEqual(got?.annotations, { a: '1' });
  assert.ok(BigInt(got?.createdAt ?? 0) >= before);
  assert.equal((JSON.parse(info['info'] ?? '') as { runtimeType: string }).runtimeType, 'simulated');
  const { items } = await call(b.runtime, b.runtime.listPodSandbox, {});
  assert.deepEqual(items, [
    {
      id,
      metadata: { name: 'web', namespace: 'default', uid: 'uid-web', attempt: 0 },
      state: PodSandboxState.SANDBOX_READY,
      createdAt: got?.createdAt,
      labels: sandboxConfig('web').labels,
      annotations: { a: '1' },
      runtimeHandler: '',
    },
  ]);
});

test('a host network sandbox has no address', async (t) => {
  const b = await bench(t);
  const linux = { securityContext: { namespaceOptions: { network: NamespaceMode.NODE } } };
  const podSandboxId = await b.sandbox('host', { linux });
  const { status: got } = await call(b.runtime, b.runtime.podSandboxStatus, { podSandboxId, verbose: false });
  assert.equal(got?.network?.ip, '');
  assert.equal(got?.linux?.namespaces?.options?.network, NamespaceMode.NODE);
});

test('a name is reserved from the begin of RunPodSandbox to RemovePodSandbox', async (t) => {
  const b = await bench(t, { delays: [{ match: { rpc: 'RunPodSandbox' }, takes: 100 }] });
  const first = b.sandbox('web');
  await until(() => b.sim.state.calls.inFlight > 0);
  await assert.rejects(b.sandbox('web'), (error: { code: number; details: string }) => {
    assert.equal(error.code, status.UNKNOWN);
    assert.match(
      error.details,
      /^failed to reserve sandbox name "web_default_uid-web_0": name ".*" is reserved for "[0-9a-f]{64}"$/,
    );
    return true;
  });
  const podSandboxId = await first;
  await call(b.runtime, b.runtime.stopPodSandbox, { podSandboxId });
  await assert.rejects(b.sandbox('web'), /is reserved for/);
  await call(b.runtime, b.runtime.removePodSandbox, { podSandboxId });
  assert.notEqual(await b.sandbox('web'), podSandboxId);
});

test('a caller who goes away during RunPodSandbox leaves no name and no address taken', async (t) => {
  const b = await bench(t, { delays: [{ match: { rpc: 'RunPodSandbox' }, takes: '10s' }] });
  const request = { config: sandboxConfig('web'), runtimeHandler: '' };
  await assert.rejects(call(b.runtime, b.runtime.runPodSandbox, request, 50), { code: status.DEADLINE_EXCEEDED });
  await until(() => b.sim.state.calls.inFlight === 0);
  assert.deepEqual(b.sim.state.addressesInUse, [0]);
  assert.equal(b.sim.state.sandboxes.size, 0);
  await assert.rejects(call(b.runtime, b.runtime.runPodSandbox, request, 50), { code: status.DEADLINE_EXCEEDED });
});

test('StopPodSandbox kills the containers, gives the address back and may be repeated', async (t) => {
  const b = await bench(t, { containers: [{ onStop: 'ignore' }] });
  const podSandboxId = await b.sandbox('web');
  const container = await b.run(podSandboxId, 'c');
  for (let i = 0; i < 2; i++) await call(b.runtime, b.runtime.stopPodSandbox, { podSandboxId });
  const { status: got } = await call(b.runtime, b.runtime.podSandboxStatus, { podSandboxId, verbose: false });
  assert.equal(got?.state, PodSandboxState.SANDBOX_NOTREADY);
  assert.equal(got?.network?.ip, '');
  assert.deepEqual(b.sim.state.addressesInUse, [0]);
  const exited = await b.status(container);
  assert.equal(exited.state, ContainerState.CONTAINER_EXITED);
  assert.equal(exited.exitCode, 137);
  await assert.rejects(b.create(podSandboxId, 'late'), { code: status.UNKNOWN });
});

test('RemovePodSandbox removes its containers; what is unknown is no error to stop and remove, but to look at', async (t) => {
  const b = await bench(t);
  const podSandboxId = await b.sandbox('web');
  await b.run(podSandboxId, 'c');
  for (let i = 0; i < 2; i++) await call(b.runtime, b.runtime.removePodSandbox, { podSandboxId });
  await call(b.runtime, b.runtime.stopPodSandbox, { podSandboxId });
  assert.equal(b.sim.state.containers.size, 0);
  assert.equal(b.sim.state.timers, 0);
  await assert.rejects(call(b.runtime, b.runtime.podSandboxStatus, { podSandboxId, verbose: false }), {
    code: status.NOT_FOUND,
    details: `an error occurred when try to find sandbox "${podSandboxId}": not found`,
  });
});

test('filters: id and its beginning, state, labels', async (t) => {
  const b = await bench(t);
  const a = await b.sandbox('a');
  const c = await b.sandbox('c', { labels: { 'io.kubernetes.pod.uid': 'uid-c', tier: 'x' } });
  await call(b.runtime, b.runtime.stopPodSandbox, { podSandboxId: a });
  const ids = async (filter: { id?: string; state?: { state: 0 | 1 }; labelSelector?: Record<string, string> }) => {
    const request = { filter: { id: '', labelSelector: {}, ...filter } };
    return (await call(b.runtime, b.runtime.listPodSandbox, request)).items.map((item) => item.id);
  };
  assert.deepEqual(await ids({}), [a, c]);
  assert.deepEqual(await ids({ id: a }), [a]);
  assert.deepEqual(await ids({ id: a.slice(0, 13) }), [a]);
  assert.deepEqual(await ids({ state: { state: PodSandboxState.SANDBOX_READY } }), [c]);
  assert.deepEqual(await ids({ labelSelector: { 'io.kubernetes.pod.uid': 'uid-a' } }), [a]);
  assert.deepEqual(await ids({ labelSelector: { 'io.kubernetes.pod.uid': 'uid-c', tier: 'y' } }), []);
  assert.deepEqual(await ids({ labelSelector: { tier: 'x' } }), [c]);
});

test('a sandbox dies by script, its containers with it', async (t) => {
  const b = await bench(t, { sandboxes: [{ match: { pod: 'frail' }, diesAfter: 30 }] });
  const frail = await b.sandbox('frail');
  const container = await b.run(frail, 'c');
  const firm = await b.sandbox('firm');
  await until(() => b.sim.state.sandboxes.get(frail)?.state === PodSandboxState.SANDBOX_NOTREADY);
  assert.equal(b.sim.state.sandboxes.get(firm)?.state, PodSandboxState.SANDBOX_READY);
  assert.equal((await b.status(container)).exitCode, 137);
});

test('a sandbox dies and its containers live on, when a test says so', async (t) => {
  const b = await bench(t);
  const id = await b.sandbox('web');
  const container = await b.run(id, 'c');
  b.sim.exitSandbox(id, { killsContainers: false });
  assert.equal(b.sim.state.sandboxes.get(id)?.state, PodSandboxState.SANDBOX_NOTREADY);
  assert.equal((await b.status(container)).state, ContainerState.CONTAINER_RUNNING);
});

test('the address range runs out, and a freed address is given again', async (t) => {
  const b = await bench(t, { runtime: { podCIDRs: ['10.0.0.0/30'] } });
  const podSandboxId = await b.sandbox('one');
  await assert.rejects(b.sandbox('two'), /no IP addresses available in range set: 10.0.0.0\/30/);
  await call(b.runtime, b.runtime.removePodSandbox, { podSandboxId });
  const again = await b.sandbox('two');
  assert.deepEqual(b.sim.state.sandboxes.get(again)?.ips, ['10.0.0.2']);
});

test('an unknown runtime handler is refused', async (t) => {
  const b = await bench(t, { runtime: { handlers: [{ name: '' }, { name: 'kata' }] } });
  const ask = (runtimeHandler: string) =>
    call(b.runtime, b.runtime.runPodSandbox, { config: sandboxConfig(`p-${runtimeHandler}`), runtimeHandler });
  await ask('kata');
  await assert.rejects(ask('none'), /no runtime for "none" is configured/);
});
