/** What the API server is told of pods: that log replays, what was changed in it is found, and no status stands in it. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { ApiStatusError } from '../../../actors/cluster/api/api-client.ts';
import type { ApiClient, ApiRequest } from '../../../actors/cluster/api/api-client.ts';
import { machineClock } from '../../../actors/host/time/clock.ts';
import { StatusManager } from '../../../actors/cluster/status/status-manager.ts';
import type { Pod, PodStatus } from '../../../machines/protocol/api-types.ts';
import { folder, memoryLog, replayed } from './journal-fixture.ts';

const SECRET = 'words-of-a-termination-message';

/** A pod is told, overwritten, refused once, ends and is removed; another one is told what the API shows already. */
async function story(dir: string): Promise<string[]> {
  const did: string[] = [];
  const refusals = [new ApiStatusError(500, 'InternalError', 'a webhook failed')];
  let status: PodStatus = { phase: 'Pending' };
  let version = 1;
  const shown = (uid: string): Pod => ({
    metadata: { uid, name: uid, namespace: 'n', resourceVersion: String(version++), deletionTimestamp: 'x' },
    spec: { restartPolicy: 'Never', containers: [{ name: 'c' }] },
    status,
  });
  const request = ({ method, body }: ApiRequest): Promise<unknown> => {
    did.push(method);
    const refusal = method === 'PATCH' && did.length > 1 ? refusals.pop() : undefined;
    if (refusal !== undefined) return Promise.reject(refusal);
    if (method === 'DELETE') return Promise.resolve({});
    status = { ...status, ...(body as { status: PodStatus }).status };
    return Promise.resolve(shown('a'));
  };
  let at = 1_000;
  const manager = new StatusManager({
    api: { request } as unknown as ApiClient,
    nodeName: 'node1',
    log: memoryLog().log,
    now: () => at,
    clock: { ...machineClock, now: () => at, steady: () => at },
    journal: { dir, agent: 'v', maxBytes: 1 << 20, log: memoryLog().log },
  });
  const settled = async () => {
    for (let i = 0; i < 5; i++) await turn();
  };
  const report = async (uid: string, state: string, told: PodStatus) => {
    const memory = { containers: {}, probes: {}, messages: {} };
    manager.report({ pod: shown(uid), source: 'api', report: { uid, status: told, state, why: '', memory } });
    at += 10;
    await settled();
  };
  const running = { name: 'c', ready: false, restartCount: 0, image: 'i', imageID: '' };
  const ended = { terminated: { exitCode: 3, message: SECRET } };
  const failed: PodStatus = { phase: 'Failed', containerStatuses: [{ ...running, state: ended }] };
  manager.setApiPods([shown('a'), { ...shown('b'), status: { phase: 'Running' } }]);
  await report('b', 'syncing.running', { phase: 'Running' });
  await report('a', 'syncing.running', {
    phase: 'Running',
    containerStatuses: [{ ...running, state: { running: {} } }],
  });
  // The echo of the patch calls for nothing.
  manager.apiPod(shown('a'));
  await report('a', 'terminated.kept', failed);
  at += 1_000;
  manager.setApiPods([shown('a'), { ...shown('b'), status: { phase: 'Running' } }]);
  await settled();
  await manager.stop();
  return did;
}

test('what is told is journaled without statuses, replays, and looks that find nothing are not in it', async (t) => {
  const dir = folder(t);
  assert.deepEqual(await story(dir), ['PATCH', 'PATCH', 'PATCH', 'DELETE']);
  const path = join(dir, 'status', 'status-00000001.jsonl');
  const text = readFileSync(path, 'utf8');
  assert.ok(!text.includes(SECRET), 'no status is in it');
  const types = [...text.matchAll(/"m":\{"type":"([\w.]+)"/g)].map(([, type]) => type);
  assert.deepEqual(types, [
    ...['api.listed', 'status.told', 'status.turn', 'status.compared'],
    ...['status.told', 'status.turn', 'status.compared', 'status.answered'],
    ...['status.told', 'status.turn', 'status.compared', 'status.failed', 'status.turn'],
    ...['api.listed', 'status.turn', 'status.compared', 'status.answered'],
    ...['status.look', 'status.turn', 'status.compared', 'status.answered', 'status.stop'],
  ]);
  const longest = Math.max(...text.split('\n').map((line) => line.length));
  assert.ok(longest < 400, `lines are short: ${longest}`);
  const whole = await replayed(dir);
  assert.deepEqual([whole.difference, whole.machines, whole.unanswered], [null, ['status'], 0]);

  const changed = async (from: string, to: string) => {
    assert.ok(text.includes(from), from);
    writeFileSync(path, text.replace(from, to));
    const { difference } = await replayed(dir);
    return [difference?.pod, difference?.what, difference?.recorded, difference?.computed];
  };
  const grace = '"gracePeriodSeconds":0';
  assert.deepEqual((await changed(grace, '"gracePeriodSeconds":30')).slice(0, 2), ['status', 'order 1 of 1']);
  assert.deepEqual((await changed('"why":"refused"', '"why":"away"')).slice(0, 2), ['status', 'state']);
  const told = '"type":"status.told","at":1010';
  assert.deepEqual((await changed(told, told.replace('1010', '1001')))[2], '{"type":"status.measure","ms":10}');
  assert.deepEqual((await changed('"ended":true', '"ended":false')).slice(0, 2), ['status', 'state']);
});
