import type { FakeRequest } from './rest-rules.ts';

type Parts = Pick<
  FakeRequest,
  'verb' | 'path' | 'group' | 'version' | 'resource' | 'namespace' | 'name' | 'subresource' | 'query'
>;

const verbs: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };

/** Takes a request's method and URL apart as the API server does. */
export function parseRequest(method: string, url: string): Parts {
  const at = new URL(url, 'http://fake');
  const query = Object.fromEntries(at.searchParams);
  const parts = at.pathname.split('/').slice(1).map(decodeURIComponent);
  let group = '';
  const root = parts.shift();
  if (root === 'apis') group = parts.shift() ?? '';
  const version = parts.shift() ?? '';
  const none = { verb: '', path: at.pathname, group: '', version: '', resource: '', query };
  if ((root !== 'api' && root !== 'apis') || version === '') return none;
  let namespace: string | undefined;
  if (parts[0] === 'namespaces' && parts.length > 2) {
    namespace = parts[1];
    parts.splice(0, 2);
  }
  const [resource = '', name, subresource] = parts;
  if (resource === '') return none;
  const watching = query.watch === 'true' || query.watch === '1';
  const reading = name !== undefined ? 'get' : watching ? 'watch' : 'list';
  const verb = method === 'GET' ? reading : (verbs[method] ?? '');
  return { verb, path: at.pathname, group, version, resource, namespace, name, subresource, query };
}
