import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { nodeBench } from './support/node-bench.ts';

/** One container for each way in which kubelet asks. */
const WAYS: Readonly<Record<string, object>> = {
  exec: { exec: { command: ['are-you', 'well'] } },
  http: { httpGet: { path: '/healthz', port: 80 } },
  tcp: { tcpSocket: { port: 81 } },
  grpc: { grpc: { port: 82 } },
};
const NAMES = Object.keys(WAYS);

/** What the event of a probe that fails ends with. */
const WORDS: Readonly<Record<string, RegExp>> = {
  exec: / probe failed: not yet$/,
  http: / probe failed: HTTP probe failed with statuscode: 503$/,
  tcp: / probe failed: dial tcp 10\.\d+\.\d+\.\d+:81: connect: connection refused$/,
  grpc: / probe failed: service unhealthy \(responded with "NOT_SERVING"\)$/,
};

/** Containers whose probe of this kind is of each way; `more` are further fields of the probe. */
function containers(probe: string, more: object = {}, others: object = {}): object {
  const of = (way: object) => ({ ...way, periodSeconds: 1, ...more });
  return { containers: NAMES.map((name) => ({ name, image: 'app:1', [probe]: of(WAYS[name] ?? {}), ...others })) };
}

const statusOf = (pod: Pod, name: string) => pod.status?.containerStatuses?.find((each) => each.name === name);

/** The answers of all ways to probes of this kind: bad ones, until so long after the start or for so many commands. */
function answers(kind: 'startup' | 'readiness' | 'liveness', [good, bad]: [from: string, from: string], times: number) {
  const by = (status: number | null) => ({ from: bad, status });
  const of = (container: string, status: number | null) => ({
    ...{
      match: { container },
      kind: [kind],
      answers: [...(good < bad ? [{}] : []), by(status), ...(good > bad ? [{ from: good }] : [])],
    },
  });
  const failed = { code: 1, stdout: 'not yet' };
  const results = good < bad ? [{ times }, failed] : [{ ...failed, times }, {}];
  return {
    runtime: { containers: [{ match: { container: 'exec' }, exec: [{ command: 'are-you well', results }] }] },
    probes: [of('http', 503), of('tcp', null), of('grpc', 503)],
  };
}

test('a startup probe holds readiness back, by command, HTTP, TCP and gRPC', async (t) => {
  const bench = await nodeBench(t, answers('startup', ['5s', '0s'], 4));
  // Nothing says no to readiness: what holds it back is the startup probe alone.
  const readinessProbe = { exec: { command: ['true'] }, periodSeconds: 1 };
  bench.create('p', containers('startupProbe', { failureThreshold: 100 }, { readinessProbe }));
  for (const name of NAMES) {
    const { message } = await bench.event('p', 'Unhealthy', WORDS[name]);
    assert.match(message, /^Startup /);
  }
  const pod = await bench.running('p');
  assert.deepEqual(
    NAMES.map((name) => [statusOf(pod, name)?.started, statusOf(pod, name)?.restartCount]),
    NAMES.map(() => [true, 0]),
  );
  const early = bench.statuses('p').flatMap(({ containerStatuses }) => containerStatuses ?? []);
  assert.ok(early.some(({ started, state }) => started === false && state?.running !== undefined));
  assert.ok(early.every(({ started, ready }) => started === true || !ready));
  // Whoever has not started is not asked whether it is ready: for each container the first of its answers came later.
  const ofExec = bench.asked.filter((asked) => asked.startsWith('exec exec:'));
  assert.equal(ofExec.indexOf('exec exec: true'), 5, ofExec.join());
});

test('a readiness probe makes a pod ready and unready, by command, HTTP, TCP and gRPC; nothing is restarted', async (t) => {
  const bench = await nodeBench(t, answers('readiness', ['0s', '8s'], 8));
  bench.create('p', containers('readinessProbe', { failureThreshold: 2 }));
  await bench.running('p');
  const pod = await bench.until('p', 'to be unready in each', ({ status }) =>
    (status?.containerStatuses ?? []).every(({ ready }) => !ready),
  );
  for (const name of NAMES) {
    const { message } = await bench.event('p', 'Unhealthy', WORDS[name]);
    assert.match(message, /^Readiness /);
    assert.equal(statusOf(pod, name)?.restartCount, 0);
  }
  const ready = pod.status?.conditions?.find(({ type }) => type === 'ContainersReady');
  assert.deepEqual(
    [ready?.status, ready?.reason, ready?.message],
    ['False', 'ContainersNotReady', 'containers with unready status: [exec http tcp grpc]'],
  );
});

test('a liveness probe has a container restarted, by command, HTTP, TCP and gRPC', async (t) => {
  const bench = await nodeBench(t, answers('liveness', ['0s', '4s'], 4));
  // A pod each: kubelet tells some 25 events of one at once, and then one each 5 minutes.
  for (const name of NAMES) {
    const livenessProbe = { ...WAYS[name], periodSeconds: 1, failureThreshold: 2 };
    const spec = { containers: [{ name, image: 'app:1', livenessProbe }], terminationGracePeriodSeconds: 5 };
    bench.create(`p-${name}`, spec);
  }
  for (const name of NAMES) {
    const about = `p-${name}`;
    const { message } = await bench.event(about, 'Unhealthy', WORDS[name]);
    assert.match(message, /^Liveness /);
    await bench.event(about, 'Killing', new RegExp(`^Container ${name} failed liveness probe, will be restarted$`));
    const pod = await bench.until(about, 'to be restarted', (p) => (statusOf(p, name)?.restartCount ?? 0) >= 1);
    assert.equal(statusOf(pod, name)?.lastState?.terminated?.exitCode, 143);
  }
});
