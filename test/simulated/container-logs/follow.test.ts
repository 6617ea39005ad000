import assert from 'node:assert/strict';
import { appendFileSync, closeSync, openSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { ContainerState } from '../../../cri/generated/runtime/v1/api.ts';
import { waitFor } from '../../tools/wait-for.ts';
import { criLine, podOf, startLogServer } from './support/log-server.ts';
import type { LogServer } from './support/log-server.ts';

interface Follower {
  text: string;
  ended: Promise<void>;
  leave: () => void;
}

async function follow(url: string, query = '', pod = 'p'): Promise<Follower> {
  const abort = new AbortController();
  const answer = await fetch(`${url}/containerLogs/n/${pod}/c?follow=true&${query}`, { signal: abort.signal });
  const follower: Follower = {
    text: '',
    ended: Promise.resolve(),
    leave: () => {
      abort.abort();
    },
  };
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const piece of answer.body ?? []) follower.text += decoder.decode(piece as Uint8Array, { stream: true });
  };
  follower.ended = read();
  follower.ended.catch(() => {});
  return follower;
}

const seen = (follower: Follower, text: string): Promise<true> =>
  waitFor(
    `the text ${text.slice(0, 80)}`,
    () => (follower.text === text ? true : undefined),
    () => follower.text,
  );

function end(server: LogServer, id = '1'): void {
  const container = server.containers.get(id);
  if (container !== undefined) container.state = ContainerState.CONTAINER_EXITED;
}

test('a follower gets the head at once, each line as it comes, and the end when the container ends', async (t) => {
  const server = await startLogServer(t);
  writeFileSync(server.path, '');
  const follower = await follow(server.url);
  appendFileSync(server.path, criLine('one'));
  await seen(follower, 'one\n');
  const half = criLine('two');
  appendFileSync(server.path, half.slice(0, 40));
  await sleep(50);
  assert.equal(follower.text, 'one\n');
  appendFileSync(server.path, half.slice(40));
  await seen(follower, 'one\ntwo\n');
  appendFileSync(server.path, criLine('last words'));
  end(server);
  await follower.ended;
  assert.equal(follower.text, 'one\ntwo\nlast words\n');
  assert.deepEqual(server.openFiles(), []);
});

test('following a container that has ended, or was removed, gives its log and ends', async (t) => {
  const server = await startLogServer(t);
  writeFileSync(server.path, criLine('all'));
  end(server);
  const follower = await follow(server.url);
  await follower.ended;
  assert.equal(follower.text, 'all\n');

  server.containers.set('1', { state: ContainerState.CONTAINER_RUNNING, logPath: server.path });
  const other = await follow(server.url);
  await seen(other, 'all\n');
  server.containers.delete('1');
  await other.ended;
  assert.equal(other.text, 'all\n');
});

test('tail, since and limit while following', async (t) => {
  const server = await startLogServer(t);
  writeFileSync(server.path, criLine('a', 1) + criLine('b', 2) + criLine('c', 3));
  const tail = await follow(server.url, 'tailLines=1');
  const none = await follow(server.url, 'tailLines=0&sinceTime=2024-01-01T00:00:05Z');
  const limited = await follow(server.url, 'limitBytes=8');
  await seen(tail, 'c\n');
  appendFileSync(server.path, criLine('d', 4) + criLine('e', 5));
  await seen(tail, 'c\nd\ne\n');
  await seen(none, 'e\n');
  await limited.ended;
  assert.equal(limited.text, 'a\nb\nc\nd\n');
  end(server);
  await Promise.all([tail.ended, none.ended]);
});

test('a client that leaves, also one that does not read, leaves nothing open', async (t) => {
  const server = await startLogServer(t);
  writeFileSync(server.path, criLine('x'.repeat(10_000)).repeat(2_000));
  const reading = await follow(server.url);
  await waitFor('something', () => (reading.text === '' ? undefined : true));
  const abort = new AbortController();
  // Kept to the end: fetch hangs up for an answer that was collected.
  const unread = await fetch(`${server.url}/containerLogs/n/p/c?follow=true`, { signal: abort.signal });
  await waitFor('two open files', () => (server.openFiles().length >= 2 ? true : undefined));
  assert.equal(unread.bodyUsed, false);
  reading.leave();
  abort.abort();
  await waitFor('no open file', () => (server.openFiles().length === 0 ? true : undefined));
  const { status } = server.calls;
  // Nobody asks the runtime any more: longer than the pause between two questions.
  await sleep(1200);
  assert.equal(server.calls.status, status);
});

test('the runtime is unreachable for a while: the log goes on; its other errors end it', async (t) => {
  const { CriError } = await import('../../../cri/client/cri-error.ts');
  const server = await startLogServer(t);
  writeFileSync(server.path, criLine('a'));
  const follower = await follow(server.url);
  await seen(follower, 'a\n');
  server.failure.error = new CriError('ContainerStatus', 'Unavailable', 'away');
  const asked = server.calls.status;
  await waitFor('a question', () => (server.calls.status > asked ? true : undefined));
  appendFileSync(server.path, criLine('b'));
  await seen(follower, 'a\nb\n');
  server.failure.error = new CriError('ContainerStatus', 'Internal', 'broken');
  await follower.ended;
  assert.equal(follower.text, 'a\nb\nrpc error: code = Internal desc = broken');
});

