import assert from 'node:assert/strict';
import { test } from 'node:test';
import { initialTransition } from 'xstate';
import type { AnyMachineSnapshot } from 'xstate';
import { step } from '../../../machines/machine-step/step.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { barePod, harmAfter } from '../../../machines/supervisor/harm.ts';
import { trackedPod } from '../../../machines/supervisor/pod-table.ts';
import type {
  SupervisorContext,
  SupervisorMessage,
  SupervisorOrder,
} from '../../../machines/supervisor/supervisor-context.ts';
import { supervisorMachine } from '../../../machines/supervisor/supervisor-machine.ts';
import { pod as makePod } from '../pod/pod-world.ts';

function bench() {
  let snapshot = initialTransition(supervisorMachine, { shards: 1 })[0] as AnyMachineSnapshot;
  const take = (message: SupervisorMessage): SupervisorOrder[] => {
    const stepped = step<AnyMachineSnapshot, SupervisorOrder>(supervisorMachine, snapshot, message);
    ({ snapshot } = stepped);
    return stepped.effects;
  };
  const config = (op: 'ADD' | 'UPDATE' | 'RECONCILE' | 'REMOVE' | 'DELETE', at: number, ...pods: Pod[]) =>
    take({ type: 'config', at, update: { op, pods, source: 'api' } });
  const dies = (at: number, uid: string | null) =>
    take({ type: 'shardReplaced', at, shard: 0, blame: { uid, problem: 'it fell silent' } });
  const harmOf = (uid: string) => trackedPod((snapshot.context as SupervisorContext).pods, uid)?.harm;
  return {
    take,
    config,
    dies,
    harmOf,
    phaseOf: (uid: string) => trackedPod((snapshot.context as SupervisorContext).pods, uid)?.phase,
  };
}

const named = (uid: string, more: object = {}): Pod => {
  const made = makePod({}, uid);
  return { ...made, metadata: { ...made.metadata, name: uid, uid, ...more } };
};
const brief = (orders: SupervisorOrder[]) =>
  orders.map((o) => (o.type === 'tell' ? `${o.message.type} ${o.uid}` : `${o.type} ${o.uid}`));

test('the second worker that dies on a pod has it put aside; the others of its shard are started', () => {
  const b = bench();
  b.config('ADD', 0, named('a'), named('p'));
  assert.deepEqual(brief(b.dies(1_000, 'p')), ['start a', 'start p']);
  assert.deepEqual(brief(b.dies(5_000, 'p')), ['aside p', 'start a']);
  assert.equal(b.harmOf('p')?.until, 35_000);
  assert.deepEqual(brief(b.dies(6_000, null)), ['start a'], 'aside it stays, whatever the worker dies of');
  assert.deepEqual(brief(b.take({ type: 'tryAgain', at: 35_000, uid: 'p', until: 34_000 })), [], 'not its time');
  assert.deepEqual(brief(b.take({ type: 'tryAgain', at: 35_000, uid: 'p', until: 35_000 })), ['start p']);
  assert.deepEqual(brief(b.take({ type: 'tryAgain', at: 35_000, uid: 'p', until: 35_000 })), [], 'it has an actor');
  assert.deepEqual(brief(b.dies(36_000, 'p')), ['aside p', 'start a'], 'once more is enough now');
  assert.equal(b.harmOf('p')?.until, 96_000, 'twice as long');
});

test('deaths that lie far apart are not added up', () => {
  const b = bench();
  b.config('ADD', 0, named('p'));
  for (let at = 0; at < 10; at++) assert.deepEqual(brief(b.dies(at * 600_000, 'p')), ['start p']);
});

test('a death that nobody explains counts for the pod that the next worker dies on, soon after', () => {
  const b = bench();
  b.config('ADD', 0, named('a'), named('p'));
  assert.deepEqual(brief(b.dies(1_000, null)), ['start a', 'start p']);
  assert.deepEqual(brief(b.dies(2_000, 'p')), ['aside p', 'start a']);
  assert.deepEqual(brief(b.dies(3_000, 'a')), ['start a'], 'it is counted once');
  const later = bench();
  later.config('ADD', 0, named('p'));
  later.dies(1_000, null);
  assert.deepEqual(brief(later.dies(100_000, 'p')), ['start p']);
});

