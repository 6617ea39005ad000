import type { ApiRequest } from './api-client.ts';

/** Path and query of a request, after the path of the server's address. */
export function requestPath(base: string, request: ApiRequest): string {
  const { group, version, resource, namespace } = request.on;
  let path = `${base}${group === '' ? '/api' : `/apis/${group}`}/${version}`;
  if (namespace !== undefined && namespace !== '') path += `/namespaces/${encodeURIComponent(namespace)}`;
  path += `/${resource}`;
  if (request.name !== undefined) path += `/${encodeURIComponent(request.name)}`;
  if (request.subresource !== undefined) path += `/${request.subresource}`;
  if (request.query !== undefined) {
    const query = new URLSearchParams(request.query).toString();
    if (query !== '') path += `?${query}`;
  }
  return path;
}

/** Headers of a request; `authorization` undefined when a certificate or nothing proves who we are. */
export function requestHeaders(
  request: ApiRequest,
  userAgent: string,
  authorization: string | undefined,
): Record<string, string> {
  const headers: Record<string, string> = { accept: 'application/json', 'user-agent': userAgent };
  if (authorization !== undefined) headers.authorization = authorization;
  if (request.body !== undefined) {
    const patch = request.method === 'PATCH' ? 'application/strategic-merge-patch+json' : 'application/json';
    headers['content-type'] = request.contentType ?? patch;
  }
  return headers;
}
