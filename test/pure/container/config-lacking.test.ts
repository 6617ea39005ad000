import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ContainerBench, find } from './container-bench.ts';

const MISSING = 'secret "s" not found';

test('the worker finds no environment: CreateContainerConfigError, told once, tried again after the pause', () => {
  const bench = new ContainerBench().to('starting.creating');
  const effects = bench.failed('cri.CreateContainer', 'CreateContainerConfigError', MISSING);
  assert.equal(bench.state, 'retrying');
  assert.deepEqual(bench.context.waiting, { reason: 'CreateContainerConfigError', message: MISSING });
  const { type, reason, message } = find(effects, 'event.Record');
  assert.deepEqual({ type, reason, message }, { type: 'Warning', reason: 'Failed', message: `Error: ${MISSING}` });
  assert.equal(bench.context.deadline, bench.at + 10_000);
  bench.ring();
  assert.equal(bench.state, 'waiting');
});

test('the same while subPath expressions are expanded', () => {
  const bench = new ContainerBench().to('starting.preparing');
  bench.failed('host.PrepareContainer', 'CreateContainerConfigError', 'missing value for A');
  assert.deepEqual(bench.context.waiting, { reason: 'CreateContainerConfigError', message: 'missing value for A' });
});

test('any other failure of the call stays CreateContainerError', () => {
  const bench = new ContainerBench().to('starting.creating');
  bench.failed('cri.CreateContainer', 'Internal', 'grpc: error while marshaling');
  assert.deepEqual(bench.context.waiting, {
    reason: 'CreateContainerError',
    message: 'grpc: error while marshaling',
  });
});

test('an answer to a step that was overtaken moves nothing', () => {
  const bench = new ContainerBench().to('starting.creating');
  bench.failed('cri.CreateContainer', 'CreateContainerConfigError', MISSING, 'container/c/1');
  assert.equal(bench.state, 'starting.creating');
});

test('an object changed: what waited for its config is tried at once, and keeps its reason until then', () => {
  const bench = new ContainerBench().to('starting.creating');
  bench.failed('cri.CreateContainer', 'CreateContainerConfigError', MISSING);
  bench.tell({ type: 'refresh' });
  assert.equal(bench.state, 'waiting');
  assert.equal(bench.context.deadline, null);
  assert.equal(bench.context.waiting?.reason, 'CreateContainerConfigError');
  find(bench.tell({ type: 'start' }), 'image.Status');
});

test('an object changed: nothing else is moved by it', () => {
  const other = new ContainerBench().to('starting.creating');
  other.failed('cri.CreateContainer', 'Unknown', 'no');
  other.tell({ type: 'refresh' });
  assert.equal(other.state, 'retrying');
  const runs = new ContainerBench().to('running');
  assert.deepEqual(runs.tell({ type: 'refresh' }), []);
  assert.equal(runs.state, 'running');
});
