/** Volumes of servers: the kernel's NFS server, and an iSCSI target of tgt with open-iscsi, on the machine of the node itself. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Pod } from '../../machines/protocol/api-types.ts';
import { Machine } from './support/machine.ts';
import { NodeInVm } from './support/node-in-vm.ts';
import { sleepingPod } from './support/sleeping-pod.ts';

const IQN = 'iqn.2026-01.io.actorlet:disk';
const MOUNTS = 'grep -c " /var/lib/kubelet/.*kubernetes.io.\\(nfs\\|iscsi\\)" /proc/self/mountinfo || true';
/** 21: there is none. */
const SESSIONS = 'iscsiadm -m session || [ $? = 21 ]';

let machine: Machine;
let node: NodeInVm;

before(async () => {
  machine = await Machine.up();
  await machine.run(`set -e
    mkdir -p /srv/nfs && echo '/srv/nfs *(rw,no_root_squash,insecure,no_subtree_check)' > /etc/exports
    truncate -s 64M /var/tmp/lun.img
    systemctl start nfs-server tgt iscsid && exportfs -ra
    new() { tgtadm --lld iscsi --op new --tid 1 "$@"; }
    new --mode target -T ${IQN} && new --mode logicalunit --lun 1 -b /var/tmp/lun.img
    tgtadm --lld iscsi --op bind --mode target --tid 1 -I ALL`);
  // Nobody attaches for a node that has no API server.
  node = new NodeInVm(machine, { enableControllerAttachDetach: false });
  await node.start();
});
after(() => machine?.down());

/** Adds a line to a file of the volume each time that it begins. */
function writer(name: string, source: object): Pod {
  const pod = sleepingPod(name);
  const [main] = pod.spec?.containers ?? [];
  const command = ['sh', '-c', 'echo line >> /data/lines && exec sleep 100000'];
  return {
    ...pod,
    spec: {
      ...pod.spec,
      containers: [{ name: 'main', ...main, command, volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
      volumes: [{ name: 'data', ...source }],
    },
  };
}

const PODS = [
  writer('nfs', { nfs: { server: '127.0.0.1', path: '/srv/nfs' } }),
  writer('iscsi', { iscsi: { targetPortal: '127.0.0.1:3260', iqn: IQN, lun: 1, fsType: 'ext4' } }),
];
const NAMES = ['nfs', 'iscsi'];

/** The lines that each pod finds in its volume, and the ids of its containers. */
async function found(): Promise<{ lines: Record<string, number>; ids: (string | undefined)[] }> {
  const pods = await node.running(...NAMES);
  const lines: Record<string, number> = {};
  const ids: (string | undefined)[] = [];
  for (const name of NAMES) {
    const { metadata, status } = pods.get(name) ?? {};
    const file = `/var/lib/kubelet/pods/${metadata?.uid ?? ''}/volumes/kubernetes.io~${name}/data/lines`;
    lines[name] = Number(await machine.until(`a line of ${name}`, `wc -l < ${file}`));
    ids.push(status?.containerStatuses?.[0]?.containerID);
  }
  return { lines, ids };
}

test('both are mounted, stay while the agent is away, and keep what was written; nothing of them is left on the node', async () => {
  for (const pod of PODS) await node.add(pod);
  const first = await found();
  assert.deepEqual(first.lines, { nfs: 1, iscsi: 1 });
  // Of iSCSI the disk, once for all pods, and the pod's own.
  assert.equal(Number(await machine.run(MOUNTS)), 3);
  assert.match(await machine.run(SESSIONS), new RegExp(IQN));

  await node.stop();
  await node.start();
  assert.deepEqual(await found(), first);

  await node.remove(...NAMES);
  await node.gone(...NAMES);
  await machine.until('the end of all mounts and sessions', `[ "$(${MOUNTS})" = 0 ] && [ -z "$(${SESSIONS})" ]`);
  assert.equal((await machine.run('cat /srv/nfs/lines')).trim(), 'line');

  for (const pod of PODS) await node.add(pod);
  assert.deepEqual((await found()).lines, { nfs: 2, iscsi: 2 });
});
