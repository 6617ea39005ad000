import assert from 'node:assert/strict';
import { appendFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { explainCommand } from '../../../bin/commands/explain.ts';
import type { Explanation } from '../../../machines/explain/explanation.ts';
import { startSimNode } from '../metrics/sim-node.ts';

const IMAGE = 'registry.example/present:1';

function manifest(name: string, over: { uid?: string; image?: string; spec?: object } = {}): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...(over.uid !== undefined && { uid: over.uid }) },
    spec: {
      terminationGracePeriodSeconds: 1,
      containers: [{ name: 'c', image: over.image ?? IMAGE, env: [{ name: 'KEY', value: 'geheimnis' }] }],
      ...over.spec,
    },
  };
}

async function explain(...args: string[]): Promise<string> {
  let out = '';
  const command = explainCommand({ write: (text) => (out += text), now: Date.now }).exitOverride();
  await command.parseAsync(args, { from: 'user' });
  return out;
}

async function explainJson(...args: string[]): Promise<Explanation> {
  return JSON.parse(await explain('--json', ...args)) as Explanation;
}

test('a pod of a live agent is explained from its journal: what failed, what comes next, which file', async (t) => {
  const node = await startSimNode(t, {
    images: [
      { image: IMAGE, present: true },
      { image: 'registry.example/lost:1', pull: { fail: { code: 'NotFound', message: 'no such manifest' } } },
    ],
  });
  const journal = ['--journal', node.journalDir];
  await node.put('lost', manifest('lost', { image: 'registry.example/lost:1' }));
  await node.put('web', manifest('web'));
  const state = (name: string) => node.node.store.rows().find((row) => row.name === `${name}-ref`)?.state;
  await node.until('both stand', () => state('lost') === 'syncing.imageBackOff' && state('web') === 'syncing.running');

  const lost = await explainJson('default/lost-ref', ...journal);
  assert.equal(lost.state, 'syncing.imageBackOff');
  assert.match(
    lost.summary,
    /c: PullImage of registry\.example\/lost:1 failed once \(.*no such manifest.*\); next try in/,
  );
  assert.ok(lost.summary.includes(`spec came from file ${join(node.folder, 'manifests', 'lost.json')} at `));
  assert.ok((lost.next?.at ?? 0) > lost.now);

  // By its name, without the node's at its end, and by its UID.
  const { uid } = lost.pod;
  for (const name of ['lost', 'lost-ref', 'default/lost', uid])
    assert.match(await explain(name, ...journal), /^default\/lost-ref \(.*\)\n {2}waiting in syncing\.imageBackOff/);

  // A moment before.
  const running = await explainJson('web', ...journal);
  assert.equal(running.state, 'syncing.running');
  const started = running.since;
  await node.remove('web');
  await node.until('web is gone', () => state('web') === undefined);
  const gone = await explainJson('web', ...journal);
  assert.equal(gone.gone, true);
  assert.match(
    gone.summary,
    /^gone since .*: it was removed from its source \(file\); spec came from file .*web\.json/,
  );
  assert.ok(gone.causes.some(({ text }) => /^c ended with|nothing of it is left/.test(text)));
  assert.equal((await explainJson('web', ...journal, '--at', String(started))).state, 'syncing.running');
  assert.equal(
    (await explainJson('web', ...journal, '--at', new Date(started + 1).toISOString())).state,
    'syncing.running',
  );

  for (const text of [await explain('lost', ...journal), JSON.stringify([lost, running, gone])])
    assert.doesNotMatch(text, /geheimnis/);

  await assert.rejects(explain('nobody', ...journal), /EXP001: The pod nobody is not in the journal/);
  await assert.rejects(explain('lost', ...journal, '--at', 'soon'), /EXP003: --at soon: not a time/);
  await assert.rejects(
    explain('lost', ...journal, '--at', '1000000000000'),
    /EXP004: .*not yet at 2001-09-09T01:46:40Z/,
  );
  await assert.rejects(explain('lost', '--root-dir', node.folder, '--journal', join(node.folder, 'none')), /JRN001/);

  // After the agent has ended, with half a line at the end: the newest moment of the journal counts.
  await node.node.stop();
  for (const file of (await readdir(node.journalDir)).filter((name) => name.endsWith('.jsonl')))
    await appendFile(join(node.journalDir, file), '{"r":"msg","n":9');
  const after = await explainJson('lost', ...journal);
  assert.equal(after.state, 'syncing.imageBackOff');
});

test('a pod that waits for its predecessor of the same name, and a name that several pods have', async (t) => {
  const node = await startSimNode(t, {
    images: [{ image: IMAGE, present: true }],
    containers: [{ match: { pod: 'web-ref' }, onStop: 'ignore' }],
  });
  const journal = ['--journal', node.journalDir];
  const slow = { spec: { terminationGracePeriodSeconds: 3600 } };
  await node.put('web', manifest('web', { uid: 'uid-one', ...slow }));
  await node.put('other', { ...manifest('web'), metadata: { name: 'web', namespace: 'other' } });
  const of = (uid: string) => node.node.store.rows().find((row) => row.uid === uid);
  await node.until('it runs', () => of('uid-one')?.state === 'syncing.running');
  await node.put('web', manifest('web', { uid: 'uid-two', ...slow }));
  await node.until('it ends', () => of('uid-one')?.state === 'terminating.stoppingContainers');

  const waits = await explainJson('uid-two', ...journal);
  assert.equal(waits.state, 'waitingForPredecessor');
  assert.match(
    waits.summary,
    /another pod of the same name \(uid uid-one\) must end first; spec came from file .*web\.json/,
  );
  // The name tells the newest of the two.
  assert.equal((await explainJson('default/web', ...journal)).pod.uid, 'uid-two');
  const ends = await explainJson('uid-one', ...journal);
  assert.match(
    ends.summary,
    /^ending in terminating\.stoppingContainers .*c was told to stop \(SIGTERM\) and has not ended/,
  );
  await assert.rejects(
    explain('web', ...journal),
    /EXP002: web is the name of several pods: .*(default|other)\/web-ref/,
  );
});
