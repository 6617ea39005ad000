/** iSCSI volumes on a machine whose `iscsiadm` is a script: what is called, which folders and files there are, what is let go of when. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { IscsiVolumes } from '../../../actors/resources/scsi/iscsi-volumes.ts';
import { VolumeUser, inline, IQN, lun, mountedAt, ofPv, PORTAL, skip, withScsi, words } from './scsi-bench.ts';

const ON = `-p ${PORTAL} -T ${IQN}`;
const DISCOVERY = `-m discoverydb -t sendtargets -p ${PORTAL} -I default`;
const LOGIN = [
  '-m iface -I default -o show',
  `${DISCOVERY} -o new`,
  `${DISCOVERY} --discover`,
  `-m node ${ON} -I default -o update -n node.session.scan -v manual`,
  `-m node ${ON} -I default --login`,
  `-m node ${ON} -o update -n node.startup -v manual`,
];
const LOGOUT = [`-m node ${ON} --logout -I default`, `-m node ${ON} -o delete -I default`];

test(
  'a LUN is signed in to, formatted, mounted once for all pods, and let go of when none has it',
  { skip },
  async () => {
    await withScsi(async ({ rootDir, world, ground }) => {
      world.target(IQN, 1, PORTAL);
      const plugin = new IscsiVolumes(ground);
      const spec = inline(lun(0, { fsType: 'ext4' }));
      const [one, two] = [new VolumeUser(plugin, rootDir, spec), new VolumeUser(plugin, rootDir, spec, 'w')];
      assert.equal(plugin.serves(spec), true);
      assert.equal(plugin.serves(ofPv('pv', { fc: {} })), false);
      assert.equal(await plugin.deviceName(spec), `${PORTAL}:${IQN}:0`);
      assert.equal(await plugin.attachable(), true);

      const folder = join(rootDir, `plugins/kubernetes.io/iscsi/iface-default/${PORTAL}-${IQN}-lun-0`);
      assert.equal(await one.stage(), folder);
      assert.deepEqual(world.calls(), LOGIN);
      assert.equal(world.read('sys/class/scsi_host/host2/scan'), '0 0 0');
      assert.deepEqual(await mountedAt(folder), ['ext4 rw rw']);

      assert.equal(await one.publish({ fsGroup: 4321 }), one.path);
      assert.equal(statSync(one.path).gid, 4321);
      writeFileSync(join(one.path, 'file'), 'kept');
      // A second pod, and an agent that looks again: nothing is signed in or mounted twice.
      await two.stage();
      assert.deepEqual(world.calls(), ['-m iface -I default -o show']);
      await two.publish();
      assert.equal(readFileSync(join(two.path, 'file'), 'utf8'), 'kept');
      assert.ok(((await plugin.usage({ spec, path: one.path }))?.capacityBytes ?? 0) > 0);

      await one.unpublish();
      await one.unpublish();
      assert.equal(
        await words(two.unstage()),
        `GetDeviceMountRefs check failed: the device mount path "${folder}" is still mounted by other references [${two.path}]`,
      );
      assert.deepEqual([world.calls(), world.sessions], [[], [`${PORTAL} ${IQN}`]]);
      await two.unpublish();
      await two.unstage();
      assert.deepEqual(world.calls(), LOGOUT);
      assert.equal(world.read('sys/block/sd2n0/device/delete'), '1');
      assert.deepEqual([world.sessions, world.names(`nodes/${PORTAL}`)], [[], []]);
      assert.equal(existsSync(folder), false);
      await two.unstage();
      assert.deepEqual(world.calls(), []);
    });
  },
);

test('the session stays while another LUN of the target is used, be it as a device', { skip }, async () => {
  await withScsi(async ({ rootDir, world, ground }) => {
    world.target(IQN, 2, PORTAL);
    // Its name begins like that of the first.
    world.target(`${IQN}2`, 1, PORTAL);
    const plugin = new IscsiVolumes(ground);
    const first = new VolumeUser(plugin, rootDir, ofPv('pv-0', lun(0)));
    const second = new VolumeUser(plugin, rootDir, ofPv('pv-1', lun(1), 'Block'));
    const other = new VolumeUser(plugin, rootDir, ofPv('pv-2', lun(0, { iqn: `${IQN}2` })));
    const folder = await first.stage();
    await other.stage();
    world.calls();
    const map = await second.stage();
    assert.deepEqual(world.calls(), ['-m iface -I default -o show']);
    assert.equal(world.read('sys/class/scsi_host/host2/scan'), '0 0 1');
    // An agent that has signed in to nothing goes by the folders.
    const next = new IscsiVolumes(ground);
    await new VolumeUser(next, rootDir, first.spec).unstage(folder);
    assert.deepEqual([world.calls(), world.sessions.length], [[], 2]);
    assert.equal(world.read('sys/block/sd2n0/device/delete'), '1');
    assert.equal(world.read('sys/block/sd2n1/device/delete'), '');
    await new VolumeUser(next, rootDir, second.spec).unstage(map);
    assert.deepEqual(world.calls(), LOGOUT);
    assert.deepEqual(world.sessions, [`${PORTAL} ${IQN}2`]);
    await other.unstage();
    assert.deepEqual(world.sessions, []);
  });
});

test('of LUNs that are let go of at the same moment the last one ends the session', { skip }, async (t) => {
  const { rmdir } = fs;
  t.after(() => {
    Object.assign(fs, { rmdir });
    syncBuiltinESMExports();
  });
  await withScsi(async ({ rootDir, world, ground }) => {
    world.target(IQN, 2, PORTAL);
    const plugin = new IscsiVolumes(ground);
    const users = [0, 1].map((i) => new VolumeUser(plugin, rootDir, ofPv(`pv-${i}`, lun(i), 'Block')));
    for (const user of users) await user.stage();
    // A disk that is slow just then.
    Object.assign(fs, { rmdir: (path: string) => sleep(200).then(() => rmdir(path)) });
    syncBuiltinESMExports();
    await Promise.all(users.map((user) => user.unstage()));
    assert.deepEqual(world.sessions, []);
  });
});

test('a portal that another volume of the target names second is kept', { skip }, async () => {
  await withScsi(async ({ rootDir, world, ground }) => {
    const [one, two] = ['10.0.0.1:3260', '10.0.0.2:3260'];
    world.target(IQN, 2, one, two);
    const plugin = new IscsiVolumes(ground);
    const first = new VolumeUser(plugin, rootDir, ofPv('pv-0', lun(0, { portals: ['10.0.0.2'] })));
    const second = new VolumeUser(plugin, rootDir, ofPv('pv-1', lun(1, { targetPortal: '10.0.0.2' })));
    await first.stage();
    await second.stage();
    assert.deepEqual(world.sessions, [`${one} ${IQN}`, `${two} ${IQN}`]);
    await first.unstage();
    assert.deepEqual(world.sessions, [`${two} ${IQN}`]);
    await second.unstage();
    assert.deepEqual(world.sessions, []);
  });
});

test('several portals: all are signed in to, the multipath device is used and let go of', { skip }, async () => {
  await withScsi(async ({ rootDir, world, ground }) => {
    const portals = ['10.0.0.2:3261', '[fd00::3]:3260'];
    world.target(IQN, 1, PORTAL, ...portals);
    world.put('wrong/multipath', '');
    const plugin = new IscsiVolumes(ground);
    const user = new VolumeUser(plugin, rootDir, ofPv('pv', lun(0, { portals }), 'Block'));
    await user.stage();
    assert.deepEqual(
      world.sessions,
      [PORTAL, ...portals].map((portal) => `${portal} ${IQN}`),
    );
    assert.equal(await user.publish(), join(world.dir, 'dev/dm-0'));
    world.calls();
    await user.unstage();
    const calls = world.calls();
    assert.equal(calls[0], `multipath -f ${join(world.dir, 'dev/dm-0')}`);
    assert.equal(calls.filter((call) => call.includes('--logout')).length, 3);
    assert.deepEqual(world.sessions, []);
    for (const disk of ['sd2n0', 'sd3n0', 'sd4n0']) assert.equal(world.read(`sys/block/${disk}/device/delete`), '1');
  });
});

test('a portal that does not answer: with one path of two the volume is there, after all tries', { skip }, async () => {
  await withScsi(async ({ rootDir, world, ground, logged }) => {
    world.target(IQN, 1, PORTAL);
    const plugin = new IscsiVolumes(ground);
    const user = new VolumeUser(plugin, rootDir, ofPv('pv', lun(0, { portals: ['10.0.0.9'] }), 'Block'));
    await user.stage();
    const calls = world.calls();
    assert.equal(calls.filter((call) => call.endsWith('-p 10.0.0.9:3260 -I default --discover')).length, 5);
    assert.equal(calls.filter((call) => call.endsWith('-p 10.0.0.9:3260 -I default -o delete')).length, 5);
    assert.equal(calls.filter((call) => call.endsWith('--login')).length, 1);
    assert.equal(await user.publish(), join(world.dir, `dev/disk/by-path/ip-${PORTAL}-iscsi-${IQN}-lun-0`));
    assert.match(logged.join(''), /failed to sendtargets to portal 10\.0\.0\.9:3260 output: iscsiadm: cannot make/);
    await user.unstage();
    assert.deepEqual(world.sessions, []);
  });
});

test('read-only: nothing is formatted, and what is there is mounted so', { skip }, async () => {
  await withScsi(async ({ rootDir, world, ground }) => {
    world.target(IQN, 1, PORTAL);
    const plugin = new IscsiVolumes(ground);
    const only = new VolumeUser(plugin, rootDir, inline(lun(0, { readOnly: true })));
    assert.match(
      await words(only.stage()),
      /^cannot mount unformatted disk \S+ as we are manipulating it in read-only mode$/,
    );
    const free = new VolumeUser(plugin, rootDir, inline(lun(0)));
    await free.stage();
    await free.unstage();
    const folder = await only.stage();
    await only.publish({ fsGroup: 4321 });
    assert.deepEqual([await mountedAt(folder), await mountedAt(only.path)], [['ext4 ro ro'], ['ext4 ro ro']]);
    assert.notEqual(statSync(only.path).gid, 4321);
    await only.unpublish();
    await only.unstage();
  });
});

test('kubelet’s iscsi.json says how a volume is taken down, else its folder does', { skip }, async () => {
  await withScsi(async ({ rootDir, world, ground }) => {
    world.target(IQN, 1, PORTAL);
    const user = new VolumeUser(
      new IscsiVolumes(ground),
      rootDir,
      ofPv('pv', lun(0, { targetPortal: '10.0.0.1' }), 'Block'),
    );
    const folder = await user.stage();
    const file = join(folder, 'iscsi.json');
    assert.equal(
      folder,
      join(rootDir, `plugins/kubernetes.io/iscsi/volumeDevices/iface-default/${PORTAL}-${IQN}-lun-0`),
    );
    assert.equal(
      readFileSync(file, 'utf8'),
      `{"VolName":"pv","Portals":["${PORTAL}"],"Iqn":"${IQN}","Lun":"0","InitIface":"default","Iface":"default","InitiatorName":"","MetricsProvider":null}\n`,
    );
    world.calls();
    // Another agent, which has never seen the volume, and one that finds no such file.
    for (const text of [
      `{"VolName":"pv","Portals":["${PORTAL}","${PORTAL}"],"Iqn":"${IQN}","Lun":"0","Iface":"default"}`,
      '{',
    ]) {
      writeFileSync(file, text);
      const [found] = await new IscsiVolumes(ground).stagedOnDisk();
      assert.deepEqual(found, {
        ...{ deviceName: `${PORTAL}:${IQN}:0`, name: '', mode: 'Block', stagedPath: folder, attachable: true },
      });
      await new IscsiVolumes(ground).unstage({ ...found, signal: user.signal });
      assert.deepEqual([world.calls(), world.sessions, existsSync(folder)], [LOGOUT, [], false]);
      await user.stage();
      world.calls();
    }
    await user.unstage();
  });
});

test('names that lead out of kubelet’s folders are refused', { skip }, async () => {
  await withScsi(async ({ rootDir, world, ground }) => {
    const plugin = new IscsiVolumes(ground);
    for (const more of [{ iscsiInterface: '../../..' }, { targetPortal: '../../x' }, { iqn: 'iqn.x:/../../y' }]) {
      const user = new VolumeUser(plugin, rootDir, inline(lun(0, more)));
      assert.match(await words(user.stage()), /^HOST010: /);
      assert.deepEqual(world.calls(), []);
    }
  });
});
