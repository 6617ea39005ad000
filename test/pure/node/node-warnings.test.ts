import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { pino } from 'pino';
import { probeNoswap } from '../../../actors/host/kernel/tmpfs-noswap.ts';
import { handleFromShard } from '../../../actors/node/from-shard.ts';
import type { FromShardParts } from '../../../actors/node/from-shard.ts';
import { nodeWarnings } from '../../../actors/node/node-warnings.ts';
import type { NodeGround } from '../../../actors/node/node-ground.ts';
import type { RecordedEvent } from '../../../machines/protocol/recorded-event.ts';

const log = pino({ level: 'silent' });

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'actorlet-warnings-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

async function told(config: { resolvConf: string; clusterDomain: string }, swaps = { swapIsOn: false, noswap: true }) {
  const events: RecordedEvent[] = [];
  const ground = { config, rootDir: '/nowhere', settings: { nodeName: 'node1' }, log } as unknown as NodeGround;
  const machine = { swapIsOn: () => swaps.swapIsOn, noswap: () => Promise.resolve(swaps.noswap) };
  await nodeWarnings(ground, { record: (event) => void events.push(event) }, { now: () => 7 }, machine).start?.();
  for (const { object, type } of events)
    assert.deepEqual([object.kind, object.name, type], ['Node', 'node1', 'Warning']);
  return events.map(({ reason, message }) => `${reason}: ${message}`);
}

test('a resolver file that pods do not get whole is told of the node, in the words of kubelet', async (t) => {
  const path = join(folder(t), 'resolv.conf');
  const of = async (text: string, clusterDomain = 'cluster.local') => {
    writeFileSync(path, text);
    return told({ resolvConf: path, clusterDomain });
  };
  const names = (count: number) => Array.from({ length: count }, (_, i) => `n${i}`).join(' ');
  const missing = await told({ resolvConf: path, clusterDomain: '' });
  assert.deepEqual(missing, [`CheckLimitsForResolvConf: open ${path}: no such file or directory`]);
  assert.deepEqual(await told({ resolvConf: '', clusterDomain: '' }), []);
  assert.deepEqual(await of('nameserver\n'), ['CheckLimitsForResolvConf: nameserver list is empty ']);
  assert.deepEqual(await of(`search ${names(29)}`), []);
  assert.deepEqual(await of(`search ${names(32)}`, ''), []);
  assert.deepEqual(await of(`search ${names(30)}`), [
    `CheckLimitsForResolvConf: Resolv.conf file '${path}' contains search line consisting of more than 29 domains!`,
  ]);
  assert.deepEqual(await of(`search ${'a'.repeat(254)}`), [
    `CheckLimitsForResolvConf: Resolv.conf file "${path}" contains a search path which length is more than allowed 253 chars!`,
  ]);
  assert.deepEqual(await of(`search ${Array(9).fill('a'.repeat(250)).join(' ')}`), [
    `CheckLimitsForResolvConf: Resolv.conf file '${path}' contains search line which length is more than allowed 2048 chars!`,
  ]);
});

test('memory that may be swapped is told of the node while swap is on', async () => {
  const none = { resolvConf: '', clusterDomain: '' };
  const swapped = (swapIsOn: boolean, noswap: boolean) => told(none, { swapIsOn, noswap });
  assert.deepEqual(await swapped(false, false), []);
  assert.deepEqual(await swapped(true, true), []);
  assert.match(
    (await swapped(true, false)).join(),
    /^PossibleMemoryBackedVolumesOnDisk: The tmpfs noswap option is not/,
  );
});

test('a kernel before 6.4 is asked by a mount whether it knows noswap, and nothing is left of that', async (t) => {
  const dir = folder(t);
  const calls: string[] = [];
  const probe = (release: string, userNamespace = false, refuses = false) =>
    probeNoswap(dir, log, {
      ...{ release, userNamespace },
      mount: (source, target, fsType, options) => {
        calls.push(`mount ${source} ${target.startsWith(join(dir, 'tmpfs-noswap-test-'))} ${fsType} ${options.join()}`);
        return refuses ? Promise.reject(new Error('bad option')) : Promise.resolve();
      },
      unmount: () => Promise.resolve(void calls.push('umount')),
    });
  assert.equal(await probe('6.4.0-rc1'), true);
  assert.equal(await probe('7.0.0'), true);
  assert.equal(await probe('6.18.1', true), false);
  assert.deepEqual(calls, []);
  assert.equal(await probe('5.14.0-503.el9', false, true), false);
  assert.deepEqual(calls.splice(0), ['mount tmpfs true tmpfs noswap']);
  assert.equal(await probe('5.14.0-503.el9'), true);
  assert.deepEqual(calls, ['mount tmpfs true tmpfs noswap', 'umount']);
  assert.deepEqual(readdirSync(dir), []);
  assert.equal(await probeNoswap(join(dir, 'gone'), log, { release: '6.1', userNamespace: false } as never), false);
});

test('that a pod lacks the DNS of the cluster is told of the node, too, and first', () => {
  const events: object[] = [];
  const parts = { nodeName: 'node1', events: { record: (event: object) => void events.push(event) } };
  const pod = { uid: 'u1', namespace: 'shop', name: 'web', at: 7, type: 'Warning', fieldPath: '' } as const;
  const said = 'kubelet does not have ClusterDNS IP configured. Falling back to "Default" policy.';
  const missing = { ...pod, reason: 'MissingClusterDNS', message: `pod: "web_shop(u1)". ${said}` };
  const other = { ...pod, reason: 'Started', message: 'Container started' };
  for (const event of [missing, other]) handleFromShard(parts as unknown as FromShardParts, 0, { t: 'event', event });
  const object = { apiVersion: 'v1', kind: 'Node', namespace: '', name: 'node1', uid: '' };
  assert.deepEqual(events, [
    { object, at: 7, type: 'Warning', reason: 'MissingClusterDNS', message: said },
    missing,
    other,
  ]);
});
