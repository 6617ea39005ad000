/** systemd hears that the agent lives as long as its parts move, and no longer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { Watchdog, watchdogMs } from '../../../actors/node/watchdog.ts';
import { Resync } from '../../../actors/node/resync.ts';
import type { ResyncOptions } from '../../../actors/node/resync.ts';
import { waitFor } from '../../tools/wait-for.ts';

test('what systemd says of its patience', () => {
  const ms = (usec?: string, of?: string) =>
    watchdogMs(
      { ...(usec !== undefined && { WATCHDOG_USEC: usec }), ...(of !== undefined && { WATCHDOG_PID: of }) },
      7,
    );
  assert.equal(ms(), 0);
  assert.equal(ms(''), 0);
  assert.equal(ms('30000000'), 30_000);
  assert.equal(ms('30000000', '7'), 30_000);
  assert.equal(ms('30000000', '8'), 0, 'another process is meant');
  for (const [usec, of, words] of [
    ['x', undefined, /error converting WATCHDOG_USEC: "x"/],
    ['0', undefined, /must be a positive number/],
    ['-5', undefined, /must be a positive number/],
    ['30000000', 'me', /error converting WATCHDOG_PID: "me"/],
    ['1000000', undefined, /configure watchdog timeout too small: 1s/],
  ] as const)
    assert.throws(() => ms(usec, of), { code: 'CFG042', message: words });
});

/** A watchdog of 40 ms, what it said and what it logged. */
function watch(checks: Record<string, () => string | null>, notify?: () => Promise<void>) {
  const lines: string[] = [];
  const said = { times: 0 };
  const watchdog = new Watchdog({
    timeoutMs: 40,
    checks: Object.entries(checks).map(([name, check]) => ({ name, check })),
    notify: notify ?? (() => Promise.resolve(void said.times++)),
    log: pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) }),
  });
  watchdog.start();
  return { watchdog, lines, said };
}

/** So often it looks, and finds something that hangs. */
const refusals = (lines: readonly string[]) => lines.filter((line) => line.includes('Do not notify watchdog')).length;

test('a part that hangs ends the feeding, and it goes on when that does', async () => {
  let hangs: string | null = null;
  const { watchdog, lines, said } = watch({ fine: () => null, syncloop: () => hangs });
  await waitFor('it is fed', () => said.times > 2 || undefined, undefined, undefined, 5);
  hangs = 'sync Loop took longer than expected';
  const before = said.times;
  await waitFor('it is looked at', () => refusals(lines) > 3 || undefined, undefined, undefined, 5);
  assert.equal(said.times, before);
  assert.match(lines.at(-1) ?? '', /"level":50.*checker syncloop failed: sync Loop took longer than expected/);
  hangs = null;
  await waitFor('it is fed again', () => said.times > before || undefined, undefined, undefined, 5);
  watchdog.stop();
  const after = said.times;
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.equal(said.times, after, 'nothing is said after the end');
});

test('a check that throws has failed', async () => {
  const { watchdog, lines, said } = watch({
    broken: () => {
      throw new Error('no view');
    },
  });
  await waitFor('it is looked at', () => refusals(lines) > 1 || undefined, undefined, undefined, 5);
  assert.equal(said.times, 0);
  assert.match(lines.at(-1) ?? '', /checker broken failed: no view/);
  watchdog.stop();
});

test('a word that does not get through is said once more', async () => {
  let tries = 0;
  const { watchdog, lines } = watch({}, () => (tries++, Promise.reject(new Error('no socket'))));
  await waitFor('it is told', () => lines.find((line) => line.includes('"Failed to notify watchdog"')));
  assert.ok(tries >= 2);
  watchdog.stop();
});

/** A loop of rounds whose clock is turned by hand. */
function rounds(periodMs: number) {
  const world = { now: 10_000, held: false };
  let look = (): void => undefined;
  const loop = new Resync({
    supervisor: { started: () => [] },
    clock: {
      ...{ now: () => world.now, steady: () => world.now, looking: () => world.now },
      lookAfter: (_ms: number, next: () => void) => ((look = next), { cancel: () => undefined }),
    },
    ...{ periodMs, heldUp: () => world.held, synced: () => undefined },
  } as unknown as ResyncOptions);
  loop.start();
  const pass = (ms: number): string | null => {
    world.now += ms;
    look();
    return loop.late();
  };
  return { world, loop, pass };
}

test('the sync loop is late when the runtime has held it up for five minutes, or two sync periods', () => {
  for (const [periodMs, limit] of [
    [60_000, 300_000],
    [200_000, 400_000],
  ] as const) {
    const { world, pass } = rounds(periodMs);
    assert.equal(pass(1_000), null);
    world.held = true;
    assert.equal(pass(limit), null, 'three minutes without a look at the runtime are not enough');
    assert.equal(pass(1), 'sync Loop took longer than expected');
    world.held = false;
    assert.equal(pass(1_000), null);
  }
});

test('a runtime that has never let it begin is no reason', () => {
  const { world, pass } = rounds(60_000);
  world.held = true;
  assert.equal(pass(3_600_000), null);
});
