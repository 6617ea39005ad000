/** CSI drivers of a bench, each a process of its own (what they do may not hold up who measures), and claims that are bound to their volumes. */
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClusterNode } from '../cluster/support/cluster-node.ts';
import type { ControlPlane } from '../cluster/support/control-plane.ts';
import { STORAGE, isInCsiNode } from '../cluster/support/csi-world.ts';
import { DaemonProcess } from '../../bin/control-plane/daemon-process.ts';
import type { Fault } from '../tools/csi-driver/faults.ts';
import { waitFor } from '../tools/wait-for.ts';

const CLAIMS = '/api/v1/namespaces/default/persistentvolumeclaims';
const MAIN = join(import.meta.dirname, '../tools/csi-driver/main.ts');

/** A driver that runs. */
export interface BenchDriver {
  name: string;
  socket: string;
  /** Methods of its node service called so far. */
  did: () => string[];
  /** From now on it meets these faults, and no others; what hangs fails. */
  faults: (faults: Record<string, Fault>) => Promise<void>;
  stop: () => Promise<void>;
}

/** Starts a driver on a node; resolves when the node's CSINode has it. @param attaches a volume must be attached before it is staged */
export async function startDriver(
  plane: ControlPlane,
  node: ClusterNode,
  name: string,
  attaches = false,
): Promise<BenchDriver> {
  const { api } = plane;
  const spec = { attachRequired: attaches, fsGroupPolicy: 'File', volumeLifecycleModes: ['Persistent'] };
  if ((await api.find(`${STORAGE}/csidrivers/${name}`)) === undefined)
    await api.post(`${STORAGE}/csidrivers`, { metadata: { name }, spec });
  const folder = join(node.dir, name);
  await mkdir(folder, { recursive: true });
  const [socket, calls, faults] = ['csi.sock', 'calls', 'faults'].map((file) => join(folder, file)) as [
    string,
    string,
    string,
  ];
  const traits = { nodeId: `${node.name}-id`, anyVolume: true, attaches };
  await writeFile(calls, '');
  await writeFile(faults, '{}');
  const registration = join(node.agentRoot, 'plugins_registry', `${name}.sock`);
  const process_ = new DaemonProcess({
    ...{ name, program: process.execPath, logFile: join(folder, 'log') },
    args: [MAIN, name, socket, join(folder, 'volumes'), registration, calls, faults, JSON.stringify(traits)],
  });
  await waitFor(
    `${name} in the CSINode`,
    () => isInCsiNode(plane, node.name, name),
    () => process_.tail(),
  );
  return {
    ...{ name, socket },
    did: () =>
      readFileSync(calls, 'utf8')
        .split('\n')
        .flatMap((line) => (line === '' ? [] : (JSON.parse(line) as { method: string }).method)),
    async faults(wanted) {
      await writeFile(faults, JSON.stringify(wanted));
      process.kill(process_.pid, 'SIGUSR2');
    },
    stop: () => process_.terminate().then(() => undefined),
  };
}

/** Makes claims of these names, each with a volume of the driver, and waits until all are bound. */
export async function boundClaims({ api }: ControlPlane, driver: string, names: readonly string[]): Promise<void> {
  const common = { accessModes: ['ReadWriteOnce'], storageClassName: '' };
  await Promise.all(
    names.map(async (name) => {
      await api.post('/api/v1/persistentvolumes', {
        ...{ apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name } },
        spec: {
          ...common,
          ...{ capacity: { storage: '16Mi' }, persistentVolumeReclaimPolicy: 'Retain' },
          claimRef: { kind: 'PersistentVolumeClaim', namespace: 'default', name },
          csi: { driver, volumeHandle: `${name}-disk` },
        },
      });
      const spec = { ...common, volumeName: name, resources: { requests: { storage: '16Mi' } } };
      await api.post(CLAIMS, { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name }, spec });
    }),
  );
  const wanted = new Set(names);
  await waitFor(`${names.length} claims to be bound`, async () => {
    const all = await api.list<{ metadata: { name: string }; status?: { phase?: string } }>(CLAIMS);
    const bound = all.filter(({ metadata, status }) => wanted.has(metadata.name) && status?.phase === 'Bound');
    return bound.length === names.length ? true : undefined;
  });
}
