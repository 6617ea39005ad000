/** CSI drivers and claims of a cluster test. */
import { mkdir, readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { CsiDriver } from '../../tools/csi-driver/csi-driver.ts';
import { waitFor } from '../../tools/wait-for.ts';
import type { ClusterNode } from './cluster-node.ts';
import type { ControlPlane } from './control-plane.ts';
import type { Space } from './space.ts';

/** Path of the storage API. */
export const STORAGE = '/apis/storage.k8s.io/v1';

/** Whether a node's CSINode names a driver, for `waitFor`. */
export async function isInCsiNode({ api }: ControlPlane, node: string, driver: string): Promise<true | undefined> {
  const found = await api.find<{ spec: { drivers: { name: string }[] | null } }>(`${STORAGE}/csinodes/${node}`);
  return found?.spec.drivers?.some(({ name }) => name === driver) === true ? true : undefined;
}

/** A driver on the node, with its CSIDriver; waits until the CSINode has it. The caller stops it. @param attaches its volumes must be attached first */
export async function driverOf(
  plane: ControlPlane,
  node: ClusterNode,
  name: string,
  spec: object,
  attaches = false,
): Promise<CsiDriver> {
  const { api } = plane;
  const object = { apiVersion: 'storage.k8s.io/v1', kind: 'CSIDriver', metadata: { name }, spec };
  await api.post(`${STORAGE}/csidrivers`, object);
  const folder = join(node.dir, name);
  await mkdir(folder, { recursive: true });
  const driver = new CsiDriver({
    ...{ name, socket: join(folder, 'csi.sock'), dir: join(folder, 'volumes'), showing: 'bind' },
    registration: join(node.agentRoot, 'plugins_registry', `${name}.sock`),
    traits: {
      ...{ nodeId: `${node.name}-id`, anyVolume: true, attaches, maxVolumes: 8 },
      topology: { [`${name}/zone`]: 'z' },
    },
  });
  await driver.start();
  try {
    await waitFor(`${name} in the CSINode`, () => isInCsiNode(plane, node.name, name));
    return driver;
  } catch (error) {
    driver.stop();
    throw error;
  }
}

/** A claim that is bound to a volume of the driver; answers the volume's name. */
export async function boundClaim(
  plane: ControlPlane,
  space: Space,
  driver: string,
  claim: string,
  more: object = {},
): Promise<string> {
  return boundTo(plane, space, claim, { csi: { driver, volumeHandle: `${space.name}-${claim}-disk` } }, more);
}

/** A claim that is bound to a volume with this source (`{ hostPath: ... }`); answers the volume's name. */
export async function boundTo(
  plane: ControlPlane,
  space: Space,
  claim: string,
  source: object,
  more: object = {},
): Promise<string> {
  const name = `${space.name}-${claim}`;
  const common = { accessModes: ['ReadWriteOnce'], storageClassName: '', ...more };
  await plane.api.post('/api/v1/persistentvolumes', {
    ...{ apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name } },
    spec: { capacity: { storage: '16Mi' }, persistentVolumeReclaimPolicy: 'Retain', ...common, ...source },
  });
  const resources = { requests: { storage: '16Mi' } };
  const spec = { ...common, volumeName: name, resources };
  await space.create({ kind: 'PersistentVolumeClaim', metadata: { name: claim }, spec });
  await space.wait<{ status?: { phase?: string } }>(
    'PersistentVolumeClaim',
    claim,
    'bound',
    (found) => found.status?.phase === 'Bound',
  );
  return name;
}

/** Waits until the driver's volumes are neither mounted nor staged on the node. */
export async function nothingLeft(node: ClusterNode, driver: string): Promise<void> {
  await waitFor(
    'nothing mounted or staged',
    async () => {
      const left = await remains(node, driver);
      return left.length === 0 ? true : undefined;
    },
    async () => (await remains(node, driver)).join('\n'),
  );
}

async function remains(node: ClusterNode, driver: string): Promise<string[]> {
  const root = join(node.agentRoot, 'plugins/kubernetes.io/csi');
  const mounts = (await readFile('/proc/self/mountinfo', 'utf8'))
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
    .filter((path) => path.startsWith(root) || path.includes('kubernetes.io~csi'));
  const staged = await readdir(join(root, driver)).catch(() => []);
  const devices = await readdir(join(root, 'volumeDevices')).catch(() => []);
  return [...mounts, ...staged, ...devices.filter((name) => name !== 'staging' && name !== 'publish')];
}
