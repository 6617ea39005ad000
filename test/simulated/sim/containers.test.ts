import assert from 'node:assert/strict';
import { test } from 'node:test';
import { status } from '@grpc/grpc-js';
import { ContainerState, LinuxContainerResources, Signal } from '../../../cri/generated/runtime/v1/api.ts';
import { bench, call, containerConfig } from './sim-client.ts';
import { until } from '../../tools/wait-for.ts';

test('a container goes CREATED, RUNNING, EXITED with times in order', async (t) => {
  const b = await bench(t);
  const sandbox = await b.sandbox('web');
  const id = await b.create(sandbox, 'c', { annotations: { k: 'v' } });
  const created = await b.status(id);
  assert.equal(created.state, ContainerState.CONTAINER_CREATED);
  assert.deepEqual([created.startedAt, created.finishedAt], ['0', '0']);
  await call(b.runtime, b.runtime.startContainer, { containerId: id });
  const running = await b.status(id);
  assert.equal(running.state, ContainerState.CONTAINER_RUNNING);
  assert.ok(BigInt(running.startedAt) > BigInt(running.createdAt));
  b.sim.exitContainer(id, 3);
  const exited = await b.status(id);
  assert.equal(exited.state, ContainerState.CONTAINER_EXITED);
  assert.ok(BigInt(exited.finishedAt) > BigInt(exited.startedAt));
  assert.deepEqual([exited.exitCode, exited.reason], [3, 'Error']);
  assert.deepEqual(exited.annotations, { k: 'v' });
  assert.equal(exited.image?.image, 'docker.io/library/busybox:latest');
  assert.match(exited.imageRef, /^docker.io\/library\/busybox@sha256:[0-9a-f]{64}$/);
  assert.match(exited.imageId, /^sha256:[0-9a-f]{64}$/);
  await assert.rejects(
    call(b.runtime, b.runtime.startContainer, { containerId: id }),
    /container is in CONTAINER_EXITED state/,
  );
});

test('each attempt ends as the script says, the last entry goes on', async (t) => {
  const attempts = [{ exit: { code: 1 } }, { exit: { after: 20, code: 0, message: 'bye' } }, { runs: true as const }];
  const b = await bench(t, { containers: [{ match: { container: 'c' }, attempts }] });
  const sandbox = await b.sandbox('web');
  const ids: string[] = [];
  for (const attempt of [0, 1, 2, 7]) ids.push(await b.run(sandbox, 'c', { metadata: { name: 'c', attempt } }));
  const state = (i: number) => b.sim.state.containers.get(ids[i] ?? '')?.state;
  await until(() => state(0) === ContainerState.CONTAINER_EXITED && state(1) === ContainerState.CONTAINER_EXITED);
  const [first, second] = [await b.status(ids[0] ?? ''), await b.status(ids[1] ?? '')];
  assert.deepEqual([first.exitCode, first.reason], [1, 'Error']);
  assert.deepEqual([second.exitCode, second.reason, second.message], [0, 'Completed', 'bye']);
  assert.deepEqual([state(2), state(3)], [ContainerState.CONTAINER_RUNNING, ContainerState.CONTAINER_RUNNING]);
});

test('OOMKilled and other reasons come from the script', async (t) => {
  const b = await bench(t, { containers: [{ attempts: [{ exit: { code: 137, reason: 'OOMKilled' } }] }] });
  const id = await b.run(await b.sandbox('web'), 'c');
  await until(async () => (await b.status(id)).reason === 'OOMKilled');
});

test('a start that fails leaves an exited container with StartError and 128', async (t) => {
  const b = await bench(t, { containers: [{ attempts: [{ startError: 'exec: "nope": not found' }] }] });
  const id = await b.create(await b.sandbox('web'), 'c');
  await assert.rejects(call(b.runtime, b.runtime.startContainer, { containerId: id }), {
    details: 'exec: "nope": not found',
  });
  const got = await b.status(id);
  assert.deepEqual([got.state, got.exitCode, got.reason], [ContainerState.CONTAINER_EXITED, 128, 'StartError']);
});

test('SIGTERM: 143 at once, or as the script says; a stop may be repeated', async (t) => {
  const b = await bench(t, { containers: [{ match: { container: 'slow' }, onStop: { after: 30, code: 0 } }] });
  const sandbox = await b.sandbox('web');
  const [quick, slow] = [await b.run(sandbox, 'quick'), await b.run(sandbox, 'slow')];
  await Promise.all([b.stop(quick, 30), b.stop(slow, 30)]);
  assert.equal((await b.status(quick)).exitCode, 143);
  assert.equal((await b.status(slow)).exitCode, 0);
  await b.stop(quick, 30);
  await b.stop('f'.repeat(64), 30);
  const usr1 = await b.run(sandbox, 'usr1', { stopSignal: Signal.SIGUSR1 });
  await b.stop(usr1, 30);
  assert.equal((await b.status(usr1)).exitCode, 128 + 10);
});

test('a container that ignores SIGTERM gets SIGKILL after the grace period, and at once without one', async (t) => {
  const b = await bench(t, { containers: [{ onStop: 'ignore' }] });
  const sandbox = await b.sandbox('web');
  const [a, c] = [await b.run(sandbox, 'a'), await b.run(sandbox, 'c')];
  const from = process.hrtime.bigint();
  await b.stop(a, 1);
  assert.ok(process.hrtime.bigint() - from >= 990_000_000n);
  assert.equal((await b.status(a)).exitCode, 137);
  await b.stop(c, 0);
  assert.equal((await b.status(c)).exitCode, 137);
});

