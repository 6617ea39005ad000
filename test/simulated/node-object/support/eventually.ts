import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until it holds; the limit is only there to end a hopeless test. */
export async function eventually(what: string, holds: () => boolean): Promise<void> {
  for (let i = 0; i < 6_000; i++) {
    if (holds()) return;
    await sleep(10);
  }
  assert.fail(`never: ${what}`);
}
