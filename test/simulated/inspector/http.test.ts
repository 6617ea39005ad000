import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { explainFromJournal } from '../../../actors/inspect/explain/explain-from-journal.ts';
import type { About, PodLine, StepDetail, StepPage } from '../../../actors/inspect/inspector/inspector-api.ts';
import { MACHINE_NAMES } from '../../../machines/charts/node-machines.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { feed, folder, journalingShard } from '../../pure/journal/journal-fixture.ts';
import { journalOfLives, podNamed, startOf, startPods } from '../../pure/inspector/made-journal.ts';
import { ask, json, served, TOKEN } from './served.ts';

const NONE = { authorization: '' };

test('the token in the address gives a cookie and the same address without it; all else needs cookie or bearer', async (t) => {
  const dir = folder(t);
  await journalOfLives(dir, [podNamed('web')]);
  const server = await served(t, { mode: 'files', paths: [dir] });
  assert.equal(server.address, `http://127.0.0.1:${server.port}/?token=${TOKEN}`);
  const first = await ask(server, `/?token=${TOKEN}&a=b`, NONE);
  assert.deepEqual([first.status, first.headers.location], [303, '/?a=b']);
  const [set = ''] = first.headers['set-cookie'] ?? [];
  assert.match(set, /; HttpOnly; SameSite=Strict$/);
  const cookie = set.split(';')[0] ?? '';
  assert.equal((await ask(server, '/', { ...NONE, cookie })).status, 200);
  assert.equal((await ask(server, '/api/about', { ...NONE, cookie })).status, 200);

  for (const path of [
    '/',
    '/?token=wrong',
    '/app.js',
    '/api/about',
    '/api/pods',
    '/stately',
    '/api/live',
    '/nothing',
    `/api/pods?token=${TOKEN}`,
  ]) {
    const refused = await ask(server, path, NONE);
    assert.equal(refused.status, 401, path);
    assert.match(refused.body.toString(), /^\{"error":"/);
    assert.equal(refused.headers['set-cookie'], undefined);
  }
});

test('a name in Host that is not ours, a page of another origin: 403, with the right token too', async (t) => {
  const dir = folder(t);
  const server = await served(t, { mode: 'live', dir });
  assert.equal((await ask(server, '/api/pods', { host: 'evil.example' })).status, 403);
  assert.equal((await ask(server, `/?token=${TOKEN}`, { host: 'evil.example:10270' })).status, 403);
  assert.equal((await ask(server, '/api/pods', { origin: 'https://evil.example' })).status, 403);
  assert.equal((await ask(server, '/api/pods', { host: 'localhost:1' })).status, 200);
});

test('every answer has the security headers; the API is never stored, the page’s files by their content', async (t) => {
  const dir = folder(t);
  await journalOfLives(dir, [podNamed('web')]);
  const server = await served(t, { mode: 'files', paths: [dir] });
  for (const path of ['/', '/api/pods', '/nothing', '/api/pods/x/steps', '//double', '/app.js']) {
    const { headers } = await ask(server, path);
    assert.equal(
      headers['content-security-policy'],
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
      path,
    );
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['referrer-policy'], 'no-referrer');
    if (path.startsWith('/api')) assert.equal(headers['cache-control'], 'no-store');
  }
  const index = (await ask(server, '/')).body.toString();
  const script = /src="([^"]+)"/.exec(index)?.[1] ?? '';
  assert.match(script, /^\/app\.js\?v=[0-9a-f]{16}$/);
  const kept = await ask(server, script, { 'accept-encoding': 'gzip' });
  assert.match(kept.headers['cache-control'] ?? '', /immutable/);
  assert.equal(kept.headers['content-encoding'], 'gzip');
  assert.equal(kept.headers['content-type'], 'text/javascript; charset=utf-8');
  assert.equal(gunzipSync(kept.body).toString().slice(0, 5), '// xx');
  const again = await ask(server, '/app.js', { 'if-none-match': kept.headers.etag ?? '' });
  assert.deepEqual([again.status, again.headers['cache-control'], again.body.length], [304, 'no-cache', 0]);
});

