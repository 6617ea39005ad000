import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { PodReport, TellPods } from '../../../bin/library.ts';
import { pino } from 'pino';
import { startEmbeddedNode } from '../../../bin/library.ts';
import { startSimulatedRuntime } from '../../../cri/sim/simulated-runtime.ts';
import { waitFor } from '../../tools/wait-for.ts';

const manifest = (name: string, image = 'registry.example/a:1') => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { terminationGracePeriodSeconds: 1, containers: [{ name: 'c', image }] },
});

test('an own source: bad manifests come back as errors, a pod that ran goes on, what is left out ends', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'own-source-'));
  const ends: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true, maxRetries: 3 })];
  t.after(async () => {
    for (const end of ends.reverse()) await end();
  });
  const socket = join(folder, 'cri.sock');
  const runtime = await startSimulatedRuntime({ socket, seed: 1 });
  ends.push(() => runtime.stop());
  let tell: TellPods = () => [];
  let stops = 0;
  const heard: PodReport[] = [];
  const embedded = {
    endpoint: `unix://${socket}`,
    rootDir: join(folder, 'root'),
    containerLogsDir: join(folder, 'container-logs'),
    configuration: {
      podLogsDir: join(folder, 'pod-logs'),
      cgroupsPerQOS: false,
      enforceNodeAllocatable: [],
      failCgroupV1: false,
    },
    flags: ['--hostname-override', 'n', '--shards', '1'],
    log: pino({ level: 'silent' }),
    source: {
      name: 'queue',
      start: (told: TellPods) => {
        tell = told;
      },
      stop: async () => {
        await Promise.resolve();
        stops++;
      },
    },
    onPod: (report: PodReport) => void heard.push(report),
  };
  const url = { ...embedded, configuration: { ...embedded.configuration, staticPodURL: 'http://127.0.0.1:1/' } };
  const node = await startEmbeddedNode(embedded);
  let running = true;
  const stop = async () => {
    if (running) await node.stop();
    running = false;
  };
  ends.push(stop);
  const states = () => Object.fromEntries(node.store.rows().map((row) => [row.name, row.state]));
  const wait = (what: string, done: () => boolean) =>
    waitFor(
      what,
      () => (done() ? true : undefined),
      () => JSON.stringify(states()),
    );

  await assert.rejects(startEmbeddedNode(url), /SRC014/);
  assert.deepEqual(tell([manifest('a'), manifest('b')]), []);
  await wait('both run', () => states()['a-n'] === 'syncing.running' && states()['b-n'] === 'syncing.running');
  const uid = node.store.rows().find((row) => row.name === 'a-n')?.uid;
  const errors = tell([{ ...manifest('a'), spec: { containers: [] } }, manifest('c')]);
  assert.equal(errors.length, 1);
  assert.match(errors[0]?.message ?? '', /SRC001: Cannot use pod default\/a in queue, pod 1/);
  await wait('c runs', () => states()['c-n'] === 'syncing.running');
  assert.equal(states()['a-n'], 'syncing.running', 'it ran and goes on');

  // The place in the list counts for nothing; b is left out now.
  assert.deepEqual(tell([manifest('c'), manifest('a')]), []);
  await wait('b is gone', () => states()['b-n'] === undefined);
  assert.equal(node.store.rows().find((row) => row.name === 'a-n')?.uid, uid);
  assert.equal(runtime.state.calls.count('RunPodSandbox'), 3);
  assert.ok(heard.some((report) => report.uid === uid && report.state === 'syncing.running'));

  await stop();
  assert.equal(stops, 1);
  assert.deepEqual(tell([]), [], 'nothing happens any more');
});
