import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodLine } from '../../../actors/inspect/inspector/inspector-api.ts';
import { countStates, listPods, mergePods } from '../../../actors/inspect/inspector-page/model/pod-list.ts';

const line = (name: string, state: string, more: Partial<PodLine> = {}): PodLine => ({
  uid: `uid-${name}`,
  namespace: 'default',
  name,
  source: 'api',
  state,
  phase: 'Running',
  why: '',
  since: 0,
  startedAt: 0,
  restarts: 0,
  containers: 1,
  ready: 1,
  gone: false,
  steps: 1,
  ...more,
});

const PODS = [
  line('b', 'syncing.running', { since: 5 }),
  line('a', 'syncing.crashLoopBackOff', { restarts: 3, why: 'web: CrashLoopBackOff' }),
  line('c', 'syncing.pullingImage', { namespace: 'Kube-System', why: 'pulling registry/web' }),
  line('d', 'terminated.kept', { startedAt: 9 }),
];
const names = (pods: PodLine[]) => pods.map((p) => p.name).join('');
const find = (text: string, states: string[] = []) => names(listPods(PODS, { text, states }, 'name'));

test('words are looked for in name, namespace, state and reason, without case; all must be there', () => {
  assert.equal(find('kube-sys'), 'c');
  assert.equal(find('BACKOFF web'), 'a');
  assert.equal(find('default/b'), 'b');
  assert.equal(find('web'), 'ca');
  assert.equal(find('web nonsense'), '');
  assert.equal(find('uid-d'), 'd');
});

test('states narrow further', () => {
  assert.equal(find('', ['syncing.running', 'terminated.kept']), 'bd');
  assert.equal(find('default', ['syncing.pullingImage']), '');
});

test('orders', () => {
  const by = (sort: Parameters<typeof listPods>[2]) => names(listPods(PODS, { text: '', states: [] }, sort));
  assert.equal(by('attention'), 'acbd');
  assert.equal(by('restarts')[0], 'a');
  assert.equal(by('age')[0], 'd');
  assert.equal(by('state'), 'acbd');
});

test('counts of states, failing first', () => {
  assert.deepEqual(
    countStates([...PODS, line('e', 'syncing.running')]).map((c) => `${c.state} ${String(c.count)}`),
    ['syncing.crashLoopBackOff 1', 'syncing.pullingImage 1', 'syncing.running 2', 'terminated.kept 1'],
  );
});

test('live messages replace, add and take out', () => {
  const known = new Map(PODS.map((p) => [p.uid, p]));
  const merged = mergePods(
    known,
    new Map([
      ['uid-a', line('a', 'syncing.running')],
      ['uid-x', line('x', 'syncing.running')],
      ['uid-d', null],
    ]),
  );
  assert.equal(merged.get('uid-a')?.state, 'syncing.running');
  assert.equal(merged.has('uid-x'), true);
  assert.equal(merged.has('uid-d'), false);
  assert.equal(known.has('uid-d'), true);
});
