/** A volume that is given to a group for long. */
import assert from 'node:assert/strict';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { quietly, watched } from '../../../actors/host/volumes/ownership-watch.ts';
import { setVolumeOwnership, toldOwnership } from '../../../actors/host/volumes/volume-ownership.ts';
import type { VolumeReport } from '../../../actors/host/files/host-settings.ts';
import { folder, memoryLog } from '../journal/journal-fixture.ts';

const DIR = '/var/lib/kubelet/pods/u-1/volumes/kubernetes.io~csi/pv/mount';
const SHOWN = 'u-1/volumes/kubernetes.io~csi/pv/mount';

test('is told of after half a minute, and then each minute with the files that are done', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const told: string[] = [];
  const over: boolean[] = [];
  let end = (): void => undefined;
  let passed = (): void => undefined;
  const watch = {
    podUid: 'u-1',
    slow: (text: string) => told.push(text),
    over: (_s: number, failed: boolean) => over.push(failed),
  };
  const done = watched(DIR, watch, memoryLog().log, (each) => {
    passed = each;
    return new Promise((resolve) => (end = resolve));
  });
  t.mock.timers.tick(29_999);
  assert.deepEqual(told, []);
  t.mock.timers.tick(1);
  assert.deepEqual(told, [
    `Setting volume ownership for ${SHOWN} is taking longer than expected, consider using OnRootMismatch - https://kubernetes.io/docs/tasks/configure-pod-container/security-context/#configure-volume-permission-and-ownership-change-policy-for-pods`,
  ]);
  for (let i = 0; i < 3; i++) passed();
  t.mock.timers.tick(60_000);
  passed();
  t.mock.timers.tick(60_000);
  assert.deepEqual(told.slice(1), [
    `Setting volume ownership for ${SHOWN}, processed 3 files.`,
    `Setting volume ownership for ${SHOWN}, processed 4 files.`,
  ]);
  assert.deepEqual(over, []);
  end();
  await done;
  t.mock.timers.tick(600_000);
  assert.equal(told.length, 3);
  assert.deepEqual(over, [false]);

  const log = memoryLog();
  const fails = watched('/elsewhere', quietly(watch), log.log, () => new Promise((_, reject) => (end = reject)));
  t.mock.timers.tick(30_000);
  assert.equal(told.length, 3, 'of other kinds only the log tells');
  end();
  await fails.catch(() => undefined);
  assert.deepEqual(over, [false, true]);
});

test('is measured, each file of it once', async (t) => {
  const dir = folder(t);
  mkdirSync(join(dir, 'sub'));
  writeFileSync(join(dir, 'sub/file'), '');
  const reports: VolumeReport[] = [];
  const watch = toldOwnership('u-1', 'kubernetes.io/secret', { onVolume: (report) => reports.push(report) });
  await setVolumeOwnership(dir, process.getgid?.() ?? 0, true, memoryLog().log, watch);
  assert.equal(statSync(join(dir, 'sub')).mode & 0o2070, 0o2050);
  assert.deepEqual(
    reports.map((report) => ({ ...report, seconds: 0 })),
    [{ did: 'ownership', plugin: 'kubernetes.io/secret', seconds: 0, failed: false }],
  );
  await assert.rejects(setVolumeOwnership(join(dir, 'gone'), 0, true, memoryLog().log, watch));
  assert.equal(reports[1]?.failed, true);
});