test('a caller who goes during the grace period leaves the container running; a shorter second stop ends it', async (t) => {
  const b = await bench(t, { containers: [{ onStop: 'ignore' }] });
  const id = await b.run(await b.sandbox('web'), 'c');
  await assert.rejects(b.stop(id, 60, 50), { code: status.DEADLINE_EXCEEDED });
  await until(() => b.sim.state.calls.inFlight === 0);
  assert.equal((await b.status(id)).state, ContainerState.CONTAINER_RUNNING);
  const long = b.stop(id, 60);
  await b.stop(id, 0);
  await long;
  assert.equal((await b.status(id)).exitCode, 137);
});

test('a running container that is removed is killed; removing twice is no error; then it is NotFound', async (t) => {
  const b = await bench(t);
  const sandbox = await b.sandbox('web');
  const containerId = await b.run(sandbox, 'c');
  for (let i = 0; i < 2; i++) await call(b.runtime, b.runtime.removeContainer, { containerId });
  await assert.rejects(b.status(containerId), {
    code: status.NOT_FOUND,
    details: `an error occurred when try to find container "${containerId}": not found`,
  });
  await assert.rejects(call(b.runtime, b.runtime.startContainer, { containerId }), { code: status.NOT_FOUND });
  await b.create(sandbox, 'c');
});

test('a container name is reserved until the container is removed', async (t) => {
  const b = await bench(t);
  const sandbox = await b.sandbox('web');
  const id = await b.create(sandbox, 'c');
  await assert.rejects(b.create(sandbox, 'c'), (error: { code: number; details: string }) => {
    assert.equal(error.code, status.UNKNOWN);
    const name = 'c_web_default_uid-web_0';
    assert.equal(error.details, `failed to reserve container name "${name}": name "${name}" is reserved for "${id}"`);
    return true;
  });
  await b.create(sandbox, 'c', { metadata: { name: 'c', attempt: 1 } });
});

test('CreateContainer needs a sandbox and an image that is there', async (t) => {
  const b = await bench(t, { images: [] });
  await assert.rejects(b.create('0'.repeat(64), 'c'), { code: status.NOT_FOUND });
  const sandbox = await b.sandbox('web');
  await assert.rejects(b.create(sandbox, 'c'), { details: 'failed to resolve image "busybox": not found' });
  const pulled = await call(b.images, b.images.pullImage, { image: containerConfig('c').image });
  await b.create(sandbox, 'c', { image: { image: pulled.imageRef } });
});

test('filters: id, state, sandbox, labels and all together', async (t) => {
  const b = await bench(t);
  const [one, two] = [await b.sandbox('one'), await b.sandbox('two')];
  const label = (uid: string) => ({ labels: { 'io.kubernetes.pod.uid': uid } });
  const a = await b.run(one, 'a', label('uid-one'));
  const c = await b.create(one, 'c', label('uid-one'));
  const d = await b.run(two, 'd', label('uid-two'));
  const ids = async (filter: {
    id?: string;
    podSandboxId?: string;
    state?: { state: ContainerState };
    labelSelector?: Record<string, string>;
  }) => {
    const request = { filter: { id: '', podSandboxId: '', labelSelector: {}, ...filter } };
    return (await call(b.runtime, b.runtime.listContainers, request)).containers.map((each) => each.id);
  };
  const running = { state: ContainerState.CONTAINER_RUNNING };
  assert.deepEqual(await ids({}), [a, c, d]);
  assert.deepEqual(await ids({ id: c.slice(0, 12) }), [c]);
  assert.deepEqual(await ids({ id: d, podSandboxId: one }), []);
  assert.deepEqual(await ids({ podSandboxId: one }), [a, c]);
  assert.deepEqual(await ids({ podSandboxId: one, state: running }), [a]);
  assert.deepEqual(await ids({ state: running }), [a, d]);
  assert.deepEqual(await ids({ labelSelector: { 'io.kubernetes.pod.uid': 'uid-one' } }), [a, c]);
  assert.deepEqual(await ids({ podSandboxId: 'f'.repeat(64) }), []);
  b.sim.exitContainer(a, 0);
  assert.deepEqual(await ids({ state: running }), [d]);
  const { containers } = await call(b.runtime, b.runtime.listContainers, {});
  assert.equal(containers[0]?.state, ContainerState.CONTAINER_EXITED);
});

test('resources are as created, then as updated; verbose status has the config', async (t) => {
  const b = await bench(t);
  const resources = { cpuShares: '100', memoryLimitInBytes: '1000' };
  const containerId = await b.run(await b.sandbox('web'), 'c', { linux: { resources } });
  const linux = LinuxContainerResources.fromPartial({ cpuShares: '200' });
  await call(b.runtime, b.runtime.updateContainerResources, { containerId, linux, annotations: {} });
  const got = (await b.status(containerId)).resources?.linux;
  assert.deepEqual([got?.cpuShares, got?.memoryLimitInBytes], ['200', '1000']);
  const verbose = await call(b.runtime, b.runtime.containerStatus, { containerId, verbose: true });
  const info = JSON.parse(verbose.info['info'] ?? '') as { config: { metadata: { name: string } } };
  assert.equal(info.config.metadata.name, 'c');
});
