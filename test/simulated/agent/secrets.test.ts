import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import { createLogger } from '../../../actors/record/logging/create-logger.ts';
import { observePod } from '../../../actors/runtime/pleg/observe-pod.ts';
import { answerShard, askMain } from '../../../actors/pods/shard/ask-main.ts';
import type { Answer, Question } from '../../../actors/pods/shard/ask-main.ts';
import type { Ask, AskCatalog, AskType } from '../../../machines/protocol/ask.ts';
import { effectObservations } from '../../../actors/pods/shard/effect-observations.ts';
import { effectRunner } from '../../../actors/pods/shard/effect-runner.ts';
import { Shard } from '../../../actors/pods/shard/shard.ts';
import type { FromShard, PodReport } from '../../../actors/pods/shard/shard-protocol.ts';
import { createCriClient } from '../../../cri/client/cri-client.ts';
import { startSimulatedRuntime } from '../../../cri/sim/simulated-runtime.ts';
import type { SimScript } from '../../../cri/sim/script.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { ALL_BEHAVIOUR } from '../../../machines/protocol/behaviour.ts';
import { files, folder, replayed } from '../../pure/journal/journal-fixture.ts';
import { nodeSettings } from '../../pure/qos/node-settings.ts';
import { IMAGE, PRESENT, until } from './support/bench.ts';

const SECRET = 'hunter2-Zq7';
const UID = 'u-secret';

/** Main's answers: one secret, and the variables of one service. */
const answers = ((what: AskType, { kind, name }: AskCatalog['object.Get']['params']) => {
  const db = { data: { PASSWORD: SECRET }, binaryData: {}, type: 'Opaque' };
  if (what === 'object.Get') return Promise.resolve({ found: kind === 'secret' && name === 'db' ? db : null });
  return Promise.resolve({ envs: [{ key: 'KUBERNETES_SERVICE_HOST', value: '10.96.0.1' }] });
}) as Ask;

function podOf(...containers: NonNullable<Pod['spec']>['containers']): Pod {
  return {
    metadata: { name: 'p', namespace: 'ns', uid: UID },
    spec: { restartPolicy: 'Always', enableServiceLinks: true, containers },
  };
}

/** A shard of a cluster's node on a simulated runtime; the test is its main thread. */
async function clusterShard(t: TestContext, script: SimScript = {}) {
  const dir = folder(t);
  const socket = join(dir, 'cri.sock');
  const sim = await startSimulatedRuntime({ socket, script: { images: [PRESENT], ...script }, seed: 1 });
  const cri = createCriClient({ endpoint: `unix://${socket}` });
  const settings = nodeSettings({
    cluster: true,
    rootDir: join(dir, 'root'),
    podLogsDir: join(dir, 'pod-logs'),
    cgroupsPerQOS: false,
    behaviour: [...ALL_BEHAVIOUR],
  });
  const lines: string[] = [];
  const log = createLogger({ format: 'json', verbosity: 9 }, { write: (line) => lines.push(line) });
  const heard: string[] = [];
  const reports: PodReport[] = [];
  const { port1: main, port2: worker } = new MessageChannel();
  const asker = askMain((question) => worker.postMessage(question));
  worker.on('message', (answer: Answer) => asker.answered(answer));
  main.on('message', (q: Question) => void answerShard(answers, q, (answer) => main.postMessage(answer)));

  const observe = async (): Promise<void> => {
    const listed = {
      uid: UID,
      name: 'p',
      namespace: 'ns',
      sandboxIds: [...sim.state.sandboxes.keys()],
      containers: [...sim.state.containers.values()].map(({ id, sandbox }) => ({ id, sandboxId: sandbox.id })),
    };
    const observed = await observePod(cri, listed, Date.now());
    shard.post(UID, { type: 'pod.observed', at: Date.now(), observed });
  };
  const shard: Shard = new Shard({
    settings,
    journal: { dir: join(dir, 'journal'), shard: 0, agent: 'test', settings, maxBytes: 1 << 24, log },
    log,
    now: Date.now,
    send: (message: FromShard) => {
      heard.push(JSON.stringify(message));
      if (message.t === 'report') reports.push(message.report);
      // One that the end of the test cuts off is nobody's any more.
      if (message.t === 'observe') void observe().catch((error: unknown) => assert.ok(over, String(error)));
    },
    observe: (batch) => void heard.push(JSON.stringify(batch)),
    run: effectRunner({
      cri,
      host: {
        rootDir: settings.rootDir,
        podLogsDir: settings.podLogsDir,
        containerLogsDir: join(dir, 'container-logs'),
        cgroupVersion: 1,
        cgroupDriver: 'cgroupfs',
        ask: asker.ask,
        log,
      },
      now: Date.now,
      onDone: (effect, seconds, error) =>
        heard.push(JSON.stringify([effectObservations.effect(effect, seconds, error), error])),
    }),
  });
  let over = false;
  t.after(async () => {
    over = true;
    shard.close();
    main.close();
    worker.close();
    cri.close();
    await sim.stop();
  });
  return {
    sim,
    shard,
    /** Folder of an emptyDir volume of the pod. */
    volume: (name: string) => join(settings.rootDir, 'pods', UID, 'volumes/kubernetes.io~empty-dir', name),
    start: (pod: Pod) =>
      shard.post(UID, {
        type: 'pod.start',
        at: Date.now(),
        pod,
        source: 'api',
        observed: null,
        memory: null,
        runtimeReady: true,
        networkReady: true,
      }),
    /** The newest status of a container. */
    status: (name: string) => reports.at(-1)?.status.containerStatuses?.find((c) => c.name === name),
    created: (name: string) => [...sim.state.containers.values()].find((c) => c.metadata.name === name)?.config,
    /** All that is written down or leaves the shard. */
    traces: () => ({
      journal: files(join(dir, 'journal'))
        .map(({ text }) => text)
        .join('\n'),
      log: lines.join(''),
      main: heard.join('\n'),
    }),
    replayed: () => replayed(join(dir, 'journal')),
  };
}

