import type { ApiRequest } from '../../../actors/cluster/api/api-client.ts';
import type { FakeRequest } from '../../simulated/api/support/rest-rules.ts';

/** A request of the agent's client about one object, as the fake API server's rules take it. */
export function fakeRequest({ method, on, name, subresource, contentType, body }: ApiRequest): FakeRequest {
  return {
    ...{ path: '', query: {}, clientName: '', httpVersion: '', code: 0, at: 0 },
    ...{ method, name, subresource, body },
    ...{ group: on.group, version: on.version, resource: on.resource, namespace: on.namespace },
    verb: { GET: 'get', POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' }[method],
    headers: { 'content-type': contentType ?? 'application/strategic-merge-patch+json' },
  };
}
