import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { pino } from 'pino';
import { WebSocket } from 'ws';
import { startFleetInspector } from '../../../actors/inspect/inspector/fleet-inspector.ts';
import type { About, LiveMessage, PodLine } from '../../../actors/inspect/inspector/inspector-api.ts';
import type { RunningInspector } from '../../../actors/inspect/inspector/inspector-server.ts';
import { feed, folder, journalingShard, lifeOf } from '../../pure/journal/journal-fixture.ts';
import { journalOfLives, podNamed } from '../../pure/inspector/made-journal.ts';
import { waitFor } from '../../tools/wait-for.ts';
import { ask, json, pageOf, TOKEN } from './served.ts';

const NONE = { authorization: '' };

/** The inspector of nodes whose journals have one pod each, which is called as its node is. */
async function fleet(t: TestContext, names: readonly string[]): Promise<RunningInspector & { dir: string }> {
  const dir = folder(t);
  for (const name of names) {
    mkdirSync(join(dir, name));
    await journalOfLives(join(dir, name), [podNamed(`of-${name}`)]);
  }
  const server = await startFleetInspector({
    ...{ dir, token: TOKEN, version: 'v-test', page: pageOf(t) },
    address: { host: '127.0.0.1', port: 0 },
    log: pino({ level: 'silent' }),
  });
  t.after(() => server.close());
  return { ...server, dir };
}

const podsOf = (server: RunningInspector, name: string): Promise<string[]> =>
  waitFor(`the pods of ${name}`, async () => {
    const pods = await json<PodLine[]>(server, `/nodes/${name}/api/pods`);
    return pods.length === 0 ? undefined : pods.map((pod) => pod.name);
  });

test('a list of the nodes leads to the inspector of each, with its own journal and the page of all', async (t) => {
  const server = await fleet(t, ['node-10', 'node-2']);
  writeFileSync(join(server.dir, 'inspector-address'), 'none of the nodes');
  assert.deepEqual(await json(server, '/api/nodes'), ['node-2', 'node-10']);
  const list = (await ask(server, '/')).body.toString();
  assert.deepEqual(
    [...list.matchAll(/<a href="([^"]+)">/g)].map(([, href]) => href),
    ['nodes/node-2/', 'nodes/node-10/'],
  );
  const bare = await ask(server, '/nodes/node-2');
  assert.deepEqual([bare.status, bare.headers.location], [303, '/nodes/node-2/']);
  const page = (await ask(server, '/nodes/node-2/')).body.toString();
  const script = /src="([^"]+)"/.exec(page)?.[1] ?? '';
  const { status, headers } = await ask(server, script);
  assert.deepEqual([status, headers['cache-control']], [200, 'private, max-age=31536000, immutable']);
  assert.deepEqual(await podsOf(server, 'node-2'), ['of-node-2']);
  assert.deepEqual(await podsOf(server, 'node-10'), ['of-node-10']);
  assert.equal((await json<About>(server, '/nodes/node-10/api/about')).mode, 'live');
});

test('who has no token gets nothing of any node; no path leads out of the folder', async (t) => {
  const server = await fleet(t, ['node-0']);
  for (const path of ['/', '/api/nodes', '/nodes/node-0/', '/nodes/node-0/api/pods', '/nodes/none/', '/app.css'])
    assert.equal((await ask(server, path, NONE)).status, 401, path);
  const first = await ask(server, `/nodes/node-0/?token=${TOKEN}`, NONE);
  assert.deepEqual([first.status, first.headers.location], [303, '/nodes/node-0/']);
  for (const name of ['none', 'node-0%2F..', '%2e%2e%2fnode-0', 'inspector-address'])
    assert.equal((await ask(server, `/nodes/${name}/api/pods`)).status, 404, name);
  const cleaned = await ask(server, '/nodes/../api/pods');
  assert.deepEqual([cleaned.status, cleaned.headers.location], [301, '/api/pods']);
});

test('changes of one node are told live, while journals that nobody looks at are let go', async (t) => {
  const names = Array.from({ length: 12 }, (_, i) => `node-${i}`);
  const server = await fleet(t, names);
  const headers = { authorization: `Bearer ${TOKEN}` };
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}/nodes/node-0/api/live`, { headers });
  t.after(() => socket.terminate());
  const heard: LiveMessage[] = [];
  socket.on('message', (data: Buffer) => heard.push(JSON.parse(data.toString()) as LiveMessage));
  await once(socket, 'open');
  for (const name of names) assert.deepEqual(await podsOf(server, name), [`of-${name}`]);
  const shard = journalingShard(join(server.dir, 'node-0'));
  t.after(() => shard.close());
  await feed(shard, 'new', lifeOf(podNamed('new')));
  await waitFor('the new pod to be told', () =>
    heard.some((message) => message.type === 'pods' && message.pods.some(({ name }) => name === 'new'))
      ? true
      : undefined,
  );
});
