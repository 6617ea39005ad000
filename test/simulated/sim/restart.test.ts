import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { status } from '@grpc/grpc-js';
import { ContainerState, PodSandboxState } from '../../../cri/generated/runtime/v1/api.ts';
import { bench, call, listen, sandboxConfig } from './sim-client.ts';
import { until } from '../../tools/wait-for.ts';

test('a restart drops connections and calls, takes the socket away, and the containers live on', async (t) => {
  const b = await bench(t, {
    containers: [{ match: { container: 'brief' }, attempts: [{ exit: { after: 40, code: 5 } }] }],
  });
  const sandbox = await b.sandbox('web');
  const id = await b.run(sandbox, 'c');
  const events = listen(b.runtime);
  await events.opened;
  b.sim.hang({ match: { rpc: 'Version' } });
  const lost = call(b.runtime, b.runtime.version, { version: '' });
  await until(() => b.sim.state.hanging === 1);
  const brief = await b.run(sandbox, 'brief');
  const back = b.sim.restart({ downMs: 1_500 });
  await assert.rejects(lost, (error: { code: number }) => [status.UNAVAILABLE, status.CANCELLED].includes(error.code));
  assert.ok([status.UNAVAILABLE, status.CANCELLED].includes((await events.error).code));
  assert.equal(existsSync(b.sim.socket), false);
  await assert.rejects(b.status(id), { code: status.UNAVAILABLE });
  await back;
  assert.equal(existsSync(b.sim.socket), true);
  b.runtime.getChannel().getConnectivityState(true);
  await until(() =>
    b.status(id).then(
      () => true,
      () => false,
    ),
  );
  assert.equal((await b.status(id)).state, ContainerState.CONTAINER_RUNNING);
  assert.deepEqual([(await b.status(brief)).exitCode, b.sim.state.hanging], [5, 0]);
  assert.equal(b.sim.state.calls.inFlight, 0);
});

test('a restart that loses the containers: sandboxes not ready, what ran exited with 255, Unknown', async (t) => {
  const b = await bench(t);
  const podSandboxId = await b.sandbox('web');
  const id = await b.run(podSandboxId, 'c');
  const created = await b.create(podSandboxId, 'd');
  await b.sim.restart({ keepContainers: false });
  await until(() =>
    b.status(id).then(
      () => true,
      () => false,
    ),
  );
  const got = await b.status(id);
  assert.deepEqual([got.state, got.exitCode, got.reason], [ContainerState.CONTAINER_EXITED, 255, 'Unknown']);
  assert.equal((await b.status(created)).state, ContainerState.CONTAINER_CREATED);
  assert.equal(b.sim.state.sandboxes.get(podSandboxId)?.state, PodSandboxState.SANDBOX_NOTREADY);
});

test('a sandbox in the making when the runtime goes leaves nothing taken', async (t) => {
  const b = await bench(t, { delays: [{ match: { rpc: 'RunPodSandbox' }, takes: 200 }] });
  const request = { config: sandboxConfig('web'), runtimeHandler: '' };
  const lost = assert.rejects(call(b.runtime, b.runtime.runPodSandbox, request));
  await until(() => b.sim.state.calls.inFlight === 1);
  await b.sim.restart();
  await lost;
  assert.deepEqual([b.sim.state.sandboxes.size, b.sim.state.addressesInUse], [0, [0]]);
  await until(() =>
    call(b.runtime, b.runtime.runPodSandbox, request).then(
      () => true,
      () => false,
    ),
  );
});

test('a restart by script comes and is over', async (t) => {
  const b = await bench(t, { runtime: { restarts: [{ at: 10, down: 40 }] } });
  await until(() => b.sim.state.timers === 0 && existsSync(b.sim.socket));
});

test('restarts by script that come close together, as on a busy machine: none is lost; stopping while it is down ends it all', async (t) => {
  const b = await bench(t, {
    runtime: {
      restarts: [
        { at: 10, down: 5 },
        { at: 12, down: 5 },
        { at: 14, down: '1h' },
      ],
    },
  });
  await until(() => b.sim.state.timers === 1 && !existsSync(b.sim.socket));
  await b.sim.stop();
  assert.equal(b.sim.state.timers, 0);
  assert.equal(existsSync(b.sim.socket), false);
});

test('a restart that is asked for while it is away, or on its way back, keeps it away for the longer time', async (t) => {
  const b = await bench(t);
  const first = b.sim.restart({ downMs: 3_600_000 });
  const shorter = b.sim.restart();
  assert.equal(existsSync(b.sim.socket), false);
  await b.sim.stop();
  await Promise.all([first, shorter]);

  const c = await bench(t);
  let back = false;
  const brief = c.sim.restart().then(() => (back = true));
  // while its socket is being opened: that is when the file is there and nobody was told yet
  while (!existsSync(c.sim.socket) && !back) await new Promise((resolve) => setImmediate(resolve));
  const long = c.sim.restart({ downMs: 3_600_000 });
  await until(() => !existsSync(c.sim.socket));
  await c.sim.stop();
  await Promise.all([brief, long]);
  assert.equal(existsSync(c.sim.socket), false);
});

test('stopped while it is on its way back: nothing listens afterwards', async (t) => {
  const b = await bench(t);
  const back = b.sim.restart();
  await new Promise((resolve) => setTimeout(resolve, 1));
  await b.sim.stop();
  await back;
  assert.equal(existsSync(b.sim.socket), false);
});
