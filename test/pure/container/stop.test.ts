import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ContainerBench, find, reasons, seen } from './container-bench.ts';

test('kill: Killing, StopContainer with the grace period, a fresh look, ended', () => {
  const bench = new ContainerBench().to('running');
  const effects = bench.kill(30);
  assert.equal(find(effects, 'event.Record').message, 'Stopping container c');
  assert.deepEqual(find(effects, 'cri.StopContainer'), { containerId: 'c1', timeoutSeconds: 30 });
  find(bench.done('cri.StopContainer', {}), 'cri.ContainerStatus');
  assert.equal(bench.state, 'stopping.killing');
  bench.ended();
  assert.equal(bench.state, 'exited');
  assert.equal(bench.context.kill, null);
});

for (const [grace, seconds] of [
  [0, 2],
  [1, 2],
  [2, 2],
  [3, 3],
  [2.5, 3],
] as const) {
  test(`grace ${grace} s: StopContainer gets ${seconds} s`, () => {
    assert.equal(find(new ContainerBench().to('running').kill(grace), 'cri.StopContainer').timeoutSeconds, seconds);
  });
}

for (const state of ['starting.checkingImage', 'starting.awaitingPod', 'starting.preparing', 'starting.creating']) {
  test(`kill in ${state}: the start is given up, nothing is stopped`, () => {
    const bench = new ContainerBench().to(state);
    const { op } = bench.context;
    assert.deepEqual(bench.kill(30), []);
    assert.equal(bench.state, 'exited');
    assert.deepEqual(bench.done('cri.CreateContainer', { containerId: 'late' }, op), []);
    assert.equal(bench.context.id, '');
  });
}

test('a container that was stopped before it ever ran ends: it stays `created` for ever', () => {
  const bench = new ContainerBench().to('starting.started');
  bench.kill(10);
  bench.over.observed = seen({ state: 'created', startedAt: 0 });
  bench.tell({ type: 'observed' });
  assert.equal(bench.state, 'stopping.awaitingStart');
  bench.ring();
  bench.tell({ type: 'observed' });
  assert.equal(bench.state, 'stopping.killing', 'the stop is not confirmed yet');
  bench.done('cri.StopContainer', {});
  bench.tell({ type: 'observed' });
  assert.equal(bench.state, 'exited');
});

for (const state of ['waiting', 'retrying', 'exited']) {
  test(`kill in ${state} does nothing`, () => {
    const bench = new ContainerBench();
    if (state === 'retrying') bench.to('starting.creating').failed('cri.CreateContainer', 'Unknown', 'x');
    if (state === 'exited') bench.ended();
    assert.deepEqual(bench.kill(30), []);
    assert.equal(bench.state, state);
  });
}

test('told to stop while StartContainer is under way: what starts is stopped then, its preStop hook first', () => {
  const bench = new ContainerBench().to('starting.started');
  const { op } = bench.context;
  assert.deepEqual(reasons(bench.kill(30)), ['Killing']);
  assert.equal(bench.state, 'stopping.awaitingStart');
  assert.equal(bench.context.deadline, bench.at + 30_000);
  bench.at += 4_000;
  const effects = bench.done('cri.StartContainer', {}, op);
  assert.deepEqual(reasons(effects), ['Started']);
  assert.equal(find(effects, 'cri.StopContainer').timeoutSeconds, 26);
  const hooked = new ContainerBench({ lifecycle: { preStop: { exec: { command: ['x'] } } } }).to('starting.started');
  hooked.kill(30);
  find(hooked.done('cri.StartContainer', {}), 'cri.ExecSync');
  assert.equal(hooked.state, 'stopping.preStop');
  const sidecar = new ContainerBench({}, 'sidecar').to('starting.started');
  sidecar.kill(30, { waitTurn: true });
  sidecar.done('cri.StartContainer', {});
  assert.equal(sidecar.state, 'stopping.waitingTurn');
});

test('StartContainer that fails, or is not answered within the grace period, is followed by StopContainer all the same', () => {
  const failing = new ContainerBench().to('starting.started');
  failing.kill(30);
  find(failing.failed('cri.StartContainer', 'DeadlineExceeded', 'x'), 'cri.StopContainer');
  const hung = new ContainerBench().to('starting.started');
  hung.kill(30);
  hung.kill(5);
  assert.equal(hung.context.deadline, hung.at + 5_000);
  find(hung.ring(), 'cri.StopContainer');
});

