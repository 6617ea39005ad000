/** Disks of the CSI driver of our tests: file systems on loop devices, which grow, are copied, and leave nothing. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { VolumeStore } from '../../tools/csi-driver/volume-store.ts';

const MIB = 1 << 20;
const WISH = { fsType: '', options: ['noatime'] };

test('a disk has the file system, the size and the options that were asked for; grown or copied it keeps what is in it', (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'csi-disks-'));
  const store = new VolumeStore(join(dir, 'volumes'), 'disk');
  const place = join(dir, 'place');
  const size = (): number => statfsSync(place).blocks * statfsSync(place).bsize;
  const devices = (): string =>
    execFileSync('losetup', ['-l', '-n', '-O', 'BACK-FILE'], { encoding: 'utf8' })
      .split('\n')
      .filter((file) => file.startsWith(dir))
      .join();
  t.after(() => {
    for (const { id } of store.list()) {
      store.hide(place);
      store.release(id);
    }
    rmSync(dir, { recursive: true, force: true });
  });

  const disk = { id: 'one', name: 'one', bytes: 32 * MIB, block: false };
  store.put(disk);
  store.stage('one', place, WISH);
  const mounted = execFileSync('findmnt', ['-n', '-o', 'FSTYPE,OPTIONS', place], { encoding: 'utf8' });
  assert.match(mounted, /^ext4 .*noatime/);
  assert.equal(size() <= 32 * MIB, true);
  writeFileSync(join(place, 'file'), 'kept');

  // Where root may not grow it while it is mounted, it grows when it is mounted again.
  store.put({ ...disk, bytes: 64 * MIB });
  store.grow('one');
  store.hide(place);
  store.release('one');
  assert.equal(devices(), '');
  store.stage('one', place, WISH);
  assert.equal(size() > 40 * MIB, true, String(size()));
  assert.equal(readFileSync(join(place, 'file'), 'utf8'), 'kept');
  store.hide(place);
  store.release('one');

  const copy = { ...disk, id: 'two', name: 'two', bytes: 96 * MIB };
  store.copy('one', copy);
  store.put(copy);
  store.remove('one');
  store.stage('two', place, { fsType: 'ext4', options: ['ro'] });
  assert.equal(size() > 70 * MIB, true, String(size()));
  assert.equal(readFileSync(join(place, 'file'), 'utf8'), 'kept');
  assert.throws(() => writeFileSync(join(place, 'more'), ''), { code: 'EROFS' });
  store.hide(place);
  store.release('two');
  assert.equal(devices(), '');
});
