import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { explainFromJournal } from '../../../actors/inspect/explain/explain-from-journal.ts';
import { startSimulatedRuntime } from '../../../cri/sim/simulated-runtime.ts';
import { parseBytes } from '../../../machines/values/quantity.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { startAgent } from '../agent/support/agent.ts';
import { IMAGE, PRESENT, until } from '../agent/support/bench.ts';
import { endWithTest } from '../agent/support/end-with-test.ts';
import { startFakeApiServer } from '../api/support/fake-api-server.ts';

const PODS = { group: '', version: 'v1', resource: 'pods' };

test('a critical static pod gets in on a full node: who asks for least goes, and nobody else', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'actorlet-preemption-'));
  const manifests = join(dir, 'manifests');
  mkdirSync(manifests);
  const server = await startFakeApiServer();
  const socket = join(dir, 'cri.sock');
  const sim = await startSimulatedRuntime({ socket, script: { images: [PRESENT] }, seed: 1 });
  const put = (name: string, spec: object = {}, resources: object = {}): unknown =>
    server.put(PODS, {
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default', generation: 1 }, status: {} },
      spec: {
        ...{ nodeName: 'node', restartPolicy: 'Always', terminationGracePeriodSeconds: 1, ...spec },
        containers: [{ name: 'c', image: IMAGE, resources }],
      },
    });
  put('critical', { priority: 2_000_000_000 });
  put('asks', {}, { requests: { memory: '10Mi' } });
  put('modest');
  const begun = startAgent({
    ...{ dir, endpoint: `unix://${socket}`, kubeconfigPath: server.kubeconfigPath },
    config: { maxPods: 3 },
  });
  endWithTest(t, { dir, agent: begun, sim, server });
  const agent = await begun;
  const statusOf = (name: string): NonNullable<Pod['status']> =>
    (server.get({ ...PODS, namespace: 'default' }, name) as Pod | undefined)?.status ?? {};
  const runs = (name: string): Promise<unknown> =>
    until(`${name} to run`, () => statusOf(name).containerStatuses?.[0]?.ready === true);
  for (const name of ['critical', 'asks', 'modest']) await runs(name);

  const writeStatic = (name: string): void =>
    writeFileSync(
      join(manifests, `${name}.json`),
      JSON.stringify({
        ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default' } },
        spec: { containers: [{ name: 'c', image: IMAGE }] },
      }),
    );
  writeStatic('first');
  await runs('first-node');
  const status = statusOf('modest');
  assert.deepEqual(
    [status.phase, status.reason, status.message],
    ['Failed', 'Preempting', 'Preempted in order to admit critical pod'],
  );
  const disruption = status.conditions?.find(({ type }) => type === 'DisruptionTarget');
  assert.deepEqual(
    [disruption?.status, disruption?.reason, disruption?.message],
    ['True', 'TerminationByKubelet', 'Pod was preempted by Kubelet to accommodate a critical pod.'],
  );
  assert.deepEqual([statusOf('asks').phase, statusOf('critical').phase], ['Running', 'Running']);

  // A pod that is not critical is refused as ever, and displaces nobody.
  put('late');
  await until('late to be refused', () => statusOf('late').reason === 'OutOfpods');
  assert.equal(statusOf('asks').phase, 'Running');
  writeStatic('second');
  await runs('second-node');
  assert.equal(statusOf('asks').reason, 'Preempting');
  assert.equal(statusOf('critical').phase, 'Running');

  // Nobody is left who may go.
  put('third', { priority: 2_000_000_000 });
  await until('third to be refused', () => statusOf('third').phase === 'Failed');
  assert.deepEqual(
    [statusOf('third').reason, statusOf('third').message],
    [
      'UnexpectedAdmissionError',
      'Pod was rejected: Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods ' +
        'to preempt: no set of running pods found to reclaim resources: [(res: pods, q: 1), ]',
    ],
  );

  assert.match(await agent.metrics(), /^kubelet_preemptions\{preemption_signal="pods"\} 2$/m);
  const told = (): { type: string; reason: string; message: string; involvedObject: { name: string } }[] =>
    server.requestsOf({ verb: 'create', resource: 'events' }).map(({ body }) => body as never);
  const preempting = () => told().filter(({ reason }) => reason === 'Preempting');
  await until('events to come', () => preempting().length === 2);
  assert.deepEqual(
    preempting().map(({ type, message, involvedObject }) => [type, message, involvedObject.name]),
    ['modest', 'asks'].map((name) => ['Warning', 'Preempted in order to admit critical pod', name]),
  );
  const why = await explainFromJournal({ pod: 'default/asks', journals: [join(dir, 'journal')], now: Date.now() });
  assert.ok(
    why.causes.some(({ text }) => text.includes('it gave way to a critical pod')),
    JSON.stringify(why.causes),
  );
});

test('for the resize of a critical pod another one goes, and it is granted then', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'actorlet-preemption-'));
  const server = await startFakeApiServer();
  const socket = join(dir, 'cri.sock');
  const sim = await startSimulatedRuntime({ socket, script: { images: [PRESENT] }, seed: 1 });
  const share = (part: number): string => String(Math.floor((totalmem() * part) / 1024) * 1024);
  const put = (name: string, memory: string, spec: object = {}, generation = 1): unknown =>
    server.put(PODS, {
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default', generation }, status: {} },
      spec: {
        ...{ nodeName: 'node', restartPolicy: 'Always', terminationGracePeriodSeconds: 1, ...spec },
        containers: [{ name: 'c', image: IMAGE, resources: { requests: { memory } } }],
      },
    });
  put('critical', share(0.1), { priority: 2_000_000_000 });
  put('large', share(0.6));
  put('small', share(0.05));
  const begun = startAgent({ dir, endpoint: `unix://${socket}`, kubeconfigPath: server.kubeconfigPath });
  endWithTest(t, { dir, agent: begun, sim, server });
  const agent = await begun;
  const podOf = (name: string) => server.get({ ...PODS, namespace: 'default' }, name) as Pod | undefined;
  for (const name of ['critical', 'large', 'small'])
    await until(`${name} to run`, () => podOf(name)?.status?.containerStatuses?.[0]?.ready === true);
  const { metadata, spec, status } = podOf('critical') ?? {};
  const [container] = spec?.containers ?? [];
  assert.ok(metadata && spec && container);
  const memory = share(0.6);
  server.put(PODS, {
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, generation: 2 }, status },
    spec: { ...spec, containers: [{ ...container, resources: { requests: { memory } } }] },
  } as never);
  await until('large to go', () => podOf('large')?.status?.reason === 'Preempting');
  await until('the resize to be granted', () => {
    const given = podOf('critical')?.status?.containerStatuses?.[0]?.allocatedResources as
      Record<string, string> | undefined;
    return given?.['memory'] !== undefined && parseBytes(given['memory']) === Number(memory);
  });
  assert.equal(podOf('small')?.status?.phase, 'Running');
  assert.match(await agent.metrics(), /^kubelet_preemptions\{preemption_signal="memory"\} 1$/m);
  // Pods that come are judged again, by what is left.
  put('late', share(0.1));
  await until('late to run', () => podOf('late')?.status?.containerStatuses?.[0]?.ready === true);
});