test('StopContainer fails: tried again after a second; NotFound counts as stopped', () => {
  const bench = new ContainerBench().to('running');
  bench.kill(30);
  bench.failed('cri.StopContainer', 'Unavailable', 'x');
  assert.equal(bench.context.deadline, bench.at + 1_000);
  assert.equal(find(bench.ring(), 'cri.StopContainer').timeoutSeconds, 29);
  find(bench.failed('cri.StopContainer', 'NotFound', 'x'), 'cri.ContainerStatus');
  bench.over.observed = null;
  bench.tell({ type: 'observed' });
  assert.equal(bench.state, 'exited');
});

test('stopped but still seen running: it is stopped again', () => {
  const bench = new ContainerBench().to('running');
  bench.kill(30);
  bench.done('cri.StopContainer', {});
  find(bench.ring(), 'cri.StopContainer');
});

test('a second order shortens the grace period and never lengthens it', () => {
  const bench = new ContainerBench().to('running');
  bench.kill(30);
  bench.at += 5_000;
  assert.equal(find(bench.kill(60), 'cri.StopContainer').timeoutSeconds, 25, 'the first end holds');
  const { op } = bench.context;
  bench.at += 5_000;
  assert.equal(find(bench.kill(3), 'cri.StopContainer').timeoutSeconds, 3);
  assert.deepEqual(bench.done('cri.StopContainer', {}, op), [], 'the outcome of the longer one no longer counts');
  assert.deepEqual(reasons(bench.kill(0)), [], 'one Killing event is enough');
});

test('shortening during a preStop hook and while waiting for its turn moves the deadline', () => {
  const bench = new ContainerBench({ lifecycle: { preStop: { sleep: { seconds: 20 } } } }).to('running');
  bench.kill(30);
  bench.at += 1_000;
  bench.kill(4);
  assert.equal(bench.context.deadline, bench.at + 4_000);
  assert.equal(find(bench.ring(), 'cri.StopContainer').timeoutSeconds, 2);
  const sidecar = new ContainerBench({}, 'sidecar').to('running');
  sidecar.kill(30, { waitTurn: true });
  assert.equal(sidecar.state, 'stopping.waitingTurn');
  sidecar.kill(2, { waitTurn: true });
  assert.equal(sidecar.context.deadline, sidecar.at + 2_000);
  sidecar.ring();
  assert.equal(sidecar.state, 'stopping.killing');
});

test('a sidecar waits for its turn, preStop first, and is killed when the grace period is over', () => {
  const bench = new ContainerBench({ lifecycle: { preStop: { exec: { command: ['x'] } } } }, 'sidecar').to('running');
  bench.kill(30, { waitTurn: true });
  assert.equal(bench.state, 'stopping.preStop');
  bench.at += 3_000;
  assert.deepEqual(bench.done('cri.ExecSync', { exitCode: 0, output: '' }), []);
  assert.equal(bench.state, 'stopping.waitingTurn');
  assert.equal(bench.context.deadline, bench.at + 27_000);
  bench.at += 7_000;
  assert.equal(find(bench.tell({ type: 'turn' }), 'cri.StopContainer').timeoutSeconds, 20);
  const slow = new ContainerBench({}, 'sidecar').to('running');
  slow.kill(5, { waitTurn: true });
  assert.equal(find(slow.ring(), 'cri.StopContainer').timeoutSeconds, 2);
});

test('a sidecar whose preStop pause or hook fails still waits for its turn', () => {
  const failing = new ContainerBench({ lifecycle: { preStop: { exec: { command: ['x'] } } } }, 'sidecar').to('running');
  failing.kill(30, { waitTurn: true });
  assert.deepEqual(reasons(failing.failed('cri.ExecSync', 'Unknown', 'x')), ['FailedPreStopHook']);
  assert.equal(failing.state, 'stopping.waitingTurn');
  const sleeping = new ContainerBench({ lifecycle: { preStop: { sleep: { seconds: 2 } } } }, 'sidecar').to('running');
  sleeping.kill(30, { waitTurn: true });
  sleeping.ring();
  assert.equal(sleeping.state, 'stopping.waitingTurn');
});

test('it ends by itself in every stopping state', () => {
  for (const state of ['stopping.preStop', 'stopping.waitingTurn', 'stopping.killing']) {
    const bench = new ContainerBench(
      state === 'stopping.preStop' ? { lifecycle: { preStop: { exec: { command: ['x'] } } } } : {},
      'sidecar',
    ).to('running');
    bench.kill(30, { waitTurn: state !== 'stopping.killing' });
    assert.equal(bench.state, state);
    bench.ended({ exitCode: 0 });
    assert.equal(bench.state, 'exited');
    assert.equal(bench.context.deadline, null);
  }
});
