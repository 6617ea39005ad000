/** systemd hears that the agent lives as long as its parts move, and no longer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { Watchdog, watchdogMs } from '../../../actors/node/watchdog.ts';
import { createMetrics } from '../../../actors/record/metrics/metrics-registry.ts';
import { Pleg } from '../../../actors/runtime/pleg/pleg.ts';
import type { PlegOptions } from '../../../actors/runtime/pleg/pleg.ts';
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
  hangs = 'pleg was last seen active 4m0s ago; threshold is 3m0s';
  const before = said.times;
  await waitFor('it is looked at', () => refusals(lines) > 3 || undefined, undefined, undefined, 5);
  assert.equal(said.times, before);
  assert.match(lines.at(-1) ?? '', /"level":50.*checker syncloop failed: pleg was last seen active 4m0s ago/);
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

test('PLEG: relists that hang are seen, and a runtime that has never answered is no reason', async () => {
  let now = 10_000;
  let hang = true;
  const list = () => (hang ? new Promise(() => undefined) : Promise.resolve({ items: [], containers: [] }));
  const looks: (() => void)[] = [];
  const pleg = new Pleg({
    cri: { runtime: { listPodSandbox: list, listContainers: list } },
    clock: {
      ...{ now: () => now, steady: () => now, looking: () => now },
      lookAfter: (_ms: number, look: () => void) => (looks.push(look), { cancel: () => undefined }),
    },
    rate: { periodMs: 1_000, thresholdMs: 180_000 },
    ...{ log: pino({ level: 'silent' }), metrics: createMetrics(), onPod: () => undefined, onRelist: () => undefined },
  } as unknown as PlegOptions);
  void pleg.relist();
  assert.match(pleg.unhealthy() ?? '', /yet to be successful/);
  assert.equal(pleg.stuck(), null);
  pleg.stop();

  hang = false;
  const other = new Pleg((pleg as unknown as { options: PlegOptions }).options);
  await other.start();
  assert.equal(other.stuck(), null);
  hang = true;
  looks.at(-1)?.();
  now += 180_001;
  assert.match(other.stuck() ?? '', /pleg was last seen active 180s ago; threshold is 3m0s/);
  other.stop();
});
