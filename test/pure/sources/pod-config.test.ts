import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { PodSource } from '../../../machines/protocol/messages.ts';
import {
  allPods,
  mergePod,
  mergeSource,
  NO_PODS,
  type PodConfigState,
  type PodConfigUpdate,
  rfc3339Nano,
  sourcesReady,
} from '../../../machines/sources/pod-config.ts';

const pod = (uid: string, image = 'x', more: Partial<Pod> & { meta?: Pod['metadata'] } = {}): Pod => ({
  metadata: { uid, name: `pod-${uid}`, namespace: 'default', ...more.meta },
  spec: { containers: [{ name: 'a', image }] },
  status: more.status ?? { phase: 'Pending' },
});
const ops = (updates: PodConfigUpdate[]): string[] =>
  updates.map(({ op, pods }) => `${op} ${pods.map((one) => one.metadata?.uid).join(' ')}`.trim());

function feed(lists: [PodSource, Pod[]][]): { state: PodConfigState; told: string[][] } {
  let state = NO_PODS;
  const told = lists.map(([source, pods]) => {
    const merged = mergeSource(state, source, pods, 1000);
    state = merged.state;
    return ops(merged.updates);
  });
  return { state, told };
}

test('ADD, UPDATE, DELETE, REMOVE, RECONCILE', () => {
  const { told } = feed([
    ['file', [pod('1'), pod('2')]],
    ['file', [pod('1'), pod('2')]],
    ['file', [pod('1', 'y'), pod('3')]],
    ['file', [pod('1', 'y', { status: { phase: 'Running' } }), pod('3')]],
    ['file', [pod('1', 'y', { status: { conditions: [{ type: 'gate', status: 'True' }] } }), pod('3')]],
    ['file', [pod('1', 'y', { meta: { deletionTimestamp: '2026-01-01T00:00:00Z' } }), pod('3')]],
    ['file', []],
  ]);
  assert.deepEqual(told, [
    ['ADD 1 2'],
    [],
    ['REMOVE 2', 'ADD 3', 'UPDATE 1'],
    [], // the agent's own part of the status
    ['RECONCILE 1'],
    ['DELETE 1'],
    ['REMOVE 1 3'],
  ]);
});

test('that the API calls a pod ended is told once; a file says nothing of phases', () => {
  const phase = (value: string) => pod('1', 'x', { status: { phase: value } });
  const steps = (source: 'api' | 'file') =>
    feed([
      [source, [phase('Running')]],
      [source, [phase('Failed')]],
      [source, [{ ...phase('Failed') }]],
    ]).told;
  assert.deepEqual(steps('api'), [['ADD 1'], ['RECONCILE 1'], []]);
  assert.deepEqual(steps('file'), [['ADD 1'], [], []]);
});

test('an empty first list says that the source has spoken', () => {
  const first = mergeSource(NO_PODS, 'http', [], 0);
  assert.deepEqual(first.updates, [{ op: 'ADD', source: 'http', pods: [] }]);
  assert.deepEqual(mergeSource(first.state, 'http', [], 0).updates, []);
  assert.equal(sourcesReady(NO_PODS, ['http']), false);
  assert.equal(sourcesReady(first.state, ['http']), true);
  assert.equal(sourcesReady(first.state, ['http', 'file']), false);
});

test('annotations: source and first seen are added, and kept; local ones do not count', () => {
  const one = mergeSource(NO_PODS, 'file', [pod('1')], Date.UTC(2026, 0, 2, 3, 4, 5, 120));
  const want = { 'kubernetes.io/config.source': 'file', 'kubernetes.io/config.seen': '2026-01-02T03:04:05.12Z' };
  assert.deepEqual(one.updates[0]?.pods[0]?.metadata?.annotations, want);
  const local = pod('1', 'x', { meta: { annotations: { 'kubernetes.io/config.mirror': 'm' } } });
  assert.deepEqual(mergeSource(one.state, 'file', [local], 5).updates, []);
  const labelled = mergeSource(one.state, 'file', [pod('1', 'x', { meta: { labels: { a: 'b' } } })], 5);
  assert.deepEqual(ops(labelled.updates), ['UPDATE 1']);
  assert.deepEqual(labelled.updates[0]?.pods[0]?.metadata?.annotations, want);
  assert.equal(rfc3339Nano(0), '1970-01-01T00:00:00Z');
});

test('the same name or uid twice in a list: the first stays', () => {
  const twin = pod('2', 'x', { meta: { name: 'pod-1' } });
  const { updates, duplicates } = mergeSource(
    NO_PODS,
    'http',
    [pod('1'), twin, pod('1', 'z', { meta: { name: 'n' } })],
    0,
  );
  assert.deepEqual(ops(updates), ['ADD 1']);
  assert.deepEqual(
    duplicates.map(({ shared, runs }) => `${runs} of one ${shared}`),
    ['first of one name', 'first of one uid'],
  );
});

