/** Volumes of Fibre Channel on a machine whose disks are loop devices: how they are found, mounted, and forgotten. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { FcVolumes } from '../../../actors/resources/scsi/fc-volumes.ts';
import { VolumeUser, inline, mountedAt, ofPv, skip, withScsi, words } from './scsi-bench.ts';

const WWN = '50060e801049cfd1';
const byTarget = { fc: { targetWWNs: [WWN], lun: 1 } };

test('a LUN of a target: hosts look for it, it is mounted once, and the kernel forgets it', { skip }, async () => {
  await withScsi(async ({ rootDir, world, ground }) => {
    const plugin = new FcVolumes(ground);
    const spec = inline(byTarget);
    const user = new VolumeUser(plugin, rootDir, spec);
    assert.deepEqual([plugin.serves(spec), plugin.serves(inline({ iscsi: {} }))], [true, false]);
    assert.equal(await plugin.deviceName(spec), `[${WWN}]:1`);
    world.host(0);
    world.host(7);
    // LUN 10 has a name that begins like that of LUN 1.
    world.attached('sdz', world.disk(), `by-path/pci-0000:03:00.0-fc-0x${WWN}-lun-10`);
    assert.equal(await words(user.stage()), 'MountVolume.WaitForAttach failed: no fc disk found');
    for (const host of [0, 7]) assert.equal(world.read(`sys/class/scsi_host/host${host}/scan`), '- - -');
    world.attached('sda', world.disk(), `by-path/pci-0000:03:00.0-fc-0x${WWN}-lun-1`);

    const folder = join(rootDir, `plugins/kubernetes.io/fc/${WWN}-lun-1`);
    assert.equal(await user.stage(), folder);
    assert.equal(await user.publish(), user.path);
    assert.deepEqual([await mountedAt(folder), await mountedAt(user.path)], [['ext4 rw rw'], ['ext4 rw rw']]);
    const later = new FcVolumes(ground);
    const leave = { podUid: 'u', name: 'v', mode: 'Filesystem' as const, path: user.path };
    assert.deepEqual(await later.publishedOnDisk(leave), { deviceName: `[${WWN}]:1`, attachable: true });
    assert.deepEqual(await later.stagedOnDisk(), [
      { deviceName: `[${WWN}]:1`, name: '', mode: 'Filesystem', stagedPath: folder, attachable: true },
    ]);
    assert.match(
      await words(user.unstage()),
      /^GetDeviceMountRefs check failed: the device mount path .* still mounted/,
    );
    await user.unpublish();
    await later.unstage({
      deviceName: `[${WWN}]:1`,
      name: '',
      mode: 'Filesystem',
      stagedPath: folder,
      signal: user.signal,
    });
    assert.equal(world.read('sys/block/sda/device/delete'), '1');
    assert.equal(world.read('sys/block/sdz/device/delete'), '');
    assert.equal(existsSync(folder), false);
  });
});

test('by identifiers, read-only, and by a multipath device that is busy for a moment', { skip }, async () => {
  await withScsi(async ({ rootDir, world, ground }) => {
    const disk = world.disk();
    const wwids = ['3600508b400105e21', 'VENDOR 0815'];
    world.attached('sda', disk, 'by-id/scsi-3600508b400105e21');
    world.attached('sdb', disk, 'by-id/scsi-VENDOR_0815');
    const plugin = new FcVolumes(ground);
    const user = new VolumeUser(plugin, rootDir, ofPv('pv', { fc: { wwids } }));
    assert.equal(await plugin.deviceName(user.spec), '[3600508b400105e21 VENDOR 0815]');
    const folder = join(rootDir, 'plugins/kubernetes.io/fc/3600508b400105e21-VENDOR_0815');
    world.multipath('dm-3', disk, 'sda', 'sdb');
    assert.equal(await user.stage(), folder);
    // What an earlier agent left goes by another name: a folder does not tell spaces from others.
    const [found] = await plugin.stagedOnDisk();
    assert.equal(found?.deviceName, '[3600508b400105e21 VENDOR_0815]');
    await plugin.unstage({ ...found, signal: user.signal });
    assert.deepEqual(await mountedAt(folder), ['ext4 rw rw']);
    world.put('wrong/flush', '2');
    await user.unstage();
    const flush = `multipath -f ${join(world.dir, 'dev/dm-3')}`;
    assert.deepEqual(world.calls(), [flush, flush, flush]);
    for (const name of ['sda', 'sdb']) assert.equal(world.read(`sys/block/${name}/device/delete`), '1');

    world.multipath('dm-3', disk, 'sda', 'sdb');
    world.put('wrong/flush', '1000');
    const only = new VolumeUser(plugin, rootDir, { ...user.spec, readOnly: true });
    await only.stage();
    await only.publish();
    assert.deepEqual(await mountedAt(only.path), ['ext4 ro ro']);
    await only.unpublish();
    const device = join(world.dir, 'dev/dm-3');
    assert.equal(
      await words(only.unstage()),
      `fc: failed to detach disk: ${device}: failed to flush multipath device ${device}: exit status 1\n${device}: map in use\n`,
    );
    assert.equal(world.calls().length, 13);
    // Its mount is gone by now: what is still to be done is remembered.
    world.put('wrong/flush', '0');
    await only.unstage();
    assert.deepEqual(world.calls(), [flush]);
  });
});

test('as a device; volumes that name no disk, and names that lead elsewhere', { skip }, async () => {
  await withScsi(async ({ rootDir, world, ground }) => {
    world.attached('sda', world.disk(), `by-path/fc-0x${WWN}-lun-1`);
    const plugin = new FcVolumes(ground);
    // The first of both target names is not there.
    const user = new VolumeUser(plugin, rootDir, ofPv('pv', { fc: { targetWWNs: ['ff', WWN], lun: 1 } }, 'Block'));
    const folder = join(rootDir, `plugins/kubernetes.io/fc/volumeDevices/ff-${WWN}-lun-1`);
    assert.equal(await user.stage(), folder);
    assert.equal(await plugin.globalMapPath({ name: 'pv', spec: user.spec }), folder);
    assert.equal(await user.publish(), join(world.dir, 'dev/sda'));
    mkdirSync(folder, { recursive: true });
    world.put('sys/block/sda/device/delete', '');
    await user.unstage();
    assert.equal(world.read('sys/block/sda/device/delete'), '1');
    assert.equal(existsSync(folder), false);
    const none = new VolumeUser(plugin, rootDir, inline({ fc: { targetWWNs: [WWN] } }));
    assert.equal(await plugin.deviceName(none.spec), '');
    assert.equal(
      await words(none.publish()),
      'MountVolume.NewMounter initialization failed: fc: no fc disk information found. failed to make a new mounter',
    );
    const out = new VolumeUser(plugin, rootDir, inline({ fc: { wwids: ['../../x'] } }));
    assert.match(await words(out.stage()), /^HOST010: /);
  });
});
