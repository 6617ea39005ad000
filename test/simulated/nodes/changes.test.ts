import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { nodeBench } from './support/node-bench.ts';

const amounts = (cpu: string, memory: string) => ({ requests: { cpu, memory }, limits: { cpu, memory } });
const containers = (cpu: string, memory = '64Mi', more: object = {}) => ({
  containers: [{ name: 'c', image: 'app:1', resources: amounts(cpu, memory), ...more }],
});
const first = ({ status }: Pod) => status?.containerStatuses?.[0];
const condition = ({ status }: Pod, type: string) => status?.conditions?.find((each) => each.type === type);

test('a resize in place: the container goes on with more, or is restarted where its policy says so', async (t) => {
  const bench = await nodeBench(t);
  const resizePolicy = [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }];
  bench.create('p', containers('500m', '64Mi', { resizePolicy }));
  const before = await bench.running('p');
  assert.deepEqual(first(before)?.resources, amounts('500m', '64Mi'));
  bench.change('p', containers('1', '64Mi', { resizePolicy }));
  const more = await bench.until('p', 'to have more CPU', (pod) => first(pod)?.resources?.limits?.['cpu'] === '1');
  assert.deepEqual([first(more)?.containerID, first(more)?.restartCount], [first(before)?.containerID, 0]);
  await bench.event('p', 'ResizeStarted');
  await bench.event('p', 'ResizeCompleted');
  assert.ok(
    bench.statuses('p').some(({ conditions }) => conditions?.some(({ type }) => type === 'PodResizeInProgress')),
  );
  bench.change('p', containers('1', '128Mi', { resizePolicy }));
  const again = await bench.until(
    'p',
    'to be restarted',
    (pod) => first(pod)?.restartCount === 1 && first(pod)?.ready === true,
  );
  assert.deepEqual(first(again)?.resources, amounts('1', '128Mi'));
});

test('a resize for which there is no room waits for it; one that the node can never have is told as such', async (t) => {
  const bench = await nodeBench(t);
  bench.create('other', containers('2'));
  bench.create('p', containers('1'));
  await Promise.all([bench.running('p'), bench.running('other')]);
  bench.change('p', containers('100'));
  const never = await bench.until(
    'p',
    'to be told',
    (pod) => condition(pod, 'PodResizePending')?.reason === 'Infeasible',
  );
  assert.match(
    condition(never, 'PodResizePending')?.message ?? '',
    /^Node didn't have enough capacity: cpu, requested: 100000, capacity: 4000$/,
  );
  bench.change('p', containers('3'));
  const late = await bench.until('p', 'to wait', (pod) => condition(pod, 'PodResizePending')?.reason === 'Deferred');
  assert.equal(first(late)?.resources?.limits?.['cpu'], '1');
  bench.api.end('other', 'd', 1);
  await bench.until('p', 'to have it', (pod) => first(pod)?.resources?.limits?.['cpu'] === '3');
});

test('an ephemeral container comes into a pod that runs, and its end is told', async (t) => {
  const bench = await nodeBench(t, {
    runtime: { containers: [{ match: { container: 'debug' }, attempts: [{ exit: { after: '5s', code: 6 } }] }] },
  });
  bench.create('p', containers('1'));
  const before = await bench.running('p');
  bench.change('p', { ephemeralContainers: [{ name: 'debug', image: 'busybox:1', targetContainerName: 'c' }] });
  await bench.until(
    'p',
    'to be debugged',
    ({ status }) => status?.ephemeralContainerStatuses?.[0]?.state?.running !== undefined,
  );
  const after = await bench.until(
    'p',
    'to be left',
    ({ status }) => status?.ephemeralContainerStatuses?.[0]?.state?.terminated !== undefined,
  );
  assert.equal(after.status?.ephemeralContainerStatuses?.[0]?.state?.terminated?.exitCode, 6);
  assert.equal(first(after)?.containerID, first(before)?.containerID);
  assert.ok(condition(after, 'Ready')?.status === 'True', 'nobody waits for it');
});