test('logs from before deaths were explained replay as they did', () => {
  const b = bench();
  b.config('ADD', 0, named('p'));
  for (let at = 0; at < 3; at++) assert.deepEqual(brief(b.take({ type: 'shardReplaced', at, shard: 0 })), ['start p']);
  assert.equal(b.harmOf('p'), undefined);
});

test('a pod that is put aside is tried sooner when its source changes it, not when its own status comes back', () => {
  const b = bench();
  b.config('ADD', 0, named('p'));
  b.dies(1_000, 'p');
  b.dies(2_000, 'p');
  b.take({ type: 'tryAgain', at: 32_000, uid: 'p', until: 32_000 });
  b.dies(33_000, 'p');
  assert.equal(b.harmOf('p')?.until, 93_000);
  assert.deepEqual(b.config('RECONCILE', 34_000, named('p')), []);
  const better = named('p', { labels: { better: 'true' } });
  assert.deepEqual(brief(b.config('UPDATE', 35_000, better)), ['aside p']);
  assert.equal(b.harmOf('p')?.until, 63_000, '30 s after the last death: who changes it all the time gains nothing');
  assert.deepEqual(b.config('UPDATE', 36_000, better), []);
  const [start] = b.take({ type: 'tryAgain', at: 63_000, uid: 'p', until: 63_000 });
  assert.ok(start?.type === 'start' && start.pod === better);
});

test('a pod that is put aside and is to end gets a machine that has the least of it', () => {
  const b = bench();
  const pod = named('p', { annotations: { 'kubernetes.io/config.source': 'file', poison: 'x' }, labels: { l: 'x' } });
  const spec = {
    containers: [
      { name: 'c', image: 'i', env: [{ name: 'E', value: '$($($(' }], resources: { requests: { cpu: '1' } } },
    ],
    volumes: [{ name: 'v', emptyDir: {} }],
    terminationGracePeriodSeconds: 7,
  };
  b.config('ADD', 0, { ...pod, spec });
  b.dies(1_000, 'p');
  b.dies(2_000, 'p');
  assert.deepEqual(brief(b.config('REMOVE', 3_000, { ...pod, spec })), []);
  assert.equal(b.phaseOf('p'), 'aside');
  const orders = b.take({ type: 'tryAgain', at: 32_000, uid: 'p', until: 32_000 });
  assert.deepEqual(brief(orders), ['start p', 'pod.terminate p']);
  assert.ok(orders[0]?.type === 'start');
  assert.deepEqual(orders[0].pod, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...{ name: 'p', namespace: 'default', uid: 'p', creationTimestamp: pod.metadata?.creationTimestamp },
      annotations: { 'kubernetes.io/config.source': 'file' },
    },
    spec: { containers: [{ name: 'c', image: 'i' }], terminationGracePeriodSeconds: 7 },
    status: { qosClass: 'Burstable' },
  });
  const deleted = named('p', { deletionTimestamp: '2026-01-01T00:00:00Z' });
  const [told] = b.config('DELETE', 33_000, { ...deleted, spec });
  assert.ok(told?.type === 'tell' && told.message.type === 'pod.update');
  assert.deepEqual(told.message.pod, barePod({ ...deleted, spec }), 'later news of it, too');
});

test('while a pod is put aside, another of its name waits', () => {
  const b = bench();
  b.config('ADD', 0, named('p'));
  b.dies(1_000, 'p');
  b.dies(2_000, 'p');
  const twin = { ...named('q'), metadata: { ...named('q').metadata, name: 'p' } };
  assert.deepEqual(brief(b.config('ADD', 3_000, twin)), []);
});

test('waits grow to five minutes', () => {
  let harm = harmAfter(undefined, 0, '');
  const waits: number[] = [];
  for (let i = 0; i < 7; i++) {
    harm = harmAfter(harm, i, '');
    waits.push(((harm.until ?? 0) - i) / 1000);
  }
  assert.deepEqual(waits, [30, 60, 120, 240, 300, 300, 300]);
});
