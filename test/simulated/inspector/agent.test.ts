import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import type {
  About,
  NodeAnswer,
  PodLine,
  StepDetail,
  StepPage,
} from '../../../actors/inspect/inspector/inspector-api.ts';
import { folder } from '../../pure/journal/journal-fixture.ts';
import { journalOfLives, podNamed } from '../../pure/inspector/made-journal.ts';
import { bench, manifest, running, until } from '../agent/support/bench.ts';

/** Asks with the cookie that the address gives. */
async function opened(address: string): Promise<<T>(path: string) => Promise<T>> {
  const first = await fetch(address, { redirect: 'manual' });
  assert.equal(first.status, 303);
  const cookie = (first.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  return async <T>(path: string) => {
    const answer = await fetch(new URL(path, address), { headers: { cookie } });
    assert.equal(answer.status, 200, path);
    return (await answer.json()) as T;
  };
}

/** The address in the file that the agent's log names: the log itself must not let its readers in. */
function addressIn(logFile: string): string | undefined {
  const log = readFileSync(logFile, 'utf8');
  assert.doesNotMatch(log, /token=/);
  const file = /"addressFile":"([^"]+)"/.exec(log)?.[1];
  if (file === undefined) return undefined;
  assert.equal(statSync(file).mode & 0o777, 0o600);
  return readFileSync(file, 'utf8').trim();
}

test('a running agent: its log has the address; pods, their journey, and each moment of it', async (t) => {
  const b = await bench(t, { settings: { inspect: { host: '127.0.0.1', port: 0 } } });
  await b.put('pods.yaml', manifest('a'), manifest('b'));
  await running(b, 2);
  const get = await opened(await until('the address', () => addressIn(b.agent.logFile)));
  const about = await get<About>('/api/about');
  assert.deepEqual([about.mode, about.nodeName], ['live', 'node']);
  const pods = await until('both to run', async () => {
    const list = await get<PodLine[]>('/api/pods');
    return list.filter((pod) => pod.state === 'syncing.running' && pod.ready === 1).length === 2 ? list : null;
  });
  assert.deepEqual(pods.map(({ name }) => name).sort(), ['a-node', 'b-node']);
  const { uid = '', steps = 0 } = pods[0] ?? {};
  const last = await get<StepDetail>(`/api/pods/${uid}/steps/${steps - 1}`);
  assert.deepEqual([last.machines.pod, last.machines.containers], ['syncing.running', { c: 'running' }]);
  const start = await get<StepDetail>(`/api/pods/${uid}/steps/0`);
  assert.equal(start.line.message, 'pod.start');

  const { node } = await until('the node', async () => {
    const answer = await get<NodeAnswer>('/api/node');
    return answer.node?.state === 'ready.running' ? answer : null;
  });
  assert.deepEqual([node?.name, node?.phase, node?.why], ['node', 'Ready', '']);
  const path = `/api/pods/${encodeURIComponent(node?.uid ?? '')}`;
  const { steps: began } = await get<StepPage>(`${path}/steps`);
  assert.deepEqual(
    began.map(({ message, after }) => `${message} -> ${after}`),
    [
      'node.start -> starting',
      'runtime.state -> starting',
      'pleg.state -> ready.waitingForSources',
      'sources.ready -> ready.running',
    ],
  );
  assert.deepEqual(
    began.map(({ from }) => from),
    ['supervisor', 'cri', 'pleg', 'sources'],
  );
  const ready = await get<StepDetail>(`${path}/steps/3`);
  assert.deepEqual([ready.machines.pod, ready.line.before], ['ready.running', 'ready.waitingForSources']);
  const why = await get<{ state: string; summary: string }>(`${path}/explain`);
  assert.match(why.summary, /^the node node is in ready\.running since .*: the node is ready/);

  await b.remove('pods.yaml');
  await until('their end', async () => (await get<PodLine[]>('/api/pods')).every(({ gone }) => gone));
  await b.agent.stop();
  await assert.rejects(get('/api/pods'), 'the inspector ends with the agent');
});

test('a port that is taken: the agent works without an inspector and says why', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => taken.once('listening', resolve));
  t.after(() => taken.close());
  const port = (taken.address() as { port: number }).port;
  const b = await bench(t, { settings: { inspect: { host: '127.0.0.1', port } } });
  await b.put('pods.yaml', manifest('a'));
  await running(b, 1);
  assert.match(readFileSync(b.agent.logFile, 'utf8'), new RegExp(`INS004[^]*127\\.0\\.0\\.1:${port}`));
});

/** Runs `actorlet inspect`; it is gone after the test. */
function inspect(t: TestContext, ...args: string[]) {
  const main = join(import.meta.dirname, '../../../bin/actorlet.ts');
  const child = spawn(process.execPath, [main, 'inspect', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: '' },
  });
  const texts = { out: '', err: '' };
  child.stdout.on('data', (data: Buffer) => (texts.out += data.toString()));
  child.stderr.on('data', (data: Buffer) => (texts.err += data.toString()));
  const ended = new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? -1)));
  t.after(() => child.kill('SIGKILL'));
  return { child, texts, ended };
}

test('actorlet inspect: prints the address, shows files, ends on Ctrl-C with 0', async (t) => {
  const dir = folder(t);
  const [life = []] = await journalOfLives(dir, [podNamed('web')]);
  const { child, texts, ended } = inspect(t, dir, '--no-open', '--port', '0');
  const address = await until('the address', () => /^http:\S+$/m.exec(texts.out)?.[0]);
  const get = await opened(address);
  assert.equal((await get<About>('/api/about')).mode, 'files');
  assert.equal((await get<PodLine[]>('/api/pods'))[0]?.steps, life.length);
  child.kill('SIGINT');
  assert.equal(await ended, 0, texts.err);
});

test('actorlet inspect: no such file, no pod in it, no such port', async (t) => {
  const dir = folder(t);
  for (const [args, code] of [
    [['/no/such/file'], 'JRN001'],
    [[dir], 'INS005'],
    [[dir, '--port', '70000'], 'INS006'],
  ] as const) {
    const { texts, ended } = inspect(t, ...args);
    assert.equal(await ended, 1);
    assert.match(texts.err, new RegExp(`^${code}: `));
  }
});
