import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { machineClock } from '../../../actors/host/time/clock.ts';
import { fleetClock } from '../../../actors/node/fleet/fleet-clock.ts';
import { planNodes } from '../../../actors/node/fleet/profile/plan-nodes.ts';
import { checkProfile } from '../../../actors/node/fleet/profile/read-profile.ts';
import { SimulatedMachine } from '../../../actors/node/fleet/simulated-machine.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';

const LABELS = { 'io.kubernetes.pod.uid': 'u', app: 'web' };
const NO_SERVICES = () => Promise.resolve({ envs: [] });
const NO_ASK = () => Promise.reject(new Error('nobody is to be asked'));

function machineOf(t: TestContext, profile: object, seed = 1, clock = fleetClock()): SimulatedMachine {
  const checked = checkProfile(profile);
  const [node] = planNodes(checked, { count: 1, first: 0 });
  assert.ok(node !== undefined);
  const machine = new SimulatedMachine({
    ...{
      node,
      profile: checked,
      seed,
      rootDir: '/nowhere/node-0',
      address: '192.0.2.1',
      timeoutMs: 1_000,
      clock,
      log: pino({ level: 'silent' }),
    },
  });
  t.after(() => machine.runtime.stop());
  return machine;
}

/** Runs a container of a pod with UID `u`; gives its id. */
async function run({ runtime: { client } }: SimulatedMachine, name = 'c', image = 'app:1'): Promise<string> {
  const sandboxConfig = { metadata: { name: 'p', namespace: 'n', uid: 'u', attempt: 0 }, labels: LABELS };
  const { podSandboxId } = await client.runtime.runPodSandbox({ config: sandboxConfig });
  await client.image.pullImage({ image: { image } });
  const config = { metadata: { name, attempt: 0 }, image: { image, userSpecifiedImage: image }, labels: LABELS };
  const { containerId } = await client.runtime.createContainer({ podSandboxId, config, sandboxConfig });
  await client.runtime.startContainer({ containerId });
  return containerId;
}

function get(machine: SimulatedMachine, kind: string, path = '/') {
  const params = { scheme: 'http', host: '10.128.0.2', port: 80, path, headers: [], timeoutMs: 50 };
  return machine.network.run('net.HttpGet', `probe/c/${kind}/1`, params, 'u');
}

test('a runtime that hangs answers nobody until it goes on; one that is gone refuses', async (t) => {
  const machine = machineOf(t, {});
  const { client } = machine.runtime;
  const id = await run(machine);
  machine.runtime.setHanging(true);
  await assert.rejects(client.runtime.status({}, { timeoutMs: 20 }), { code: 'DeadlineExceeded' });
  machine.runtime.setHanging(false);
  assert.equal((await client.runtime.containerStatus({ containerId: id })).status?.state, 1);
  machine.runtime.setDown(true);
  await assert.rejects(client.runtime.listContainers({}), { code: 'Unavailable' });
  machine.runtime.setDown(false);
  assert.equal((await client.runtime.listContainers({})).containers.length, 1);
});

test('after a power failure nothing runs, and the boot has another id', async (t) => {
  const machine = machineOf(t, {});
  const id = await run(machine);
  const { bootID, machineID } = machine.facts.machine;
  await machine.powerOff();
  const { status } = await machine.runtime.client.runtime.containerStatus({ containerId: id });
  assert.deepEqual([status?.state, status?.exitCode], [2, 255]);
  assert.notEqual(machine.facts.machine.bootID, bootID);
  assert.equal(machine.facts.machine.machineID, machineID);
});

test('the same seed makes the same machine, another seed another one', (t) => {
  const [a, b, c] = [machineOf(t, {}), machineOf(t, {}), machineOf(t, {}, 2)];
  assert.deepEqual(a.facts.machine, b.facts.machine);
  assert.notEqual(a.facts.machine.systemUUID, c.facts.machine.systemUUID);
  // Each kubelet on amd64 tells of them, and of none.
  const sizes = a.facts.machine.hugePages.map(({ pageBytes, pages }) => [pageBytes, pages]);
  assert.deepEqual(sizes, [
    [2 ** 21, 0],
    [2 ** 30, 0],
  ]);
});

test('what is to end does, all else runs', async (t) => {
  const ends = { init: 10, job: 20 };
  for (const [name, spec, ended] of [
    ['c', { containers: [{ name: 'c' }] }, false],
    ['c', { containers: [{ name: 'c' }], restartPolicy: 'OnFailure' }, true],
    ['i', { containers: [{ name: 'c' }], initContainers: [{ name: 'i' }] }, true],
    ['i', { containers: [{ name: 'c' }], initContainers: [{ name: 'i', restartPolicy: 'Always' }] }, false],
  ] as const) {
    const machine = machineOf(t, { ends });
    machine.podOf = () => ({ spec }) as unknown as Pod;
    const containerId = await run(machine, name);
    const state = async () => (await machine.runtime.client.runtime.containerStatus({ containerId })).status?.state;
    // One that goes on is looked at when another would have ended.
    for (let i = 0; i < 100 && (await state()) !== 2 && (ended || i < 5); i++) await sleep(20);
    assert.equal(await state(), ended ? 2 : 1, JSON.stringify(spec));
  }
});