function assertNoSecret(traces: Record<string, string>): void {
  for (const [where, text] of Object.entries(traces)) {
    assert.ok(text.length > 100, `nothing was seen of the ${where}`);
    for (const form of [SECRET, Buffer.from(SECRET).toString('base64')])
      assert.equal(text.includes(form), false, `the secret is in the ${where}`);
  }
}

const fromSecret = {
  image: IMAGE,
  imagePullPolicy: 'IfNotPresent',
  command: ['run', '--password=$(PASSWORD)'],
  args: ['$(KUBERNETES_SERVICE_HOST)'],
  envFrom: [{ secretRef: { name: 'db' } }],
  env: [
    { name: 'AGAIN', valueFrom: { secretKeyRef: { name: 'db', key: 'PASSWORD' } } },
    { name: 'URL', value: 'db://u:$(PASSWORD)@h' },
  ],
};

test('a secret reaches the container, and neither the journal, the log, a reading nor a message', async (t) => {
  const it = await clusterShard(t);
  it.start(podOf({ name: 'c', ...fromSecret }));
  await until('the container to run', () => it.status('c')?.state?.running !== undefined);
  const config = it.created('c');
  assert.deepEqual(
    config?.envs.map(({ key, value }) => `${key}=${value}`),
    [`PASSWORD=${SECRET}`, `AGAIN=${SECRET}`, `URL=db://u:${SECRET}@h`, 'KUBERNETES_SERVICE_HOST=10.96.0.1'],
  );
  assert.deepEqual([config?.command, config?.args], [['run', `--password=${SECRET}`], ['10.96.0.1']]);
  it.shard.close();
  assertNoSecret(it.traces());
  assert.equal((await it.replayed()).difference, null);
});

test('nor when the call fails, or another object is missing', async (t) => {
  const failing = { match: { rpc: 'CreateContainer', container: 'broken' }, fail: { code: 'Unknown', message: 'no' } };
  const it = await clusterShard(t, { faults: [failing] } as SimScript);
  const missing = { name: 'X', valueFrom: { configMapKeyRef: { name: 'none', key: 'k' } } };
  it.start(
    podOf({ name: 'broken', ...fromSecret }, { name: 'lacking', ...fromSecret, env: [...fromSecret.env, missing] }),
  );
  await until('both to have failed', () =>
    ['broken', 'lacking'].every((name) => /^CreateContainer/.test(it.status(name)?.state?.waiting?.reason ?? '')),
  );
  assert.deepEqual(it.status('lacking')?.state?.waiting, {
    reason: 'CreateContainerConfigError',
    message: 'configmap "none" not found',
  });
  assert.equal(it.status('broken')?.state?.waiting?.reason, 'CreateContainerError');
  it.shard.close();
  const traces = it.traces();
  assert.match(traces.main, /"reason":"Failed","message":"Error: configmap \\"none\\" not found"/);
  assertNoSecret(traces);
});

test('nor does what stands in a file of a volume (KEP-3721)', async (t) => {
  const it = await clusterShard(t);
  mkdirSync(it.volume('v'), { recursive: true });
  writeFileSync(join(it.volume('v'), 'env'), `PASSWORD='${SECRET}'\nBAD=${SECRET}\n`);
  const of = (key: string) => ({ name: key, valueFrom: { fileKeyRef: { volumeName: 'v', path: 'env', key } } });
  const container = { image: IMAGE, imagePullPolicy: 'IfNotPresent', command: ['run', '$(PASSWORD)'] };
  const pod = podOf(
    { name: 'c', ...container, env: [of('PASSWORD')], volumeMounts: [{ name: 'v', mountPath: '/v' }] },
    { name: 'bad', ...container, env: [of('PASSWORD'), of('BAD')] },
  );
  it.start({ ...pod, spec: { ...pod.spec, volumes: [{ name: 'v', emptyDir: {} }] } as Pod['spec'] });
  await until('one to run and one to fail', () => {
    return it.status('c')?.state?.running !== undefined && it.status('bad')?.state?.waiting?.message !== undefined;
  });
  assert.deepEqual(it.created('c')?.command, ['run', SECRET]);
  assert.deepEqual(it.status('bad')?.state?.waiting, {
    reason: 'CreateContainerConfigError',
    message: "couldn't parse env file",
  });
  it.shard.close();
  const traces = it.traces();
  assert.match(traces.journal, /"step":"file"/);
  assert.match(traces.log, /Failed to parse env file/);
  assertNoSecret(traces);
  assert.equal((await it.replayed()).difference, null);
});
