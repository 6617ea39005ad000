import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMountinfo } from '../../../actors/host/files/mountinfo.ts';
import { hasLabels } from '../../../actors/resources/volumes/mount-labels.ts';
import { selinuxIsOn } from '../../../actors/resources/machine/selinux.ts';
import { containerMounts } from '../../../machines/container-config/volume-mounts.ts';
import type { Container, Pod } from '../../../machines/protocol/api-types.ts';
import { CURRENT } from '../../../machines/protocol/behaviour.ts';
import type { NodeSettings } from '../../../machines/protocol/node-settings.ts';
import { nodeSettings } from '../qos/node-settings.ts';

const names = ['empty', 'map', 'secret', 'facts', 'all', 'node', 'git', 'claim', 'nfs'];
const container: Container = {
  name: 'c',
  volumeMounts: [
    ...names.map((name) => ({ name, mountPath: `/${name}` })),
    { name: 'empty', mountPath: '/part', subPath: 'part' },
  ],
};
const pod: Pod = {
  spec: {
    containers: [container],
    volumes: [
      { name: 'empty', emptyDir: {} },
      { name: 'map', configMap: { name: 'm' } },
      { name: 'secret', secret: { secretName: 's' } },
      { name: 'facts', downwardAPI: { items: [] } },
      { name: 'all', projected: { sources: [] } },
      { name: 'node', hostPath: { path: '/srv' } },
      { name: 'git', gitRepo: { repository: 'r' } },
      { name: 'claim', persistentVolumeClaim: { claimName: 'c' } },
      { name: 'nfs', nfs: { server: 's', path: '/' } },
    ],
  },
};

/** Container paths of the mounts that the runtime is to label. */
function relabelled(settings: Partial<NodeSettings>): string[] {
  const made = containerMounts(
    pod,
    container,
    [],
    ['10.0.0.1'],
    {
      volumePaths: Object.fromEntries(names.map((name) => [name, `/v/${name}`])),
      volumeTraits: { relabelled: ['claim'] },
      subPaths: { 'empty/c/9': '/v/empty/part' },
      hostsPath: '/pods/u/etc-hosts',
      terminationLogPath: '/pods/u/log',
    },
    nodeSettings(settings),
  );
  if ('error' in made) throw new Error(made.error.message);
  return made.mounts.filter((mount) => mount.selinuxRelabel).map((mount) => mount.containerPath);
}

test('with SELinux the runtime labels what the agent made, and what plugins say: its volumes, the hosts file, the termination log', () => {
  const own = ['/empty', '/map', '/secret', '/facts', '/all'];
  const rest = ['/claim', '/part', '/etc/hosts', '/dev/termination-log'];
  assert.deepEqual(relabelled({ ...CURRENT, selinux: true }), [...own, '/git', ...rest]);
  assert.deepEqual(
    relabelled({ selinux: true }),
    [...own, ...rest],
    'as journals from before have it of what git fetched',
  );
  assert.deepEqual(relabelled(CURRENT), []);
});

test('SELinux is on where its file system can be written to, and a policy is loaded', () => {
  const mount = (options: string, more = 'rw') =>
    `22 1 0:20 / /proc rw shared:5 - proc proc rw\n30 22 0:26 / /sys/fs/selinux ${options} shared:9 - selinuxfs selinuxfs ${more}\n`;
  const confined = () => 'system_u:system_r:kubelet_t:s0\0';
  assert.equal(selinuxIsOn(mount('rw,nosuid'), confined), true);
  assert.equal(
    selinuxIsOn(mount('rw,nosuid'), () => 'kernel\0'),
    false,
  );
  assert.equal(selinuxIsOn(mount('ro,nosuid'), confined), false, 'as in a container');
  assert.equal(selinuxIsOn(mount('rw', 'ro'), confined), false);
  assert.equal(selinuxIsOn('22 1 0:20 / /proc rw shared:5 - proc proc rw\n', confined), false);
  assert.equal(selinuxIsOn('22 1 0:20 / /mnt/selinuxfs rw - ext4 /dev/sda rw\n', confined), false);
});

test('the mount where a volume is says whether its files have labels', () => {
  const mounts = parseMountinfo(
    [
      '22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,seclabel',
      '40 22 8:2 / /v/own rw,relatime - ext4 /dev/sdb rw,seclabel',
      '41 22 8:3 / /v/whole rw,relatime - ext4 /dev/sdc rw,context="system_u:object_r:container_file_t:s0:c1\\054c2"',
      '42 22 0:50 / /v/nfs rw,seclabel - nfs4 server:/ rw',
      '43 22 0:51 / /v/nfs/over rw - nfs4 server:/over rw',
    ].join('\n'),
  );
  const labelled = ['/v/own', '/v/own/mount', '/v/whole/mount', '/v/nfs', '/v/nfs/over', '/v/owner'];
  assert.deepEqual(
    labelled.map((path) => hasLabels(mounts, path)),
    [true, true, false, true, false, true],
  );
});
