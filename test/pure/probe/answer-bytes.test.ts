import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { AnswerBytes } from '../../../actors/pods/prober/answer-bytes.ts';
import { readFinalHead } from '../../../actors/pods/prober/answer-head.ts';

function coming(...chunks: string[]): AnswerBytes {
  const stream = new PassThrough();
  for (const chunk of chunks) stream.write(chunk, 'latin1');
  return new AnswerBytes(stream as unknown as Socket);
}

test('a limit lets through so many bytes, in whatever pieces they come; what is beyond counts when it is lifted', async () => {
  for (const chunks of [['abcdefgh'], ['abc', 'defgh'], ['abcde', 'fgh']]) {
    const bytes = coming(...chunks);
    bytes.limit = 5;
    bytes.onLimit = () => new Error('too much');
    assert.equal(String(await bytes.peek(5)), 'abcde');
    await assert.rejects(bytes.peek(6), /too much/);
    assert.equal(bytes.taken, 5);
    bytes.limit = Infinity;
    assert.equal(String(await bytes.peek(8)), 'abcdefgh');
  }
});

test('a head that is too long is told so, wherever its pieces end', async () => {
  const [start, line] = ['HTTP/1.1 200 OK\r\n', 'A: 0123456789abcdef\r\n'];
  const whole = start + line.repeat(Math.ceil((10 * 1024 * 1024 + 200) / line.length));
  for (let more = 0; more < line.length; more++) {
    const end = 10 * 1024 * 1024 + more;
    const bytes = coming(whole.slice(0, end - 30_000), whole.slice(end - 30_000, end), whole.slice(end));
    await assert.rejects(readFinalHead(bytes), /response headers exceeded 10485760 bytes/);
  }
});
