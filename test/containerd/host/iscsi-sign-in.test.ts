/** How targets of iSCSI volumes are signed in to, and what is said when that fails; secrets are seen by nobody. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { IscsiVolumes } from '../../../actors/resources/scsi/iscsi-volumes.ts';
import type { VolumeFailure } from '../../../actors/resources/volumes/volume-plugin.ts';
import { until } from '../../tools/wait-for.ts';
import { VolumeUser, inline, IQN, lun, ofPv, PORTAL, skip, withScsi, words } from './scsi-bench.ts';

const NO_PATH = 'MountVolume.WaitForAttach failed: failed to get any path for iscsi disk, last err seen:\n';
const CHAP = { chapAuthDiscovery: true, chapAuthSession: true, secretRef: { name: 'chap' } };

test(
  'CHAP: discovery and session are told what the secret says, which no log, failure or file has',
  { skip },
  async () => {
    await withScsi(async ({ rootDir, world, ground, secrets, logged }) => {
      world.target(IQN, 1, PORTAL);
      world.put(`chap/${PORTAL}`, 'clerk open-sesame');
      const plugin = new IscsiVolumes(ground);
      const user = new VolumeUser(plugin, rootDir, inline(lun(0, CHAP)));
      assert.equal(
        await words(user.stage()),
        'MountVolume.NewMounter initialization failed: couldn\'t get secret ns/chap error: secrets "chap" not found',
      );
      const ofAll = (name: string) => ({
        [`${name}.auth.username`]: 'clerk',
        [`${name}.auth.password`]: 'open-sesame',
        [`${name}.auth.password_in`]: 'are-you-it',
      });
      secrets.set('ns/chap', { ...ofAll('discovery.sendtargets'), ...ofAll('node.session'), other: 'x' });
      const folder = await user.stage();
      const told = world.calls().filter((call) => call.includes('auth'));
      const discovery = `-m discoverydb -t sendtargets -p ${PORTAL} -I default -o update -n discovery.sendtargets.auth`;
      const session = `-m node -p ${PORTAL} -T ${IQN} -I default -o update -n node.session.auth`;
      assert.deepEqual(told, [
        `${discovery}.authmethod -v CHAP`,
        `${discovery}.username -v clerk`,
        `${discovery}.password -v open-sesame`,
        `${discovery}.password_in -v are-you-it`,
        `${session}.authmethod -v CHAP`,
        `${session}.username -v clerk`,
        `${session}.password -v open-sesame`,
        `${session}.password_in -v are-you-it`,
      ]);
      await user.unstage();

      // The program says what it was told: nobody hears it.
      world.put('wrong/update-discovery.sendtargets.auth.password', '');
      assert.equal(
        await words(user.stage()),
        `${NO_PATH}iscsi: failed to update discoverydb to portal ${PORTAL} error: iscsi: failed to update discoverydb key "discovery.sendtargets.auth.password" error: iscsiadm: Invalid value ***\n`,
      );
      assert.equal(
        world.calls().some((call) => call.includes('--login')),
        false,
      );
      assert.doesNotMatch(readFileSync(join(folder, 'iscsi.json'), 'utf8'), /clerk|sesame/);
      assert.doesNotMatch(logged.join(''), /open-sesame|are-you-it/);
      await user.unstage();
    });
  },
);

test('CHAP with a wrong password, and a secret of another namespace', { skip }, async () => {
  await withScsi(async ({ rootDir, world, ground, secrets }) => {
    world.target(IQN, 1, PORTAL);
    world.put(`chap/${PORTAL}`, 'clerk open-sesame');
    const of = (password: string) => ({
      'node.session.auth.username': 'clerk',
      'node.session.auth.password': password,
    });
    const secretRef = { name: 'chap', namespace: 'storage' };
    const user = new VolumeUser(new IscsiVolumes(ground), rootDir, ofPv('pv', lun(0, { ...CHAP, secretRef }), 'Block'));
    secrets.set('storage/chap', of('wrong'));
    assert.match(
      await words(user.stage()),
      /^MapVolume.WaitForAttach failed: failed to get any path for iscsi disk, last err seen:\niscsi: failed to sendtargets to portal 10\.0\.0\.1:3260 output: iscsiadm: Login failed to authenticate with target\n, err exit status 24$/,
    );
    assert.deepEqual([world.names('discovery'), world.sessions], [[], []]);
    await user.unstage();
  });
});

test('an initiator name of its own: a copy of the interface, which goes with the volume', { skip }, async () => {
  await withScsi(async ({ rootDir, world, ground }) => {
    world.target(IQN, 1, PORTAL);
    const initiatorName = 'iqn.2026-11.com.example:me';
    const user = new VolumeUser(new IscsiVolumes(ground), rootDir, ofPv('pv', lun(0, { initiatorName })));
    const iface = `${PORTAL}:pv`;
    assert.equal(
      await user.stage(),
      join(rootDir, `plugins/kubernetes.io/iscsi/iface-${iface}/${PORTAL}-${IQN}-lun-0`),
    );
    assert.deepEqual(world.calls().slice(0, 6), [
      '-m iface -I default -o show',
      '-m iface -I default -o show',
      `-m iface -I ${iface} -o new`,
      `-m iface -I ${iface} -o update -n iface.initiatorname -v ${initiatorName}`,
      `-m iface -I ${iface} -o update -n iface.transport_name -v tcp`,
      `-m discoverydb -t sendtargets -p ${PORTAL} -I ${iface} -o new`,
    ]);
    await user.unstage();
    assert.deepEqual(world.calls().at(-1), `-m iface -I ${iface} -o delete`);
    assert.deepEqual([world.names('ifaces'), world.sessions], [['default'], []]);

    world.put('wrong/update-iface.initiatorname', '');
    assert.match(
      await words(user.stage()),
      /iscsi: failed to update iface records:  \(exit status 7\)\. iface\(default\) will be used$/,
    );
    assert.deepEqual(world.names('ifaces'), ['default']);
    await user.unstage();
  });
});

test('a login that fails leaves no record; the next try works', { skip }, async () => {
  await withScsi(async ({ rootDir, world, ground }) => {
    world.target(IQN, 1, PORTAL);
    world.put(`wrong/login-${PORTAL}`, 'connection timed out');
    const user = new VolumeUser(new IscsiVolumes(ground), rootDir, inline(lun(0)));
    assert.equal(
      await words(user.stage()),
      `${NO_PATH}iscsi: failed to attach disk: Error: iscsiadm: connection timed out\n (exit status 8)`,
    );
    assert.equal(world.calls().at(-1), `-m node -p ${PORTAL} -I default -T ${IQN} -o delete`);
    assert.deepEqual(world.names('ifaces'), ['default']);
    rmSync(join(world.dir, `wrong/login-${PORTAL}`));
    await user.stage();
    await user.unstage();
    assert.deepEqual(world.sessions, []);
  });
});

test('a device that never comes: told so, and what was signed in to is signed out of', { skip }, async () => {
  await withScsi(async ({ rootDir, world, ground }) => {
    world.target(IQN, 1, PORTAL);
    world.put('wrong/no-disks', '');
    const user = new VolumeUser(new IscsiVolumes(ground), rootDir, inline(lun(0)));
    const link = join(world.dir, `dev/disk/by-path/ip-${PORTAL}-iscsi-${IQN}-lun-0`);
    const text = `Timed out waiting for device at path ${link} after 30s`;
    const failure: VolumeFailure = await user.stage().then(
      () => assert.fail('it worked'),
      (error: unknown) => error as VolumeFailure,
    );
    assert.equal(await words(Promise.reject(failure)), `${NO_PATH}${text}`);
    // So it is taken down when no pod wants it any more.
    assert.equal(failure.done, false);
    assert.deepEqual(world.sessions, [`${PORTAL} ${IQN}`]);
    world.calls();
    assert.equal(await words(user.stage()), `${NO_PATH}${text}`);
    assert.deepEqual(world.calls(), ['-m iface -I default -o show']);
    await user.unstage('');
    assert.deepEqual(world.sessions, []);
    assert.equal(existsSync(join(rootDir, `plugins/kubernetes.io/iscsi/iface-default/${PORTAL}-${IQN}-lun-0`)), false);
  });
});

test(
  'a card with an iSCSI stack of its own: its device is found by any PCI address; an interface that is not there',
  { skip },
  async () => {
    await withScsi(async ({ rootDir, world, ground }) => {
      world.put('ifaces/card', 'iface.iscsi_ifacename = card\niface.transport_name = bnx2i\n');
      world.target(IQN, 1, PORTAL);
      world.put('wrong/no-disks', '');
      const link = `by-path/pci-0000:03:00.0-ip-${PORTAL}-iscsi-${IQN}-lun-0`;
      world.attached('sdx', world.disk(), link, `by-path/pci-0000:03:00.0-ip-${PORTAL}-iscsi-${IQN}-lun-01`);
      const plugin = new IscsiVolumes(ground);
      const user = new VolumeUser(plugin, rootDir, ofPv('pv', lun(0, { iscsiInterface: 'card' }), 'Block'));
      await user.stage();
      assert.equal(await user.publish(), join(world.dir, 'dev/disk', link));
      await user.unstage();
      world.put('ifaces/odd', 'iface.iscsi_ifacename = odd\n');
      const odd = new VolumeUser(plugin, rootDir, inline(lun(0, { iscsiInterface: 'odd' })));
      assert.match(await words(odd.stage()), /could not parse iface file for odd$/);
      await odd.unstage('');
      const none = new VolumeUser(plugin, rootDir, inline(lun(0, { iscsiInterface: 'none' })));
      await assert.rejects(none.stage(), { message: 'exit status 21', done: true });
      assert.equal(existsSync(join(rootDir, 'plugins/kubernetes.io/iscsi/iface-none')), false);
    });
  },
);

test('a machine without iscsiadm: which packages have it', { skip }, async () => {
  await withScsi(async ({ rootDir, ground }) => {
    const machine = { ...ground.machine, iscsiadm: 'no-such-iscsiadm' };
    const user = new VolumeUser(new IscsiVolumes({ ...ground, machine }), rootDir, inline(lun(0)));
    await assert.rejects(user.stage(), {
      ...{ code: 'PLG005', done: true },
      message: /executable file not found in \$PATH\. Install open-iscsi \(Debian.* or iscsi-initiator-utils/,
    });
    assert.equal(existsSync(join(rootDir, 'plugins')), false);
    await user.unstage('');
  });
});

test('a pod that ends while its volume is signed in to: that is given up, and undone', { skip }, async () => {
  await withScsi(async ({ rootDir, world, ground }) => {
    world.target(IQN, 1, PORTAL);
    world.put('wrong/no-disks', '');
    const machine = { ...ground.machine, lookMs: 600_000 };
    const user = new VolumeUser(new IscsiVolumes({ ...ground, machine }), rootDir, inline(lun(0)));
    const control = new AbortController();
    const staged = user.stage(control.signal);
    staged.catch(() => undefined);
    await until(() => world.calls().some((call) => call.includes('node.startup')));
    control.abort();
    await assert.rejects(staged, { done: false });
    await user.unstage('');
    assert.deepEqual([world.sessions, world.names(`nodes/${PORTAL}`)], [[], []]);
  });
});