test('the API: about, pods, steps, one step, why; errors as JSON', async (t) => {
  const dir = folder(t);
  const [life = []] = await journalOfLives(dir, [podNamed('web')]);
  const server = await served(t, { mode: 'files', paths: [dir] });
  const about = await json<About>(server, '/api/about');
  assert.deepEqual([about.mode, about.nodeName, about.version, about.damages], ['files', 'node1', 'test', []]);
  assert.deepEqual(
    about.charts.map(({ id }) => id),
    MACHINE_NAMES,
  );
  const pods = await json<PodLine[]>(server, '/api/pods');
  assert.deepEqual([pods.length, pods[0]?.uid, pods[0]?.steps], [1, 'web', life.length]);
  const page = await json<StepPage>(server, '/api/pods/web/steps?from=2&limit=3');
  assert.deepEqual(
    page.steps.map(({ index }) => index),
    [2, 3, 4],
  );
  const detail = await json<StepDetail>(server, '/api/pods/web/steps/4');
  assert.deepEqual(detail.line, page.steps[2]);
  const why = await json<{ state: string; summary: string }>(server, '/api/pods/web/explain?index=4');
  assert.equal(why.state, detail.machines.pod);
  assert.equal((await json<{ state: string }>(server, '/api/pods/web/explain')).state, 'terminated.finished');
  for (const i of [0, 6, 12, life.length - 1]) {
    const at = life[i]?.at ?? 0;
    // Messages of one moment: the command explains the last of them.
    const last = life.findLastIndex((message) => message.at === at);
    const told = await explainFromJournal({ pod: 'web', journals: [dir], at, now: at });
    assert.deepEqual(await json(server, `/api/pods/web/explain?index=${last}`), JSON.parse(JSON.stringify(told)));
  }

  const expect = async (path: string, status: number) => {
    const { status: got, body } = await ask(server, path);
    assert.equal(got, status, path);
    assert.equal(typeof (JSON.parse(body.toString()) as { error: unknown }).error, 'string');
  };
  await expect('/api/pods/none/steps', 404);
  await expect('/api/pods/none/steps/1', 404);
  await expect('/api/pods/none/explain', 404);
  await expect('/api/pods/web/steps/99999', 404);
  await expect('/api/pods/web/explain?index=99999', 404);
  await expect('/api/pods/web/steps/x', 400);
  await expect('/api/pods/web/steps?from=-1', 400);
  await expect('/api/pods/web/steps?limit=2001', 400);
  await expect('/api/live', 426);
  await expect('/no.such.file', 404);
  // Paths that are none: an answer, and no way around the guard.
  for (const path of [
    '//',
    '/\\evil.example/',
    '/%zz',
    '/?token=a&token=b',
    '/stately/',
    '/../x',
    `/${'x'.repeat(2_000)}`,
  ]) {
    const without = await ask(server, path, NONE);
    assert.ok([301, 400, 401, 404, 414].includes(without.status), `${path}: ${without.status}`);
    assert.ok((await ask(server, path)).status < 500, path);
  }
});

test('a pod named like a script, and one whose name leaves the path, are data', async (t) => {
  const dir = folder(t);
  const shard = journalingShard(dir);
  const evil = '<script>alert(1)</script>';
  const pods = [podNamed(evil, 'u1'), podNamed('b', '../../etc/passwd')];
  await startPods(shard, pods);
  shard.close();
  const server = await served(t, { mode: 'files', paths: [dir] });
  const { headers, body } = await ask(server, '/api/pods');
  assert.equal(headers['content-type'], 'application/json');
  assert.equal((JSON.parse(body.toString()) as PodLine[])[0]?.name, evil);
  const uid = encodeURIComponent('../../etc/passwd');
  assert.equal((await json<StepPage>(server, `/api/pods/${uid}/steps`)).uid, '../../etc/passwd');
  assert.equal((await ask(server, '/..%2f..%2fetc%2fpasswd')).status, 404);
});

test('5,000 pods, compressed; a message of 1 MB', async (t) => {
  const dir = folder(t);
  const shard = journalingShard(dir, { maxBytes: 1 << 28 });
  const pods = Array.from({ length: 5_000 }, (_, i) => podNamed(`pod-${i}`));
  await startPods(shard, pods);
  const big = 'y'.repeat(1 << 20);
  const made = podNamed('big');
  const large: Pod = { ...made, metadata: { ...made.metadata, annotations: { big } } };
  await feed(shard, 'big', [startOf(large), { type: 'pod.sync', at: 9_000 }]);
  shard.close();
  const server = await served(t, { mode: 'files', paths: [dir] });
  const answer = await ask(server, '/api/pods', { 'accept-encoding': 'br, gzip' });
  assert.equal(answer.headers['content-encoding'], 'gzip');
  const list = JSON.parse(gunzipSync(answer.body).toString()) as PodLine[];
  assert.equal(list.length, 5_001);
  assert.ok(answer.body.length < 200_000, `${answer.body.length} bytes`);
  const detail = await json<StepDetail>(server, '/api/pods/big/steps/1');
  assert.equal((detail.spec as Pod).metadata?.annotations?.['big'], big);
});
