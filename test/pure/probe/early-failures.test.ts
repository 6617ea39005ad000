/** Kubelet's liveness and startup probes first run up to a whole period later than ours: what fails before that is not held against the container. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reasons } from '../container/container-bench.ts';
import { ProbeBench } from './probe-bench.ts';

const KINDS = ['liveness', 'startup'] as const;

test('a failure before kubelet would have run at the latest counts for nothing and is not told; the next one counts', () => {
  for (const kind of KINDS) {
    const bench = new ProbeBench(kind, { failureThreshold: 1 });
    bench.look();
    const before = bench.context.result;
    assert.equal(bench.run(1), before);
    assert.equal(bench.state, 'waiting');
    assert.equal(bench.context.run, 0);
    assert.deepEqual(reasons(bench.effects), []);
    assert.equal(bench.context.deadline, 1_010_000, 'the period counts from the early run');
    assert.equal(bench.run(1), 'failure');
    assert.deepEqual(reasons(bench.effects), ['Unhealthy']);
  }
});

test('initialDelaySeconds comes before the period that does not count, since the worker ticks on meanwhile', () => {
  const bench = new ProbeBench('liveness', { failureThreshold: 1, initialDelaySeconds: 10 });
  bench.look();
  assert.equal(bench.run(1), 'success');
  assert.equal(bench.at, 1_010_000);
  assert.equal(bench.run(1), 'failure');
  assert.equal(bench.at, 1_020_000);
});

test('an early success counts', () => {
  const bench = new ProbeBench('startup');
  bench.look();
  assert.equal(bench.run(0), 'success');
  assert.equal(bench.at, 1_000_000);
  assert.equal(bench.state, 'onHold');
});

test('an error of the prober is not told either while kubelet would not have asked', () => {
  const bench = new ProbeBench('liveness');
  bench.look();
  bench.ring();
  for (let i = 0; i < 3; i++) bench.failed('cri.ExecSync', 'Unavailable');
  assert.deepEqual(reasons(bench.effects), []);
  bench.ring();
  for (let i = 0; i < 3; i++) bench.failed('cri.ExecSync', 'Unavailable');
  assert.deepEqual(reasons(bench.effects), ['Unhealthy']);
});

test('a port that does not exist is not told of while kubelet would not have asked', () => {
  const bench = new ProbeBench('liveness', { exec: undefined, tcpSocket: { port: 'nowhere' } });
  bench.look();
  bench.ring();
  assert.deepEqual(reasons(bench.effects), []);
  bench.ring();
  assert.deepEqual(reasons(bench.effects), ['Unhealthy']);
});

test('the run began early, however late its answer', () => {
  const bench = new ProbeBench('liveness', { failureThreshold: 1, timeoutSeconds: 30 });
  bench.look();
  bench.ring();
  bench.at += 20_000;
  bench.done('cri.ExecSync', { exitCode: 1, output: '' });
  assert.equal(bench.context.result, 'success');
  assert.equal(bench.run(1), 'failure');
});

test('liveness behind a startup probe: the period begins when the container has started', () => {
  const bench = new ProbeBench('liveness', { failureThreshold: 1 });
  bench.look({ started: false });
  bench.at += 60_000;
  bench.look({ started: true });
  assert.equal(bench.run(1), 'success');
  assert.equal(bench.run(1), 'failure');
});

test('each new container has a period of its own, one that was out of sight has not', () => {
  const bench = new ProbeBench('liveness', { failureThreshold: 1 });
  bench.look();
  bench.run(1);
  assert.equal(bench.run(1), 'failure');
  bench.look({ runningId: 'c2', startedAt: bench.at });
  assert.equal(bench.run(1), 'success');
  bench.look({ runningId: '' });
  bench.at += 10_000;
  bench.look({ runningId: 'c2' });
  assert.equal(bench.run(1), 'failure');
});

test('a container that was taken over is asked at once, and that counts; not while its initialDelaySeconds last', () => {
  for (const kind of KINDS) {
    const bench = new ProbeBench(kind, { failureThreshold: 1 });
    bench.look({ adopted: true });
    assert.equal(bench.run(1), 'failure');
  }
  const young = new ProbeBench('liveness', { failureThreshold: 1, initialDelaySeconds: 5 });
  young.look({ adopted: true });
  assert.equal(young.run(1), 'success');
});

test('readiness is asked at once by kubelet too: its failures are told', () => {
  const bench = new ProbeBench('readiness');
  bench.look();
  bench.run(1);
  assert.equal(bench.context.run, 1);
  assert.deepEqual(reasons(bench.effects), ['Unhealthy']);
});

test('as logs of before have it: the first failure counts', () => {
  const bench = new ProbeBench('liveness', { failureThreshold: 1 });
  bench.over.settings = { behaviour: [7] };
  bench.look();
  assert.equal(bench.run(1), 'failure');
  assert.ok(!('countsFrom' in bench.context));
});
