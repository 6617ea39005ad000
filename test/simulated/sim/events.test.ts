import assert from 'node:assert/strict';
import { test } from 'node:test';
import { status } from '@grpc/grpc-js';
import { ContainerEventType, ContainerState, PodSandboxState } from '../../../cri/generated/runtime/v1/api.ts';
import { bench, call, listen } from './sim-client.ts';
import { until } from '../../tools/wait-for.ts';

const { CONTAINER_CREATED_EVENT, CONTAINER_STARTED_EVENT, CONTAINER_STOPPED_EVENT, CONTAINER_DELETED_EVENT } =
  ContainerEventType;

test('the life of a pod as events, to every listener', async (t) => {
  const b = await bench(t);
  const [one, two] = [listen(b.runtime), listen(b.runtime)];
  await Promise.all([one.opened, two.opened]);
  const sandbox = await b.sandbox('web');
  const container = await b.run(sandbox, 'c');
  b.sim.exitContainer(container, 4);
  await call(b.runtime, b.runtime.removePodSandbox, { podSandboxId: sandbox });
  const expected = [
    [sandbox, CONTAINER_CREATED_EVENT],
    [sandbox, CONTAINER_STARTED_EVENT],
    [container, CONTAINER_CREATED_EVENT],
    [container, CONTAINER_STARTED_EVENT],
    [container, CONTAINER_STOPPED_EVENT],
    [sandbox, CONTAINER_STOPPED_EVENT],
    [container, CONTAINER_DELETED_EVENT],
    [sandbox, CONTAINER_DELETED_EVENT],
  ];
  for (const { events } of [one, two]) {
    await until(() => events.length === expected.length);
    assert.deepEqual(
      events.map((event) => [event.containerId, event.containerEventType]),
      expected,
    );
  }
  const stopped = one.events[4];
  assert.equal(stopped?.podSandboxStatus?.metadata?.uid, 'uid-web');
  assert.equal(stopped?.podSandboxStatus?.state, PodSandboxState.SANDBOX_READY);
  assert.deepEqual(
    stopped?.containersStatuses.map((each) => [each.id, each.state, each.exitCode]),
    [[container, ContainerState.CONTAINER_EXITED, 4]],
  );
  assert.deepEqual(one.events[6]?.containersStatuses, []);
  one.cancel();
  await until(() => b.sim.state.eventStreams === 1);
});

test('supportsEvents: false gives Unimplemented, and a status without timestamp', async (t) => {
  const b = await bench(t, { runtime: { supportsEvents: false } });
  assert.equal((await listen(b.runtime).error).code, status.UNIMPLEMENTED);
  const podSandboxId = await b.sandbox('web');
  const got = await call(b.runtime, b.runtime.podSandboxStatus, { podSandboxId, verbose: false });
  assert.equal(got.timestamp, '0');
});

test('event streams end with Unavailable when dropped, and by script', async (t) => {
  // The script's time goes on when the test says so.
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const b = await bench(t, { runtime: { eventsOff: [{ from: 2_000, for: 2_000 }] } });
  const first = listen(b.runtime);
  await first.opened;
  b.sim.dropEventStreams();
  assert.equal((await first.error).code, status.UNAVAILABLE);
  const second = listen(b.runtime);
  await second.opened;
  t.mock.timers.tick(2_000);
  assert.equal((await second.error).code, status.UNAVAILABLE);
  assert.equal((await listen(b.runtime).error).code, status.UNAVAILABLE);
  t.mock.timers.tick(2_000);
  const last = listen(b.runtime);
  await last.opened;
  const id = await b.sandbox('web');
  b.sim.emitEvent(id, CONTAINER_STOPPED_EVENT);
  await until(() => last.events.at(-1)?.containerEventType === CONTAINER_STOPPED_EVENT);
});

test('a scripted fault hits GetContainerEvents too', async (t) => {
  const b = await bench(t, {
    faults: [{ match: { rpc: 'GetContainerEvents' }, fail: { code: 'Internal' }, times: 1 }],
  });
  assert.equal((await listen(b.runtime).error).code, status.INTERNAL);
  await listen(b.runtime).opened;
  assert.equal(b.sim.state.calls.count('GetContainerEvents'), 2);
});
