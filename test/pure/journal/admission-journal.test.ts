/** Admission: its log replays, what was changed in it is found, and nothing of what a pod runs is in it. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { journalsCompressed } from '../../../actors/record/journal/segment-log.ts';
import { createMetrics } from '../../../actors/record/metrics/metrics-registry.ts';
import { admissionRules } from '../../../actors/resources/admission/admission-rules.ts';
import { NodeAdmission } from '../../../actors/resources/admission/node-admission.ts';
import type { Node } from '../../../machines/node-object/node-types.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { PodReport } from '../../../actors/pods/shard/shard-protocol.ts';
import { container, node, pod } from '../admission/admission-input.ts';
import { nodeSettings } from '../qos/node-settings.ts';
import { folder, memoryLog, replayed } from './journal-fixture.ts';

const FILE = join('admission', 'admission-00000001.jsonl');

/** A pod that asks for so many CPUs, with texts that must not stand on disk. */
const asking = (name: string, cpu: string, generation = 1): Pod => {
  const main = container('main', { cpu }, { env: [{ name: 'A', value: 'a-password' }], args: ['--key=a-password'] });
  const annotations = { note: 'a-password' };
  return pod(name, { containers: [main] }, { name, namespace: 'default', uid: `uid-${name}`, generation, annotations });
};

/** Admission of a node with 4 CPUs; what it told of changed pods. */
function admissionIn(t: TestContext, dir: string, maxBytes = 1 << 20) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const rootDir = join(dir, 'root');
  mkdirSync(rootDir, { recursive: true });
  const world = { own: node() as Node | null, at: 1_000, changed: [] as string[], refusal: null as string | null };
  const config = { allowedUnsafeSysctls: [], maxPods: 110, podsPerCore: 0 };
  const admission = new NodeAdmission({
    rules: admissionRules(config, nodeSettings()),
    ...{ rootDir, log: memoryLog().log, now: () => world.at++, metrics: createMetrics({ processMetrics: false }) },
    node: () => world.own,
    freshNode: () => Promise.resolve(node({ labels: { zone: 'a' } })),
    record: ({ name, reason }) => world.changed.push(`${name} ${reason}`),
    sourcesReady: () => true,
    refuses: () => (world.refusal === null ? null : { message: world.refusal }),
    makeRoom: (_pod, victims) => world.changed.push(...victims.map(({ name }) => `${name} is to go`)),
    changed: ({ metadata, spec }) =>
      world.changed.push(
        `${metadata?.name ?? ''} runs with ${spec?.containers[0]?.resources?.requests?.['cpu'] ?? ''}`,
      ),
    journal: { dir, agent: 'v', maxBytes, log: memoryLog().log },
  });
  const comes = (one: Pod) => {
    const refusal = admission.admit(one);
    if (refusal === null) admission.admitted(one);
    return refusal;
  };
  return { world, admission, comes };
}

const reportOf = (uid: string, phase: string): PodReport => ({
  ...{ uid, why: '', state: phase === 'Succeeded' ? 'terminated.done' : 'syncing' },
  status: { phase, observedGeneration: 1 },
  memory: { containers: {}, probes: {}, messages: {} },
});

/** Two pods come, one is refused, one asks for more and waits until the other has ended; one waits for a label. */
async function story(t: TestContext, dir: string) {
  const made = admissionIn(t, dir);
  const { admission, comes, world } = made;
  comes(asking('a', '2'));
  comes(asking('b', '2'));
  assert.equal(comes(asking('c', '1'))?.reason, 'OutOfcpu');
  admission.reported(reportOf('uid-a', 'Running'));
  admission.updated(asking('a', '3', 2));
  for (let i = 0; i < 5; i++) admission.reported(reportOf('uid-b', 'Running'));
  admission.reported(reportOf('uid-b', 'Succeeded'));
  await turn();
  const choosy = pod('d', { nodeSelector: { zone: 'a' }, containers: [container('main')] });
  const refused = admission.admit(choosy);
  assert.ok(refused?.retryWithFreshNode);
  assert.equal(await admission.admitAfterAll(choosy, refused), null);
  world.own = node({ labels: { zone: 'b' } });
  admission.added();
  admission.removed('uid-a', false);
  admission.gone('uid-a');
  admission.stop();
  return made;
}

