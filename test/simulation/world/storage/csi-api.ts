import type { ApiClient } from '../../../../actors/cluster/api/api-client.ts';
import type { CsiApi } from '../../../../actors/resources/csi/csi-api.ts';
import type { StorageObjects as AgentsObjects } from '../../../../actors/resources/volumes/resolve-volume.ts';
import type { NodeDriver } from '../../../../machines/csi/node-drivers.ts';
import { NODE_NAME } from '../node-settings.ts';
import type { StorageObjects } from './storage-objects.ts';

const CORE = { group: '', version: 'v1' };
const STORAGE = { group: 'storage.k8s.io', version: 'v1' };
const CSI_NODES = { ...STORAGE, resource: 'csinodes' };
const NODES = { ...CORE, resource: 'nodes' };

/** What CSI has of the API server, by requests that fail, hang and are lost as those for pods; CSIDrivers are in a cache. */
export function simulatedCsiApi(api: ApiClient, objects: StorageObjects): CsiApi {
  return {
    driver: (name) => Promise.resolve(objects.driver(name)),
    driversChange: () => undefined,
    attachment: (name) => api.request({ method: 'GET', on: { ...STORAGE, resource: 'volumeattachments' }, name }),
    secret: () => Promise.resolve({}),
    token: () => Promise.reject(new Error('no driver of the simulation wants tokens')),
    nodeMarks: async () => {
      const { metadata } = await api.request<{ metadata: { labels: object; annotations: object } }>({
        ...{ method: 'GET', on: NODES, name: NODE_NAME },
      });
      return metadata as Awaited<ReturnType<CsiApi['nodeMarks']>>;
    },
    patchMarks: async (metadata) => {
      await api.request({ method: 'PATCH', on: NODES, name: NODE_NAME, subresource: 'status', body: { metadata } });
    },
    changeDrivers: async (change) => {
      const on = { method: 'GET', on: CSI_NODES, name: NODE_NAME } as const;
      const { drivers, version } = await api.request<{ drivers: NodeDriver[]; version: number }>(on);
      const changed = change(drivers);
      if (changed !== null)
        await api.request({ method: 'PUT', on: CSI_NODES, name: NODE_NAME, body: { drivers: changed, version } });
    },
  };
}

/** Claims and volumes, read each time. */
export function simulatedStorage(api: ApiClient): AgentsObjects {
  const claims = (namespace: string) => ({ ...CORE, resource: 'persistentvolumeclaims', namespace });
  return {
    claim: (namespace, name) => api.request({ method: 'GET', on: claims(namespace), name }),
    volume: (name) => api.request({ method: 'GET', on: { ...CORE, resource: 'persistentvolumes' }, name }),
    patchClaim: ({ metadata: { namespace = '', name = '' } = {} }, body) =>
      api.request({ method: 'PATCH', on: claims(namespace), name, subresource: 'status', body }),
  };
}
