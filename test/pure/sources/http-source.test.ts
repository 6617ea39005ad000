import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { pino } from 'pino';
import { createPodSources } from '../../../actors/pods/sources/pod-sources.ts';
import { until } from '../../tools/wait-for.ts';

const pod = (name: string): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { containers: [{ name: 'a', image: 'x:1' }] },
});
const podList = (...items: object[]): string => JSON.stringify({ apiVersion: 'v1', kind: 'PodList', items });

interface Answer {
  status?: number;
  body?: string;
  location?: string;
}

async function rig(t: TestContext, first: Answer, headers: Record<string, string[]> = {}) {
  let answer = first;
  let requests = 0;
  const seen: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    requests++;
    seen.push(request.headers);
    const given = request.url === '/moved' ? { body: podList(pod('moved')) } : answer;
    response.writeHead(given.status ?? 200, given.location ? { location: given.location } : {});
    response.end(given.body ?? '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const told: string[] = [];
  const errors: string[] = [];
  const ready: boolean[] = [];
  const lines: string[] = [];
  const sources = createPodSources({
    staticPodURL: `http://user:secret@127.0.0.1:${port}/pods`,
    staticPodURLHeader: headers,
    fileCheckFrequencyMs: 60_000,
    httpCheckFrequencyMs: 10,
    nodeName: 'n',
    log: pino({ level: 'info' }, { write: (line: string) => void lines.push(line) }),
    now: () => 0,
    onUpdate: ({ op, pods }) => {
      told.push(...(pods.length === 0 ? [`${op} nothing`] : pods.map((one) => `${op} ${one.metadata?.name ?? ''}`)));
    },
    onReadyChange: (now) => ready.push(now),
    onError: (error) => errors.push(error.message),
  });
  sources.start();
  t.after(async () => {
    await sources.stop();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const polls = async (count: number): Promise<void> => {
    const start = requests;
    await until(() => requests >= start + count);
  };
  const expect = async (...want: string[]): Promise<void> => {
    await until(() => told.length >= want.length);
    assert.deepEqual(told.splice(0), want);
  };
  return { set: (next: Answer) => (answer = next), seen, told, errors, ready, lines, sources, until, polls, expect };
}

const LIMIT = { timeout: 20_000 };

test('Pod, then PodList; unchanged content says nothing; headers are sent', LIMIT, async (t) => {
  const { set, expect, polls, told, seen, ready } = await rig(
    t,
    { body: JSON.stringify(pod('one')) },
    { 'X-Token': ['abc'], 'X-Many': ['a', 'b'] },
  );
  await expect('ADD one-n');
  assert.deepEqual(ready, [true]);
  assert.equal(seen[0]?.['x-token'], 'abc');
  assert.equal(seen[0]?.['x-many'], 'a, b');
  await polls(3);
  assert.deepEqual(told, []);
  set({ body: podList(pod('one'), pod('two')) });
  await expect('ADD two-n');
  set({ body: podList() });
  await expect('REMOVE one-n', 'REMOVE two-n');
});

test('a failure is told once, removes nothing, and does not make the source ready', LIMIT, async (t) => {
  const { set, expect, polls, told, errors, ready, until, lines, sources } = await rig(t, { status: 500 });
  await polls(6);
  assert.equal(errors.length, 1);
  assert.match(
    errors[0] ?? '',
    /^SRC010: Cannot read pods from http:\/\/127\.0\.0\.1:\d+\/pods: 500 Internal Server Error\./,
  );
  assert.deepEqual([told, ready, sources.allSourcesReady()], [[], [], false]);
  assert.equal(lines.filter((line) => line.includes('"msg":"Failed to read pods from URL"')).length, 3);
  assert.equal(lines.filter((line) => line.includes('Dropping verbosity')).length, 1);
  set({ body: podList(pod('one')) });
  await expect('ADD one-n');
  await until(() => lines.some((line) => line.includes('Successfully read pods from URL')));
  set({ status: 404 });
  await until(() => errors.length === 2);
  assert.deepEqual(told, []);
  assert.ok(!lines.join('').includes('secret') && !errors.join('').includes('secret'));
});

test('zero-length data: no pods', LIMIT, async (t) => {
  const { set, expect, errors, until } = await rig(t, { body: '' });
  await expect('ADD nothing');
  await until(() => errors.length === 1);
  assert.match(errors[0] ?? '', /^SRC011/);
  set({ body: podList(pod('one')) });
  await expect('ADD one-n');
  set({ body: '' });
  await expect('REMOVE one-n');
});

test('bad among good: the good run, and what ran before goes on', LIMIT, async (t) => {
  const { set, expect, errors, until, told } = await rig(t, { body: podList(pod('one'), pod('two')) });
  await expect('ADD one-n', 'ADD two-n');
  set({ body: podList(pod('one'), { ...pod('two'), spec: { containers: [] } }, pod('three')) });
  await expect('ADD three-n');
  await until(() => errors.length === 1);
  assert.match(errors[0] ?? '', /^SRC001: .*items\[1\]\.spec\.containers: Required value/);
  set({ body: '{"kind":' });
  await until(() => errors.length === 2);
  assert.match(errors[1] ?? '', /^SRC003/);
  assert.deepEqual(told, []);
  set({ body: podList(pod('three')) });
  await expect('REMOVE one-n', 'REMOVE two-n');
});

test('redirects are followed', LIMIT, async (t) => {
  const { expect } = await rig(t, { status: 302, location: '/moved' });
  await expect('ADD moved-n');
});

test('an answer that is too large', LIMIT, async (t) => {
  const { errors, until } = await rig(t, { body: ' '.repeat(10 * 1024 * 1024) });
  await until(() => errors.length === 1);
  assert.match(errors[0] ?? '', /larger than 10485760 bytes/);
});

test('a URL that is none', LIMIT, async (t) => {
  const errors: string[] = [];
  const sources = createPodSources({
    staticPodURL: 'ftp://host/x',
    fileCheckFrequencyMs: 1000,
    httpCheckFrequencyMs: 1000,
    nodeName: 'n',
    log: pino({ level: 'silent' }),
    now: () => 0,
    onUpdate: () => assert.fail('no pods'),
    onError: (error) => errors.push(error.code),
  });
  sources.start();
  t.after(() => sources.stop());
  await until(() => errors.length > 0);
  assert.deepEqual(errors, ['SRC013']);
});