test('of manifests with pods of one name the last counts, and takes the place of one that runs', () => {
  const twin = pod('2', 'x', { meta: { name: 'pod-1' } });
  const one = mergeSource(NO_PODS, 'file', [pod('1'), pod('3', 'x', { meta: { name: 'other' } })], 0);
  const both = mergeSource(one.state, 'file', [pod('1'), twin, pod('3', 'x', { meta: { name: 'other' } })], 0);
  assert.deepEqual(ops(both.updates), ['REMOVE 1', 'ADD 2']);
  const lost = { source: 'file', namespace: 'default', name: 'pod-1', uid: '1', shared: 'name', runs: 'last' };
  assert.deepEqual(both.duplicates, [lost]);
  assert.deepEqual(ops(mergeSource(both.state, 'file', [twin], 0).updates), ['REMOVE 3']);
});

test('sources do not touch each other', () => {
  const { state, told } = feed([
    ['file', [pod('1')]],
    ['http', [pod('2')]],
    ['file', []],
  ]);
  assert.deepEqual(told, [['ADD 1'], ['ADD 2'], ['REMOVE 1']]);
  assert.deepEqual(
    allPods(state).map((one) => one.metadata?.uid),
    ['2'],
  );
});

test('any order of lists ends as the last list of each source says', () => {
  const images = fc.constantFrom('x', 'y');
  const someList = fc.uniqueArray(fc.tuple(fc.constantFrom('1', '2', '3', '4'), images), { selector: ([uid]) => uid });
  const step = fc.tuple(fc.constantFrom<PodSource>('file', 'http', 'api'), someList);
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      let state = NO_PODS;
      const mirror = new Map<string, Pod>();
      const last = new Map<PodSource, [string, string][]>();
      for (const [source, entries] of steps) {
        last.set(source, entries);
        const merged = mergeSource(
          state,
          source,
          entries.map(([uid, image]) => pod(uid, image)),
          7,
        );
        state = merged.state;
        // Whoever only follows the updates must know the same.
        for (const { op, pods } of merged.updates) {
          for (const one of pods) {
            const key = `${source}/${one.metadata?.uid ?? ''}`;
            assert.equal(mirror.has(key), op !== 'ADD', `${op} of ${key}`);
            if (op === 'REMOVE') mirror.delete(key);
            else mirror.set(key, one);
          }
        }
      }
      const want = [...last]
        .flatMap(([source, entries]) => entries.map(([uid, image]) => `${source}/${uid} ${image}`))
        .sort();
      const shown = [...mirror].map(([key, one]) => `${key} ${one.spec?.containers[0]?.image ?? ''}`).sort();
      assert.deepEqual(shown, want);
      assert.equal(allPods(state).length, want.length);
    }),
  );
});

test('one changed pod alone is taken as the whole list with it would be', () => {
  const version = fc.record({
    name: fc.constantFrom('a', 'b'),
    uid: fc.constantFrom('1', '2', '3'),
    image: fc.constantFrom('x', 'y'),
    gate: fc.constantFrom('True', 'False'),
    leaving: fc.boolean(),
  });
  const made = ({
    name,
    uid,
    image,
    gate,
    leaving,
  }: { [K in 'name' | 'uid' | 'image' | 'gate']: string } & { leaving: boolean }) =>
    pod(uid, image, {
      meta: { uid, name, namespace: 'default', ...(leaving && { deletionTimestamp: '2026-01-01T00:00:00Z' }) },
      status: { conditions: [{ type: 'gate', status: gate }] },
    });
  // Each name once, as in a list of the API server.
  const listed = fc.uniqueArray(version, { maxLength: 2, selector: ({ name }) => name });
  let alone = 0;
  fc.assert(
    fc.property(listed, fc.array(version, { maxLength: 6 }), (first, changes) => {
      let list = first.map(made);
      let state = mergeSource(NO_PODS, 'api', list, 1000).state;
      for (const change of changes) {
        const given = made(change);
        const at = list.findIndex(({ metadata }) => metadata?.name === change.name);
        list = at < 0 ? [...list, given] : list.with(at, given);
        const whole = mergeSource(state, 'api', list, 2000);
        const one = mergePod(state, 'api', given);
        const twice = new Set(list.map(({ metadata }) => metadata?.name)).size < list.length;
        // A list of the API server never has a name twice.
        if (one !== null && !twice && whole.duplicates.length === 0) {
          alone++;
          assert.deepEqual(one.update === null ? [] : [one.update], whole.updates);
          assert.equal(JSON.stringify(one.state), JSON.stringify(whole.state));
        }
        state = whole.state;
      }
    }),
    { numRuns: 1_000 },
  );
  assert.ok(alone > 20, `${alone} were taken alone`);
  assert.equal(mergePod(NO_PODS, 'api', pod('1')), null);
  const known = mergeSource(NO_PODS, 'api', [pod('1')], 0).state;
  assert.equal(mergePod(known, 'api', pod('2')), null, 'not known');
  assert.equal(mergePod(known, 'api', pod('1', 'x', { meta: { uid: '1', name: 'other' } })), null, 'of another name');
});
