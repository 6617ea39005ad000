import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { waitFor } from '../../tools/wait-for.ts';
import { nodeBench } from './support/node-bench.ts';

const memory = (amount: string) => ({ resources: { requests: { memory: amount }, limits: { memory: '8Gi' } } });
const cpu = (amount: string) => ({ resources: { requests: { cpu: amount } } });
const spec = (resources: object, more: object = {}) => ({
  containers: [{ name: 'c', image: 'app:1', ...resources }],
  ...more,
});
const disruption = ({ status }: Pod) => {
  const { status: is, reason } = status?.conditions?.find(({ type }) => type === 'DisruptionTarget') ?? {};
  return [is, reason];
};

test('memory runs short: who uses more than it asked for is evicted, and the node refuses pods without requests', async (t) => {
  const bench = await nodeBench(
    t,
    {
      usage: [
        { match: { pod: 'greedy' }, memory: { base: '1Gi', grows: '20Gi', most: '7500Mi' } },
        { match: { pod: 'modest' }, memory: { base: '256Mi' } },
      ],
    },
    { evictionHard: { 'memory.available': '500Mi' } },
  );
  bench.create('modest', spec(memory('512Mi')));
  bench.create('greedy', spec(memory('512Mi')));
  await bench.running('modest');
  const evicted = await bench.until('greedy', 'to be evicted', ({ status }) => status?.phase === 'Failed');
  assert.equal(evicted.status?.reason, 'Evicted');
  assert.match(
    evicted.status.message ?? '',
    /^The node was low on resource: memory\. Threshold quantity: 500Mi, available: \d+[KM]i\. Container c was using \d+[KM]i, request is 512Mi, has larger consumption of memory\. $/,
  );
  assert.deepEqual(disruption(evicted), ['True', 'TerminationByKubelet']);
  await bench.event('greedy', 'Evicted', /^The node was low on resource: memory\./);
  await bench.event('n-0', 'EvictionThresholdMet', /^Attempting to reclaim memory$/);
  const pressure = () => {
    const { conditions = [] } = (bench.api.get('nodes', 'n-0')?.status ?? {}) as {
      conditions?: Record<string, string>[];
    };
    return conditions.find(({ type }) => type === 'MemoryPressure');
  };
  await waitFor('the node to tell of it', () => (pressure()?.['status'] === 'True' ? true : undefined));
  assert.equal(pressure()?.['reason'], 'KubeletHasInsufficientMemory');
  bench.create('late', spec({}));
  const refused = await bench.until('late', 'to be refused', ({ status }) => status?.phase === 'Failed');
  assert.deepEqual(
    [refused.status?.reason, refused.status?.message],
    ['Evicted', 'Pod was rejected: The node had condition: [MemoryPressure]. '],
  );
  assert.equal(bench.pod('modest')?.status?.phase, 'Running');
});

test('who writes more than its limit of local storage is evicted', async (t) => {
  const bench = await nodeBench(t, { usage: [{ match: { pod: 'full' }, disk: { base: '10Mi', grows: '600Mi' } }] });
  bench.create('full', spec({ resources: { limits: { 'ephemeral-storage': '100Mi' } } }));
  const evicted = await bench.until('full', 'to be evicted', ({ status }) => status?.phase === 'Failed');
  assert.deepEqual(
    [evicted.status?.reason, evicted.status?.message],
    ['Evicted', 'Pod ephemeral local storage usage exceeds the total limit of containers 100Mi. '],
  );
});

test('a critical pod that finds no room has those of less weight ended; another one is refused', async (t) => {
  const bench = await nodeBench(t);
  bench.create('small', spec(cpu('500m')));
  bench.create('large', spec(cpu('3')));
  await Promise.all([bench.running('small'), bench.running('large')]);
  bench.create('too-much', spec(cpu('2')));
  const refused = await bench.until('too-much', 'to be refused', ({ status }) => status?.phase === 'Failed');
  assert.deepEqual(
    [refused.status?.reason, refused.status?.message],
    [
      'OutOfcpu',
      "Pod was rejected: Node didn't have enough resource: cpu, requested: 2000, used: 3500, capacity: 4000",
    ],
  );
  bench.create('critical', spec(cpu('2'), { priority: 2_000_001_000, priorityClassName: 'system-node-critical' }));
  await bench.running('critical');
  const ended = await bench.until('large', 'to be preempted', ({ status }) => status?.phase === 'Failed');
  assert.equal(ended.status?.reason, 'Preempting');
  assert.deepEqual(disruption(ended), ['True', 'TerminationByKubelet']);
  await bench.event('large', 'Preempting', /^Preempted in order to admit critical pod$/);
  assert.equal(bench.pod('small')?.status?.phase, 'Running');
});