test('who comes, waits and goes is decided as before, and all of it replays', async (t) => {
  const dir = folder(t);
  const { world, comes } = await story(t, dir);
  assert.deepEqual(world.changed, ['a ResizeDeferred', 'a runs with 3']);
  const { machines, difference, unanswered } = await replayed(dir);
  assert.deepEqual([machines, difference, unanswered], [['admission'], null, 0]);
  const text = readFileSync(join(dir, FILE), 'utf8');
  assert.ok(!text.includes('password'), 'what a pod runs does not stand there');
  assert.equal(text.split('"type":"pod.reported","at"').length - 1, 3, 'what says nothing new is not told');
  assert.ok(Math.max(...text.split('\n').map((line) => line.length)) < 700, 'lines are short');
  comes(asking('late', '1'));
  assert.equal(readFileSync(join(dir, FILE), 'utf8'), text, 'once it is closed nothing is written');
});

test('a resize waits for what a manager has against the pod, is granted after it, and that replays', async (t) => {
  const dir = folder(t);
  const { world, admission, comes } = admissionIn(t, dir);
  comes(asking('a', '1'));
  world.refusal = 'The node had condition: [DiskPressure]. ';
  admission.updated(asking('a', '2', 2));
  t.mock.timers.tick(180_000);
  assert.deepEqual(world.changed, ['a ResizeDeferred']);
  world.refusal = null;
  t.mock.timers.tick(180_000);
  assert.deepEqual(world.changed, ['a ResizeDeferred', 'a runs with 2']);
  admission.stop();
  const { difference } = await replayed(dir);
  assert.equal(difference, null);
});

test('others end for the resize of a critical pod, which is granted then, and that replays', async (t) => {
  const dir = folder(t);
  const { world, admission, comes } = admissionIn(t, dir);
  const critical = (cpu: string, generation = 1): Pod => {
    const own = asking('a', cpu, generation);
    return { ...own, spec: { containers: [], ...own.spec, priority: 2_000_000_000 } };
  };
  comes(critical('1'));
  comes(asking('b', '2'));
  admission.updated(critical('3', 2));
  assert.deepEqual(world.changed, ['b is to go']);
  admission.reported(reportOf('uid-b', 'Succeeded'));
  await turn();
  assert.deepEqual(world.changed, ['b is to go'], 'nobody is looked at before the room is made');
  admission.roomMade('uid-a');
  assert.deepEqual(world.changed, ['b is to go', 'a runs with 3']);
  admission.stop();
  const { difference } = await replayed(dir);
  assert.equal(difference, null);
});

test('a verdict or a resize that was decided otherwise than recorded is found', async (t) => {
  const dir = folder(t);
  await story(t, dir);
  const text = readFileSync(join(dir, FILE), 'utf8');
  const changed = async (from: string, to: string) => {
    assert.ok(text.includes(from), from);
    writeFileSync(join(dir, FILE), text.replace(from, to));
    const { difference } = await replayed(dir);
    return [difference?.pod, difference?.what];
  };
  assert.deepEqual(await changed('"reason":"OutOfcpu"', '"reason":"OutOfmemory"'), ['admission', 'order 1 of 1']);
  assert.deepEqual(await changed('"s":"resizesWait"', '"s":"settled"'), ['admission', 'state']);
  assert.deepEqual(await changed('"cpu":"4"', '"cpu":"9"'), ['admission', 'order 1 of 1'], 'a node with more room');
  const [runs, other] = ['{"type":"pod.runs","uid":"uid-a"}', '{"type":"pod.runs","uid":"uid-b"}'];
  assert.match((await changed(runs, other))[1] ?? '', /^order \d of \d$/);
});

test('each segment begins with its place, so that it can be read alone', async (t) => {
  const dir = folder(t);
  const { admission, comes } = admissionIn(t, dir, 65_536);
  for (let i = 0; i < 150; i++) {
    comes(asking(`p${i}`, '100m'));
    if (i > 5) admission.gone(`uid-p${i - 3}`);
    await turn();
    if (i === 3) admission.updated(asking('p0', '4', 2));
  }
  admission.stop();
  await journalsCompressed();
  const names = readdirSync(join(dir, 'admission'));
  // How many are left depends on how soon they were compressed: the bound counts what they take on the disk at the time.
  assert.ok(names.length > 1, String(names));
  for (const name of names) {
    const { difference, messages } = await replayed(join(dir, 'admission', name));
    assert.equal(difference, null, name);
    assert.ok(messages > 0 || name === names.at(-1), name);
  }
});
