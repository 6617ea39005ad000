import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiStatusError } from '../../../actors/cluster/api/api-client.ts';
import { failureWords } from '../../../actors/serve/authn/failure-words.ts';

test('the log says what failed down to the system, and nothing twice', () => {
  const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
  const transport = new Error('read ECONNRESET', { cause: reset });
  const error = new ApiStatusError(0, 'Unreachable', 'cannot reach the API server a:1: read ECONNRESET', 0, {
    cause: transport,
  });
  assert.equal(failureWords(error), 'cannot reach the API server a:1: read ECONNRESET: read ECONNRESET (ECONNRESET)');
  assert.equal(failureWords(new Error('outer', { cause: new Error('inner') })), 'outer: inner');
  assert.equal(failureWords('text'), 'text');
  const round = new Error('round');
  round.cause = round;
  assert.equal(failureWords(round), 'round');
});
