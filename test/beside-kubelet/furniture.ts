import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { AdminApi } from '../cluster/support/admin-api.ts';
import { waitFor } from '../tools/wait-for.ts';

/** Where a side's pods live. */
export interface Place {
  namespace: string;
  node: string;
  /** A folder of the side's own, for what volumes hold. */
  dir: string;
}

const DATA = { plain: 'a setting', 'dotted.key': 'another' };
/** Labels, and what they are told of: `sandboxed` is known to the runtime, `unknown` is not. */
const RUNTIME_CLASSES = [
  { name: 'sandboxed', handler: 'sandboxed', overhead: { podFixed: { cpu: '10m', memory: '8Mi' } } },
  { name: 'unknown', handler: 'no-such-handler' },
];

/** Makes a namespace and all that drawn pods refer to: config maps, secrets, claims, runtime classes. */
export async function furnish(api: AdminApi, place: Place): Promise<void> {
  const { namespace } = place;
  const make = (kind: string, body: object) => api.post(`/api/v1/namespaces/${namespace}/${kind}`, body);
  await api.post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  const binaryData = { bytes: Buffer.from([0, 255, 10]).toString('base64') };
  await make('configmaps', { ...object('ConfigMap', 'settings'), data: DATA, binaryData });
  await make('secrets', { ...object('Secret', 'hidden'), stringData: DATA });
  await makeClaims(api, place);
  for (const { name, ...rest } of RUNTIME_CLASSES)
    // The other side may have made it.
    await api
      .post('/apis/node.k8s.io/v1/runtimeclasses', {
        ...{ apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', metadata: { name } },
        ...rest,
      })
      .catch(() => undefined);
  await waitFor('the default service account', () =>
    api.find(`/api/v1/namespaces/${namespace}/serviceaccounts/default`),
  );
}

/** Claims that are bound to a folder of the node, by both sources that need no driver, and one that is bound to nothing. */
async function makeClaims(api: AdminApi, { namespace, node, dir }: Place): Promise<void> {
  const own = { storageClassName: '', accessModes: ['ReadWriteOnce'] };
  const claim = (name: string, more: object) =>
    api.post(`/api/v1/namespaces/${namespace}/persistentvolumeclaims`, {
      ...object('PersistentVolumeClaim', name),
      spec: { ...own, resources: { requests: { storage: '1Mi' } }, ...more },
    });
  const here = { key: 'kubernetes.io/hostname', operator: 'In', values: [node] };
  for (const kind of ['host', 'local']) {
    const path = join(dir, 'claims', kind);
    await mkdir(path, { recursive: true });
    const source =
      kind === 'host'
        ? { hostPath: { path } }
        : { local: { path }, nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [here] }] } } };
    await api.post('/api/v1/persistentvolumes', {
      ...object('PersistentVolume', `${namespace}-${kind}`),
      spec: { ...own, capacity: { storage: '1Mi' }, claimRef: { namespace, name: kind }, ...source },
    });
    await claim(kind, { volumeName: `${namespace}-${kind}` });
  }
  await claim('pending', {});
  const phaseOf = async (name: string) => {
    const path = `/api/v1/namespaces/${namespace}/persistentvolumeclaims/${name}`;
    return (await api.find<{ status?: { phase?: string } }>(path))?.status?.phase;
  };
  // Pods that came before they are bound would tell of that, on one side or the other.
  for (const kind of ['host', 'local'])
    await waitFor(`the claim ${kind} to be bound`, async () => ((await phaseOf(kind)) === 'Bound' ? true : undefined));
}

function object(kind: string, name: string): object {
  return { apiVersion: 'v1', kind, metadata: { name } };
}
