import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withWebhookRetry } from '../../../actors/serve/authn/webhook-retry.ts';
import { ApiStatusError } from '../../../actors/cluster/api/api-client.ts';

const reset = Object.assign(new Error('reset'), { code: 'ECONNRESET' });

async function tries(error: unknown): Promise<{ count: number; codes: string[]; waits: number[] }> {
  const codes: string[] = [];
  const waits: number[] = [];
  let count = 0;
  const review = (): Promise<never> => {
    count++;
    return Promise.reject(error as Error);
  };
  const wait = (ms: number): Promise<void> => {
    waits.push(ms);
    return Promise.resolve();
  };
  await assert.rejects(
    withWebhookRetry(review, new AbortController().signal, (code) => codes.push(code), wait),
    (thrown) => thrown === error,
  );
  return { count, codes, waits };
}

test('failures that may pass are tried five times, with longer and longer waits', async () => {
  const passing = [
    new ApiStatusError(500, 'InternalError', 'x'),
    new ApiStatusError(504, 'Timeout', 'x'),
    new ApiStatusError(429, 'TooManyRequests', 'x'),
    new ApiStatusError(503, 'ServiceUnavailable', 'x', 1),
    new ApiStatusError(0, 'Unreachable', 'x', 0, { cause: new Error('wrapped', { cause: reset }) }),
    new ApiStatusError(0, 'Unreachable', 'x', 0, { cause: new Error('the connection was given up') }),
    ...['EPIPE', 'ERR_HTTP2_STREAM_CANCEL', 'ERR_HTTP2_GOAWAY_SESSION'].map(
      (code) => new ApiStatusError(0, 'Unreachable', 'x', 0, { cause: Object.assign(new Error('ended'), { code }) }),
    ),
  ];
  for (const error of passing) {
    const { count, codes, waits } = await tries(error);
    assert.equal(count, 5, String(error.status));
    assert.deepEqual(codes, Array(5).fill(error.status === 0 ? '<error>' : String(error.status)));
    const least = [500, 750, 1125, 1687.5];
    assert.equal(waits.length, 4);
    waits.forEach((ms, i) => assert.ok(ms >= (least[i] ?? 0) && ms <= (least[i] ?? 0) * 1.2, String(ms)));
  }
});

test('other failures are final', async () => {
  const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
  const final = [
    new ApiStatusError(403, 'Forbidden', 'x'),
    new ApiStatusError(401, 'Unauthorized', 'x'),
    new ApiStatusError(503, 'ServiceUnavailable', 'x'),
    new ApiStatusError(0, 'Unreachable', 'x', 0, { cause: refused }),
  ];
  for (const error of final) assert.equal((await tries(error)).count, 1, String(error.status));
});

test('a success after failures counts', async () => {
  const codes: string[] = [];
  let left = 2;
  const review = (): Promise<string> =>
    left-- > 0 ? Promise.reject(new ApiStatusError(500, 'InternalError', 'x')) : Promise.resolve('good');
  const answer = await withWebhookRetry(
    review,
    new AbortController().signal,
    (code) => codes.push(code),
    () => Promise.resolve(),
  );
  assert.equal(answer, 'good');
  assert.deepEqual(codes, ['500', '500', '201']);
});
