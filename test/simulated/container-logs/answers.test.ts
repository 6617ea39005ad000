import assert from 'node:assert/strict';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CriError } from '../../../cri/client/cri-error.ts';
import { ContainerState } from '../../../cri/generated/runtime/v1/api.ts';
import { criLine, NOW, podOf, startLogServer } from './support/log-server.ts';

const LOG = [
  criLine('one', 1),
  criLine('two ', 20, 'stderr', 'P'),
  criLine('halves', 21, 'stderr'),
  criLine('three', 40),
].join('');

test('what is asked for is what comes', async (t) => {
  const { url, path } = await startLogServer(t, ['PodLogsQuerySplitStreams']);
  writeFileSync(path, LOG);
  const stamp = (second: number): string => `2024-01-01T00:00:${String(second).padStart(2, '0')}.000000001Z `;
  const table: [query: string, expected: string][] = [
    ['', 'one\ntwo halves\nthree\n'],
    ['tailLines=1', 'three\n'],
    ['tailLines=2', 'halves\nthree\n'],
    ['tail=1', 'three\n'],
    ['tail=all&tailLines=1', 'one\ntwo halves\nthree\n'],
    ['tailLines=0', ''],
    ['tailLines=99', 'one\ntwo halves\nthree\n'],
    ['limitBytes=6', 'one\ntw'],
    ['limitBytes=6&tailLines=1', 'three\n'],
    ['sinceSeconds=30', 'three\n'],
    ['sinceTime=2024-01-01T00:00:21Z', 'halves\nthree\n'],
    ['sinceTime=2024-01-01T00:00:20.000000002Z', 'halves\nthree\n'],
    ['timestamps=true', `${stamp(1)}one\n${stamp(20)}two halves\n${stamp(40)}three\n`],
    ['timestamps=1&limitBytes=33', `${stamp(1)}on`],
    ['stream=Stdout', 'one\nthree\n'],
    ['stream=Stderr', 'two halves\n'],
    ['stream=All', 'one\ntwo halves\nthree\n'],
  ];
  for (const [query, expected] of table) {
    const answer = await fetch(`${url}/containerLogs/n/p/c?${query}`);
    assert.equal(answer.status, 200, query);
    assert.equal(await answer.text(), expected, query);
    assert.equal(answer.headers.get('transfer-encoding'), 'chunked', query);
    assert.equal(answer.headers.get('content-type'), null, query);
  }
});

test('every refusal has the status and the words of the kubelet', async (t) => {
  const { url, path, pods } = await startLogServer(t);
  writeFileSync(path, LOG);
  const waiting = podOf('waiting');
  Object.assign(waiting.status?.containerStatuses?.[0] ?? {}, { state: { waiting: { reason: 'ContainerCreating' } } });
  pods.set('n/waiting', waiting);
  const table: [path: string, status: number, body: string, type: string | null][] = [
    ['n/p/c?tailLines=x', 400, '{"message": "Unable to decode query."}', 'text/plain; charset=utf-8'],
    ['n/p/c?tailLines=-1', 422, '{"message": "Invalid request."}', 'text/plain; charset=utf-8'],
    ['n/p/c?stream=Both', 422, '{"message": "Invalid request."}', 'text/plain; charset=utf-8'],
    ['n/absent/c', 404, 'pod "absent" does not exist', 'text/plain; charset=utf-8'],
    ['n/p/d', 404, 'container "d" not found in pod "p"', 'text/plain; charset=utf-8'],
    [
      'n/p/c?stream=Stderr',
      400,
      'unable to return the given log stream: "Stderr". Please enable PodLogsQuerySplitStreams feature gate in kubelet',
      'text/plain; charset=utf-8',
    ],
    ['n/p/c?previous=true', 400, 'previous terminated container "c" in pod "p" not found', null],
    ['n/waiting/c', 400, 'container "c" in pod "waiting" is waiting to start: ContainerCreating', null],
  ];
  for (const [target, status, body, type] of table) {
    const answer = await fetch(`${url}/containerLogs/${target}`);
    assert.deepEqual([answer.status, await answer.text(), answer.headers.get('content-type')], [status, body, type]);
  }
});

