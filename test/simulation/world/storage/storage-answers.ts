import type { ApiRequest } from '../../../../actors/cluster/api/api-client.ts';
import type { StorageObjects } from './storage-objects.ts';

/** What the API server says to requests about storage and the node's object; null for those of other things. */
export function answerStorage(objects: StorageObjects, request: ApiRequest): { code: number; body: unknown } | null {
  const { method, on, name = '', subresource, body } = request;
  const found = (object: unknown): { code: number; body: unknown } =>
    object === null || object === undefined
      ? { code: 404, body: { reason: 'NotFound', message: `${on.resource} "${name}" not found` } }
      : { code: 200, body: structuredClone(object) };
  switch (on.resource) {
    case 'persistentvolumeclaims':
      if (method === 'PATCH') objects.grownNow(name);
      return found(objects.claim(name));
    case 'persistentvolumes':
      return found(objects.volume(name));
    case 'volumeattachments':
      return found(objects.attachments.get(name));
    case 'csidrivers':
      return found(objects.driver(name));
    case 'csinodes':
      if (method === 'PUT') {
        const { drivers, version } = body as StorageObjects['csiNode'];
        if (version !== objects.csiNode.version)
          return { code: 409, body: { reason: 'Conflict', message: 'the object has been modified' } };
        objects.csiNode = { drivers, version: version + 1 };
      }
      return found(objects.csiNode);
    case 'nodes': {
      const { volumesInUse } = (body as { status?: { volumesInUse?: string[] } } | undefined)?.status ?? {};
      if (method === 'PATCH' && volumesInUse !== undefined) objects.nodeStatus.volumesInUse = [...volumesInUse];
      else if (method === 'PATCH' && subresource === 'status') merge(objects, body as Marks);
      return found({ metadata: { name, uid: 'node-uid', ...objects.marks }, status: objects.nodeStatus });
    }
    default:
      return null;
  }
}

interface Marks {
  metadata?: { labels?: Record<string, string>; annotations?: Record<string, string | null> };
}

function merge(objects: StorageObjects, { metadata = {} }: Marks): void {
  const { labels, annotations } = objects.marks;
  const merged = { ...annotations, ...metadata.annotations };
  for (const [key, value] of Object.entries(merged)) if (value === null) delete merged[key];
  objects.marks = { labels: { ...labels, ...metadata.labels }, annotations: merged };
}
