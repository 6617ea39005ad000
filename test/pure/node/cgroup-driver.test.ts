import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { cgroupDriverOf } from '../../../actors/node/cgroup-driver.ts';
import { RuntimeConfigResponse } from '../../../cri/generated/runtime/v1/api.ts';
import type { CgroupDriver } from '../../../cri/generated/runtime/v1/api.ts';
import { CriError } from '../../../cri/client/cri-error.ts';

const log = pino({ level: 'silent' });

/** Answers one after the other: a driver's number, null (no Linux part), or an error. */
async function ask(
  ...answers: (number | null | CriError)[]
): Promise<{ driver: string; waited: number[]; fellBack: boolean }> {
  const waited: number[] = [];
  const runtimeConfig = () => {
    const answer = answers.shift();
    if (answer === undefined) throw new Error('asked too often');
    if (answer instanceof CriError) return Promise.reject(answer);
    return Promise.resolve(
      RuntimeConfigResponse.fromPartial(answer === null ? {} : { linux: { cgroupDriver: answer as CgroupDriver } }),
    );
  };
  let fellBack = false;
  const driver = await cgroupDriverOf({ runtimeConfig }, 'cgroupfs', {
    log,
    onFallback: () => (fellBack = true),
    wait: (ms) => Promise.resolve(waited.push(ms)),
  });
  return { driver, waited, fellBack };
}

const unavailable = new CriError('RuntimeConfig', 'Unavailable', 'starting');

test("the runtime's driver goes before the configured one", async () => {
  assert.deepEqual(await ask(0), { driver: 'systemd', waited: [], fellBack: false });
  assert.deepEqual(await ask(1), { driver: 'cgroupfs', waited: [], fellBack: false });
});

test('a runtime that cannot tell leaves the configured one', async () => {
  assert.deepEqual(await ask(null), { driver: 'cgroupfs', waited: [], fellBack: false });
  // Only a runtime that does not know the question loses support (kubelet_cri_losing_support).
  const old = new CriError('RuntimeConfig', 'Unimplemented', 'unknown method');
  assert.deepEqual(await ask(old), { driver: 'cgroupfs', waited: [], fellBack: true });
});

test('other errors are tried three times, 2 s apart, and then end the start', async () => {
  assert.deepEqual(await ask(unavailable, unavailable, 0), {
    driver: 'systemd',
    waited: [2_000, 2_000],
    fellBack: false,
  });
  await assert.rejects(ask(unavailable, unavailable, unavailable), unavailable);
});

test('an unknown driver is an error at once', async () => {
  await assert.rejects(ask(7), { code: 'NOD004' });
});