test('what goes wrong once the head is out stands in the body', async (t) => {
  const { url, path, dir, pods, containers, failure, logged } = await startLogServer(t);
  const get = async (): Promise<[number, string]> => {
    const answer = await fetch(`${url}/containerLogs/n/p/c`);
    return [answer.status, await answer.text()];
  };
  const resolving = (file: string): string => `failed to try resolving symlinks in path "${file}": lstat ${file}`;
  assert.deepEqual(await get(), [200, `${resolving(path)}: no such file or directory`]);

  writeFileSync(path, 'secret words\n');
  assert.deepEqual(await get(), [200, 'failed to get parse function: unsupported log format: "secret words\\n"']);

  writeFileSync(path, `${LOG}secret words\n${LOG}`);
  assert.equal((await get())[1], 'one\ntwo halves\nthree\n'.repeat(2));
  assert.equal(
    logged.some((line) => line.includes('Failed when parsing line')),
    true,
  );

  containers.set('1', { state: 1, logPath: '' });
  assert.deepEqual(await get(), [200, 'failed to open log file "": open : no such file or directory']);
  containers.set('1', { state: 1, logPath: join(dir, 'c') });
  assert.match((await get())[1], /EISDIR|is a directory/);

  failure.error = new CriError('ContainerStatus', 'Unavailable', 'away');
  assert.deepEqual(await get(), [200, 'unable to retrieve container logs for containerd://1']);
  delete failure.error;
  pods.set('n/p', podOf('p', 'nonsense'));
  assert.deepEqual(await get(), [200, 'unable to retrieve container logs for ://']);
});

test('a docker file, an empty file and a last line without newline', async (t) => {
  const { url, path } = await startLogServer(t);
  const get = async (): Promise<string> => (await fetch(`${url}/containerLogs/n/p/c`)).text();
  writeFileSync(path, '');
  assert.equal(await get(), '');
  writeFileSync(path, '{"log":"a\\n","stream":"stdout","time":"2024-01-01T00:00:00.1Z"}\n');
  assert.equal(await get(), 'a\n');
  writeFileSync(path, `${LOG}2024-01-01T00:00:50Z stdout F begun`);
  assert.equal(await get(), 'one\ntwo halves\nthree\nbegun');
});

test('lines longer than any block come whole', async (t) => {
  const { url, path } = await startLogServer(t);
  const long = 'x'.repeat(1_000_000);
  writeFileSync(path, criLine('a') + criLine(long) + criLine('b') + criLine(long, 0, 'stdout', 'P'));
  const text = await (await fetch(`${url}/containerLogs/n/p/c`)).text();
  assert.equal(text === `a\n${long}\nb\n${long}`, true);
});

test('what a runtime still writes of a container that has just ended is waited for, also by tailLines', async (t) => {
  const { url, path, containers } = await startLogServer(t);
  const ended = { state: ContainerState.CONTAINER_EXITED, logPath: path, finishedAt: `${NOW - 900}000000` };
  containers.set('1', ended);
  for (const [query, expected] of [
    ['', 'one\ntwo\nthree\n'],
    ['tailLines=2', 'two\nthree\n'],
    ['follow=true', 'one\ntwo\nthree\n'],
  ]) {
    writeFileSync(path, criLine('one'));
    const answer = await fetch(`${url}/containerLogs/n/p/c?${query}`);
    // the head is out; as containerd does it: the end was told, the last lines follow
    setTimeout(() => appendFileSync(path, criLine('two')), 60);
    setTimeout(() => appendFileSync(path, criLine('three')), 120);
    assert.equal(await answer.text(), expected, query);
  }
});
