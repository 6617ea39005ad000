import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settings } from '../pod/pod-world.ts';
import type { Container } from '../../../machines/protocol/api-types.ts';
import { ContainerBench, find, reasons } from './container-bench.ts';

type Lifecycle = NonNullable<Container['lifecycle']>;
const exec = { preStop: { exec: { command: ['do'] } } };
const http = { preStop: { httpGet: { port: 80 as unknown as string, path: '/x' } } };

/** Its preStop hook runs; `key` is that of the hook's call. */
function inHook(lifecycle: Lifecycle, grace: number, waitTurn = false): { bench: ContainerBench; key: string } {
  const bench = new ContainerBench({ lifecycle }, waitTurn ? 'sidecar' : 'regular').to('running');
  bench.kill(grace, { waitTurn });
  return { bench, key: bench.context.op };
}

test('a preStop hook that used up the grace period goes on beside the two seconds that its container has', () => {
  for (const waitTurn of [false, true]) {
    const { bench } = inHook(exec, 3, waitTurn);
    assert.equal(find(bench.effects, 'cri.ExecSync').timeoutSeconds, 0);
    const from = bench.at;
    assert.equal(find(bench.ring(), 'cri.StopContainer').timeoutSeconds, 2);
    assert.equal(bench.at - from, 3_000);
  }
  const { bench } = inHook(http, 3);
  assert.equal(find(bench.effects, 'net.HttpGet').timeoutMs, 5_000);
  assert.equal(find(bench.ring(), 'cri.StopContainer').timeoutSeconds, 2);
});

test('the hook that ends with its container is told as FailedPreStopHook, before or after the end is seen', () => {
  for (const seenFirst of [false, true]) {
    const { bench, key } = inHook(exec, 3);
    bench.ring();
    if (seenFirst) bench.ended({ exitCode: 137 });
    assert.deepEqual(reasons(bench.done('cri.ExecSync', { exitCode: 137, output: '' }, key)), ['FailedPreStopHook']);
    assert.deepEqual(bench.done('cri.ExecSync', { exitCode: 137, output: '' }, key), [], 'once');
    if (!seenFirst) bench.ended({ exitCode: 137 });
    assert.equal(bench.state, 'exited');
  }
  const { bench, key } = inHook(http, 3);
  bench.ring();
  assert.deepEqual(reasons(bench.failed('net.HttpGet', 'ECONNRESET', 'gone', key)), ['FailedPreStopHook']);
});

test('a hook that ends well within the two seconds is no failure, and StopContainer is still waited for', () => {
  const { bench, key } = inHook(exec, 3);
  bench.ring();
  const stop = bench.context.op;
  assert.deepEqual(bench.done('cri.ExecSync', { exitCode: 0, output: '' }, key), []);
  assert.equal(bench.state, 'stopping.killing');
  assert.equal(bench.context.op, stop);
  find(bench.done('cri.StopContainer', {}), 'cri.ContainerStatus');
});

test('a container that ends while its hook runs: what becomes of the hook is told', () => {
  const { bench, key } = inHook(exec, 30);
  bench.at += 1_000;
  bench.ended({ exitCode: 0 });
  assert.equal(bench.state, 'exited');
  assert.deepEqual(reasons(bench.done('cri.ExecSync', { exitCode: 137, output: '' }, key)), ['FailedPreStopHook']);
});

test('a sidecar waits for its turn for whole seconds of what its hook has left', () => {
  const { bench } = inHook(exec, 5, true);
  bench.at += 1_700;
  bench.done('cri.ExecSync', { exitCode: 0, output: '' });
  assert.equal(bench.state, 'stopping.waitingTurn');
  assert.equal(bench.context.deadline, bench.at + 4_000);
  bench.at += 1_700;
  assert.equal(find(bench.tell({ type: 'turn' }), 'cri.StopContainer').timeoutSeconds, 3);
});

test('a sidecar whose turn does not come within the grace period gets two seconds; its hook ran at once', () => {
  const { bench } = inHook(exec, 5, true);
  bench.at += 2_000;
  bench.done('cri.ExecSync', { exitCode: 0, output: '' });
  const from = bench.at;
  assert.equal(find(bench.ring(), 'cri.StopContainer').timeoutSeconds, 2);
  assert.equal(bench.at - from, 3_000);
});

test('a shorter order while the hook runs: it is waited for so long, and goes on to the end', () => {
  const { bench, key } = inHook(exec, 30);
  bench.at += 1_000;
  bench.kill(2);
  assert.equal(find(bench.ring(), 'cri.StopContainer').timeoutSeconds, 2);
  assert.deepEqual(reasons(bench.done('cri.ExecSync', { exitCode: 137, output: '' }, key)), ['FailedPreStopHook']);
});

test('as logs of before have it: the call of the hook ends with the grace period, and no one hears of it', () => {
  const bench = new ContainerBench({ lifecycle: exec }).to('running');
  bench.over.settings = { ...settings, behaviour: [] };
  bench.kill(3);
  const { op } = bench.context;
  assert.equal(find(bench.effects, 'cri.ExecSync').timeoutSeconds, 3);
  bench.ring();
  assert.deepEqual(bench.failed('cri.ExecSync', 'DeadlineExceeded', 'x', op), []);
  assert.equal('lateHook' in bench.context, false);
});