test('probes are answered by the first rule that fits, and by nobody where nothing runs', async (t) => {
  const machine = machineOf(t, {
    probes: [
      { match: { labels: { app: 'w*' } }, kind: ['liveness'], answers: [{ status: null }] },
      { match: { image: 'app:1' }, path: '/slow', answers: [{ hang: true }] },
      { match: { labels: { app: 'other' } }, answers: [{ status: 500 }] },
    ],
  });
  await assert.rejects(
    get(machine, 'readiness'),
    /^HostFailure: Get "http:\/\/10\.128\.0\.2:80\/": dial tcp .* connection refused$/,
  );
  const id = await run(machine);
  assert.deepEqual(await get(machine, 'readiness'), { status: 200, body: 'ok' });
  await assert.rejects(get(machine, 'liveness'), /connection refused/);
  await assert.rejects(get(machine, 'readiness', '/slow'), /Client\.Timeout exceeded while awaiting headers/);
  await machine.runtime.client.runtime.stopContainer({ containerId: id, timeout: '0' });
  await assert.rejects(get(machine, 'readiness'), /connection refused/);
});

test('a hostPath never leads to a path of this machine', async (t) => {
  const machine = machineOf(t, {});
  const owner = { namespace: 'n', name: 'p', serviceAccount: 'default' };
  const volumes = ['/', '/etc', '/a/../../..'].map((path, i) => ({
    name: `v${i}`,
    kind: 'hostPath' as const,
    path,
    type: '',
  }));
  const result = await machine.host.run('host.SetUpVolumes', { podUid: 'u', owner, volumes }, NO_ASK as never);
  const { paths } = result as { paths: Record<string, string> };
  for (const path of Object.values(paths)) assert.match(path, /^\/nowhere\/node-0\/hosts/);
});

test('a subPath that is an expression is expanded, and one that leads out of its volume refused', async (t) => {
  const machine = machineOf(t, {});
  const prepare = (value: string) =>
    machine.host.run(
      'host.PrepareContainer',
      {
        ...{ podUid: 'u', containerName: 'c', logDirectory: '/nowhere/logs', containerLogDirectory: 'c' },
        terminationLogPath: '',
        subPaths: [{ key: 'v/0', volumePath: '/v', subPath: '$(WHERE)', readOnly: false, expand: true }],
        env: {
          namespace: 'n',
          serviceLinks: false,
          steps: [{ step: 'set', name: 'WHERE', value }],
          command: [],
          args: [],
        },
      },
      NO_SERVICES as never,
    );
  assert.deepEqual(await prepare('a/b'), { subPaths: { 'v/0': '/v/a/b' } });
  await assert.rejects(prepare('/etc'), { message: 'error SubPath `$(WHERE)` must not be an absolute path' });
});

test('memory and disk that are full are seen by eviction, and usage follows its curve', async (t) => {
  const machine = machineOf(t, {
    groups: [{ name: 'n', machine: { memory: '1Gi', disk: '10Gi' } }],
    usage: [{ match: {}, cpu: { base: '500m' }, memory: { base: '64Mi' } }],
  });
  await run(machine);
  const { node, pods } = await machine.usage.summary();
  assert.equal(pods[0]?.memory?.workingSetBytes, 64 * 2 ** 20);
  assert.equal(pods[0]?.cpu?.usageNanoCores, 5e8);
  assert.equal(node.memory?.availableBytes, (1024 - 256 - 64) * 2 ** 20);
  machine.fill('memory', true);
  machine.fill('disk', true);
  const full = await machine.usage.nodeAlone();
  assert.equal(full.memory?.availableBytes, 0);
  assert.ok((full.fs?.availableBytes ?? 1) < 0.02 * 10 * 2 ** 30);
  machine.fill('memory', false);
  assert.equal((await machine.usage.nodeAlone()).memory?.availableBytes, node.memory?.availableBytes);
});

test('on a clock that runs faster usage grows faster, and statistics and logs have the times of the machine', async (t) => {
  const times = { now: Date.parse('2026-03-01T12:00:00Z') };
  const real = { ...machineClock, now: () => times.now, steady: () => times.now, looking: () => times.now };
  const usage = [{ match: {}, cpu: { base: '500m' }, memory: { base: '64Mi', grows: '6Mi' } }];
  const machine = machineOf(t, { usage }, 1, fleetClock(10, real));
  await run(machine);
  const look = async () => {
    const { pods } = await machine.usage.summary();
    const [container] = pods[0]?.containers ?? [];
    const { cpu, memory, startTime } = container ?? {};
    return {
      ms: (cpu?.time ?? 0) / 1e6,
      nanos: cpu?.usageCoreNanoSeconds ?? 0,
      bytes: memory?.workingSetBytes,
      startTime,
    };
  };
  const before = await look();
  times.now += 30_000;
  const after = await look();
  assert.equal(after.ms, times.now);
  assert.equal(after.startTime, before.startTime);
  assert.equal((after.nanos - before.nanos) / 1e9, 15, 'half a CPU for 30 s');
  assert.equal(after.bytes, (64 + 5 * 6) * 2 ** 20, 'five minutes of the nodes have gone by');
  const folder = mkdtempSync(join(tmpdir(), 'fleet-log-'));
  t.after(() => rmSync(folder, { recursive: true }));
  machine.logs.write(join(folder, '0.log'), machine.runtime.core.clock.now(), 'stdout', 'hello');
  machine.logs.close(join(folder, '0.log'));
  assert.match(readFileSync(join(folder, '0.log'), 'utf8'), /^2026-03-01T12:00:30\.000\d{6}Z stdout F hello\n$/);
});
