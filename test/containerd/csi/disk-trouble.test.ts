/** CSI volumes on a node whose own disk is full, or turns read-only. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { csiBench, NAME, POD, volume } from '../../simulated/csi/csi-bench.ts';

const PAGE = 4096;

/** A small file system of the node's at this path. */
function smallDisk(path: string) {
  mkdirSync(path, { recursive: true });
  const mount = (...args: string[]): void => void execFileSync('mount', args);
  mount('-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', path);
  const filler = join(path, 'filler');
  return {
    fill(): void {
      for (let i = 0; ; i++)
        try {
          writeFileSync(`${filler}-${i}`, Buffer.alloc(PAGE));
        } catch (error) {
          assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC');
          rmSync(`${filler}-${i}`, { force: true });
          return;
        }
    },
    free(): void {
      for (let i = 0; existsSync(`${filler}-${i}`); i++) rmSync(`${filler}-${i}`);
    },
    turn(how: 'ro' | 'rw'): void {
      mount('-o', `remount,${how}`, path);
    },
    [Symbol.dispose]: (): void => void execFileSync('umount', ['-R', '-l', path]),
  };
}

/** A node with a driver, and a volume of it. */
async function withVolume(t: TestContext) {
  const b = await csiBench(t);
  b.csiDriver();
  const driver = b.driver();
  await b.comes(driver);
  return { b, driver, spec: b.spec(volume()) };
}

test('a volume whose data cannot be written is not asked of its driver, and comes once there is room', async (t) => {
  const { b, driver, spec } = await withVolume(t);
  using staging = smallDisk(join(b.rootDir, 'plugins/kubernetes.io/csi'));
  using pods = smallDisk(join(b.rootDir, 'pods'));
  const stage = () => b.volumes.stage({ spec, pod: POD, devicePath: '', signal: b.signal });
  staging.fill();
  await assert.rejects(stage(), /kubernetes\.io\/csi: .*ENOSPC/);
  assert.deepEqual(driver.did, []);
  staging.free();
  const stagedPath = await stage();
  const publish = () => b.volumes.publish(b.publishing(spec, { stagedPath }));
  pods.fill();
  await assert.rejects(publish(), /ENOSPC/);
  assert.deepEqual(driver.did, ['NodeStageVolume']);
  pods.free();
  await publish();
  await b.volumes.unpublish(b.unpublishing(spec));
  await b.volumes.unstage({ deviceName: `${NAME}^disk^1`, name: '', mode: 'Filesystem', stagedPath, signal: b.signal });
  assert.deepEqual(driver.did, ['NodeStageVolume', 'NodePublishVolume', 'NodeUnpublishVolume', 'NodeUnstageVolume']);
});

test('a volume on a disk that turned read-only is taken from its pod when that can be written to again', async (t) => {
  const { b, driver, spec } = await withVolume(t);
  using pods = smallDisk(join(b.rootDir, 'pods'));
  const stagedPath = await b.volumes.stage({ spec, pod: POD, devicePath: '', signal: b.signal });
  const path = await b.volumes.publish(b.publishing(spec, { stagedPath }));
  pods.turn('ro');
  const other = b.spec({ ...volume({}, { volumeHandle: 'disk-2' }), metadata: { name: 'pv-2' } });
  await assert.rejects(b.volumes.publish(b.publishing(other)), /EROFS/);
  await assert.rejects(b.volumes.unpublish(b.unpublishing(spec)), /EROFS|read-only/i);
  pods.turn('rw');
  await b.volumes.unpublish(b.unpublishing(spec));
  assert.equal(existsSync(path), false);
  assert.equal(existsSync(b.unpublishing(spec).path), false);
  await b.volumes.unstage({ deviceName: `${NAME}^disk^1`, name: '', mode: 'Filesystem', stagedPath, signal: b.signal });
  assert.equal(driver.did.filter((call) => call === 'NodeUnpublishVolume').length >= 1, true);
});