test('a file that is emptied in place is read anew', async (t) => {
  const server = await startLogServer(t);
  writeFileSync(server.path, criLine('a long line before'));
  const follower = await follow(server.url);
  await seen(follower, 'a long line before\n');
  writeFileSync(server.path, criLine('b'));
  await seen(follower, 'a long line before\nb\n');
  end(server);
  await follower.ended;
});

function firstDifference(found: string, expected: string): string {
  const lines = expected.split('\n');
  const at = found.split('\n').findIndex((line, index) => line !== lines[index]);
  return `line ${at} is ${found.split('\n')[at] ?? ''}; ${found.length} of ${expected.length} characters`;
}

/** Writes numbered lines as a runtime does whose log is renamed and then reopened. */
class Writer {
  #fd: number;
  #rotations = 0;
  #lines = 0;
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
    this.#fd = openSync(path, 'a');
  }

  write(count: number): void {
    let text = '';
    for (let index = 0; index < count; index++) text += criLine(`${this.#lines++}`);
    writeSync(this.#fd, text);
  }

  /** Writes `late` lines into the old file before and `later` after the new one is made, as a busy runtime may. */
  async rotate(late: number, later: number): Promise<void> {
    renameSync(this.#path, `${this.#path}.${++this.#rotations}`);
    await sleep(this.#rotations % 3);
    this.write(late);
    const old = this.#fd;
    this.#fd = openSync(this.#path, 'a');
    let text = '';
    for (let index = 0; index < later; index++) text += criLine(`${this.#lines++}`);
    writeSync(old, text);
    closeSync(old);
  }

  close(): string {
    closeSync(this.#fd);
    return Array.from({ length: this.#lines }, (_none, index) => `${index}\n`).join('');
  }
}

test('rotation at any moment loses no line and doubles none', async (t) => {
  const server = await startLogServer(t);
  const step = fc.record({
    write: fc.nat({ max: 300 }),
    rotate: fc.boolean(),
    late: fc.nat({ max: 20 }),
    later: fc.nat({ max: 3 }),
    pause: fc.nat({ max: 15 }),
  });
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      const id = `run-${run++}`;
      const path = join(server.dir, 'c', `${id}.log`);
      server.containers.set(id, { state: ContainerState.CONTAINER_RUNNING, logPath: path });
      server.pods.set(`n/${id}`, podOf(id, `containerd://${id}`));
      const writer = new Writer(path);
      const follower = await follow(server.url, '', id);
      // The writer's and the follower's.
      const followed = (): boolean => server.openFiles().filter((file) => file === path).length === 2;
      await waitFor('the follower to watch', () => (followed() ? true : undefined));
      for (const { write, rotate, late, later, pause } of steps) {
        writer.write(write);
        await sleep(pause);
        if (rotate) {
          await writer.rotate(late, later);
          // The kubelet rotates at most once in `containerLogMonitorInterval`; here events must get their turn, and
          // no more files may wait than a follower keeps.
          await waitFor('the follower to see it', () => (followed() ? true : undefined));
          await waitFor('the follower to read', () => (server.openFiles().length <= 5 ? true : undefined));
        }
      }
      const expected = writer.close();
      end(server, id);
      await follower.ended;
      assert.equal(follower.text === expected, true, firstDifference(follower.text, expected));
      server.containers.delete(id);
    }),
    { numRuns: 8, endOnFailure: true },
  );
  assert.deepEqual(server.openFiles(), []);
});

test('a slow client misses no rotated file', async (t) => {
  const server = await startLogServer(t);
  const writer = new Writer(server.path);
  const openOf = (path: string): number => server.openFiles().filter((file) => file === path).length;
  writer.write(200_000);
  const answer = await fetch(`${server.url}/containerLogs/n/p/c?follow=true`);
  await waitFor('the follower to read', () => (server.openFiles().length === 2 ? true : undefined));
  for (let rotation = 0; rotation < 3; rotation++) {
    await writer.rotate(0, 0);
    // The kubelet rotates at most once in `containerLogMonitorInterval`: the writer's and the follower's.
    await waitFor('the follower to see it', () => (openOf(server.path) === 2 ? true : undefined));
    writer.write(100_000);
  }
  const expected = writer.close();
  end(server);
  const text = await answer.text();
  assert.equal(text === expected, true, firstDifference(text, expected));
});

test('hundreds of followers ask the runtime together', async (t) => {
  const server = await startLogServer(t);
  writeFileSync(server.path, '');
  for (let index = 0; index < 300; index++) {
    const id = `many-${index}`;
    server.containers.set(id, { state: ContainerState.CONTAINER_RUNNING, logPath: server.path });
    server.pods.set(`n/${id}`, podOf(id, `containerd://${id}`));
  }
  const followers = await Promise.all(
    Array.from({ length: 300 }, (_none, index) => follow(server.url, '', `many-${index}`)),
  );
  const before = { ...server.calls };
  await waitFor('two questions', () => (server.calls.list >= before.list + 2 ? true : undefined));
  assert.equal(server.calls.status - before.status < 300, true, `${server.calls.status - before.status} questions`);
  appendFileSync(server.path, criLine('to all'));
  await Promise.all(followers.map((follower) => seen(follower, 'to all\n')));
  for (const id of server.containers.keys()) end(server, id);
  await Promise.all(followers.map((follower) => follower.ended));
  assert.deepEqual(server.openFiles(), []);
});
