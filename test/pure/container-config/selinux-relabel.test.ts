import assert from 'node:assert/strict';
import { test } from 'node:test';
import { selinuxIsOn } from '../../../actors/resources/machine/selinux.ts';
import { containerMounts } from '../../../machines/container-config/volume-mounts.ts';
import type { Container, Pod } from '../../../machines/protocol/api-types.ts';
import { nodeSettings } from '../qos/node-settings.ts';

const names = ['empty', 'map', 'secret', 'facts', 'all', 'node'];
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
    ],
  },
};

/** Container paths of the mounts that the runtime is to label. */
function relabelled(selinux: boolean): string[] {
  const made = containerMounts(
    pod,
    container,
    [],
    ['10.0.0.1'],
    {
      volumePaths: Object.fromEntries(names.map((name) => [name, `/v/${name}`])),
      subPaths: { 'empty/c/6': '/v/empty/part' },
      hostsPath: '/pods/u/etc-hosts',
      terminationLogPath: '/pods/u/log',
    },
    nodeSettings(selinux ? { selinux } : {}),
  );
  if ('error' in made) throw new Error(made.error.message);
  return made.mounts.filter((mount) => mount.selinuxRelabel).map((mount) => mount.containerPath);
}

test('with SELinux the runtime labels what the agent made: its volumes, the hosts file, the termination log', () => {
  const own = ['/empty', '/map', '/secret', '/facts', '/all', '/part', '/etc/hosts', '/dev/termination-log'];
  assert.deepEqual(relabelled(true), own);
  assert.deepEqual(relabelled(false), []);
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
