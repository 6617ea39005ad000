/** `qosReserved`: what pods of a better class ask for is kept from those of a worse one. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pino } from 'pino';
import { TierMemoryLimits } from '../../../actors/host/cgroups/tier-memory-limits.ts';
import { percentOf, tierMemory } from '../../../machines/qos/tier-memory.ts';

test('limits of the classes, in bytes', () => {
  const requests = { all: 700, burstable: 200 };
  assert.deepEqual(tierMemory(1000, requests, 100), { burstable: 500, bestEffort: 300 });
  assert.deepEqual(tierMemory(1000, requests, 50), { burstable: 750, bestEffort: 650 });
  assert.deepEqual(tierMemory(1000, { all: 703, burstable: 200 }, 33), { burstable: 835, bestEffort: 769 });
  assert.deepEqual(tierMemory(1000, requests, 0), { burstable: 1000, bestEffort: 1000 });
  assert.deepEqual(tierMemory(600, requests, 100), { burstable: 100, bestEffort: 0 });
});

test('percentages as kubelet reads them', () => {
  for (const [text, percent] of [
    ['0%', 0],
    ['50%', 50],
    ['100%', 100],
    ['+7%', 7],
    ['-0%', 0],
    ['10%%', 10],
  ] as const)
    assert.equal(percentOf(text), percent, text);
  for (const bad of ['', '50', '101%', '-1%', '1.5%', 'x%', '%', ' 5%']) assert.equal(percentOf(bad), null, bad);
});

test('set when they change; what has more already is held at that, and brought down a minute later', async () => {
  const mount = mkdtempSync(join(tmpdir(), 'tiers-'));
  try {
    for (const tier of ['b', 'e']) {
      mkdirSync(join(mount, tier));
      writeFileSync(join(mount, tier, 'memory.usage_in_bytes'), '900\n');
    }
    const sets: string[] = [];
    let now = 0;
    let refuse = false;
    const limits = new TierMemoryLimits({
      qos: { kubepods: '/k', burstable: '/b', bestEffort: '/e' },
      host: { version: 1, controllers: ['memory'], mounts: { memory: mount } },
      driver: {
        create: () => Promise.resolve(),
        remove: () => Promise.resolve(),
        set: (path, { memoryLimitBytes }) => {
          sets.push(`${path} ${memoryLimitBytes}`);
          return refuse && (memoryLimitBytes ?? 0) < 900 ? Promise.reject(new Error('EBUSY')) : Promise.resolve();
        },
      },
      ...{ log: pino({ level: 'silent' }), steady: () => now },
    });
    const hold = async (bestEffort: number) => {
      sets.length = 0;
      await limits.hold({ burstable: 2000, bestEffort });
      return [...sets];
    };
    assert.deepEqual(await hold(1000), ['/b 2000', '/e 1000']);
    assert.deepEqual(await hold(1000), []);
    refuse = true;
    assert.deepEqual(await hold(500), ['/b 2000', '/e 500', '/e 900']);
    assert.deepEqual(await hold(500), [], 'not each time');
    now = 60_000;
    refuse = false;
    assert.deepEqual(await hold(500), ['/b 2000', '/e 500']);
    now = 1e9;
    assert.deepEqual(await hold(500), []);
    assert.equal(readFileSync(join(mount, 'e/memory.usage_in_bytes'), 'utf8'), '900\n');
  } finally {
    rmSync(mount, { recursive: true });
  }
});
