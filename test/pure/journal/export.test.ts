import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { exportPod } from '../../../actors/record/journal/export-pod.ts';
import { journalFiles } from '../../../actors/record/journal/journal-reader.ts';
import { journalsCompressed } from '../../../actors/record/journal/segment-log.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { pod } from '../pod/pod-world.ts';
import { feed, files, folder, journalingShard, lifeOf, replayed } from './journal-fixture.ts';

const SECRETS = [
  'hunter2',
  'db-login',
  'tls-of-us',
  'team-rocket',
  'registry-login',
  'nightly-batch',
  'settings-of-us',
];

function secretive(uid: string, name: string): Pod {
  const base = pod({}, uid);
  const probe = { exec: { command: ['check', '--token=hunter2-probe'] }, periodSeconds: 2 };
  return {
    ...base,
    metadata: {
      ...base.metadata,
      name,
      labels: { owner: 'team-rocket' },
      annotations: { ...base.metadata?.annotations, note: 'nightly-batch' },
    },
    spec: {
      serviceAccountName: 'team-rocket-sa',
      imagePullSecrets: [{ name: 'registry-login' }],
      volumes: [{ name: 'tls', secret: { secretName: 'tls-of-us' } }],
      containers: [
        {
          name: 'c',
          image: 'img:1',
          imagePullPolicy: 'IfNotPresent',
          command: ['run', '--password=hunter2-arg'],
          env: [
            { name: 'PASSWORD', value: 'hunter2-env' },
            { name: 'ALWAYS', value: 'Always' },
            { name: 'ONE', value: '1' },
            { name: 'LOGIN', valueFrom: { secretKeyRef: { name: 'db-login', key: 'hunter2-key' } } },
          ],
          envFrom: [{ configMapRef: { name: 'settings-of-us' } }],
          livenessProbe: probe,
        },
      ],
    },
  };
}

test('an exported pod is alone, tells no value and no name of another object, and replays as identical', async (t) => {
  const dir = folder(t);
  const shard = journalingShard(dir, { maxBytes: 400_000, cluster: true });
  for (const [uid, name] of [['u1', 'web-1'] as const, ['u2', 'web-2'] as const]) {
    const life = lifeOf(secretive(uid, name), 'api').map((m) =>
      m.type === 'effect.done' && m.effect === 'host.TearDownPod'
        ? {
            type: 'effect.failed' as const,
            at: m.at,
            effect: m.effect,
            key: m.key,
            error: { code: 'EBUSY', message: 'hunter2-env is busy' },
          }
        : m,
    );
    await feed(shard, uid, life);
  }
  shard.close();
  await journalsCompressed();
  const whole = files(dir)
    .map(({ text }) => text)
    .join('');
  for (const secret of SECRETS) assert.ok(whole.includes(secret), `the test's own journal tells ${secret}`);

  const text = await exportPod(await journalFiles([dir]), 'default/web-1');
  for (const secret of SECRETS) assert.ok(!text.includes(secret), secret);
  assert.ok(!text.includes('web-2') && !text.includes('"u2"'));
  assert.ok(
    text.includes('is busy') &&
      text.includes('"restartPolicy":"Always"') === whole.includes('"restartPolicy":"Always"'),
  );
  const file = join(folder(t), 'exported.jsonl');
  writeFileSync(file, text);
  const result = await replayed(file);
  assert.deepEqual([result.difference, result.pods, result.unanswered], [null, 1, 0]);
  // The same number of messages, and the pod went the same way.
  const own = (all: string, uid: string) =>
    all.split('\n').flatMap((line) => {
      const record = (line === '' ? {} : JSON.parse(line)) as {
        r?: string;
        uid?: string;
        s?: string;
        e?: { type: string }[];
      };
      return record.r === 'step' && record.uid === uid ? [[record.s, ...(record.e ?? []).map((e) => e.type)]] : [];
    });
  assert.deepEqual(own(text, 'u1'), own(whole, 'u1'));
  await assert.rejects(exportPod(await journalFiles([dir]), 'default/nobody'), /JRN007/);
});

test('an outcome that was recorded otherwise stays so in the export', async (t) => {
  const dir = folder(t);
  const shard = journalingShard(dir, { cluster: true });
  await feed(shard, 'u1', lifeOf(secretive('u1', 'web-1'), 'api'));
  shard.close();
  const [first] = files(dir);
  assert.ok(first);
  writeFileSync(
    first.path,
    first.text.replace('"type":"cri.RemoveContainer","key"', '"type":"cri.StopContainer","key"'),
  );
  assert.notEqual(files(dir)[0]?.text, first.text);
  const text = await exportPod(await journalFiles([dir]), 'u1');
  for (const secret of SECRETS) assert.ok(!text.includes(secret), secret);
  const file = join(folder(t), 'exported.jsonl');
  writeFileSync(file, text);
  assert.match((await replayed(file)).difference?.computed ?? '', /cri\.RemoveContainer/);
});
