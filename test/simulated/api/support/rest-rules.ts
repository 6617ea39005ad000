import { mergePatch, strategicMergePatch } from './patches.ts';
import { isJson } from './stored-object.ts';
import type { ObjectStore } from './object-store.ts';
import type { Json, StoredObject } from './stored-object.ts';

/** One request, taken apart. */
export interface FakeRequest {
  method: string;
  /** `list`, `watch`, `get`, `create`, `update`, `patch`, `delete`, or '' for a path that is no resource. */
  verb: string;
  path: string;
  group: string;
  version: string;
  resource: string;
  namespace?: string;
  name?: string;
  subresource?: string;
  query: Record<string, string>;
  headers: Record<string, string>;
  /** CN of the client certificate, '' without one. */
  clientName: string;
  httpVersion: string;
  body: unknown;
  /** HTTP status of the answer, set when it is known; 0 for a hang or a dropped connection. */
  code: number;
  at: number;
}

/** An answer: HTTP status and JSON body. */
export interface FakeAnswer {
  code: number;
  body: unknown;
  headers?: Record<string, string>;
}

/** A `metav1.Status` of failure. */
export function failure(code: number, reason: string, message: string, retryAfterSeconds?: number): FakeAnswer {
  const details = retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } };
  return {
    code,
    body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code, ...details },
    headers: retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) },
  };
}

/** Name of a collection in the store. */
export function collectionOf(on: { group: string; version: string; resource: string }): string {
  return `${on.group}/${on.version}/${on.resource}`;
}

/** Answers everything but list and watch. */
export function answer(store: ObjectStore, request: FakeRequest): FakeAnswer {
  const collection = collectionOf(request);
  if (request.verb === 'create') return create(store, collection, request);
  const name = request.name ?? '';
  const found = store.get(collection, request.namespace, name);
  if (found === undefined) return failure(404, 'NotFound', `${request.resource} "${name}" not found`);
  switch (request.verb) {
    case 'get':
      return { code: 200, body: found };
    case 'update':
      return replace(store, collection, request, found, request.body as StoredObject);
    case 'patch': {
      const strategic = request.headers['content-type']?.startsWith('application/strategic-merge-patch');
      const patched = (strategic ? strategicMergePatch : mergePatch)(found, request.body) as StoredObject;
      const stale = precondition(found, isJson(request.body) ? request.body.metadata : undefined);
      if (stale !== undefined) return failure(409, 'Conflict', stale);
      return replace(store, collection, request, found, patched);
    }
    case 'delete':
      return remove(store, collection, request, found);
    default:
      return failure(405, 'MethodNotAllowed', `the fake API server does not know ${request.method}`);
  }
}

function create(store: ObjectStore, collection: string, request: FakeRequest): FakeAnswer {
  const body = request.body as StoredObject;
  if (request.subresource !== undefined) {
    return failure(404, 'NotFound', `no answer for subresource ${request.subresource}: give the fake server a reply`);
  }
  if (!isJson(body) || !isJson(body.metadata)) return failure(400, 'BadRequest', 'metadata is missing');
  const generated = (body.metadata as { generateName?: string }).generateName;
  const name = body.metadata.name ?? (generated === undefined ? '' : `${generated}${String(store.version)}`);
  if (name === '') return failure(422, 'Invalid', 'metadata.name: Required value');
  if (store.get(collection, request.namespace, name) !== undefined) {
    return failure(409, 'AlreadyExists', `${request.resource} "${name}" already exists`);
  }
  const metadata = { ...body.metadata, name, uid: undefined, namespace: request.namespace };
  const status = request.resource === 'pods' ? { status: { phase: 'Pending' } } : {};
  return { code: 201, body: store.put(collection, { ...body, ...status, metadata }) };
}

function replace(
  store: ObjectStore,
  collection: string,
  request: FakeRequest,
  found: StoredObject,
  wanted: StoredObject,
): FakeAnswer {
  if (request.verb === 'update') {
    const stale = precondition(found, wanted.metadata);
    if (stale !== undefined) return failure(409, 'Conflict', stale);
  }
  let next: StoredObject;
  if (request.subresource === 'status') next = { ...found, status: wanted.status };
  else if (request.subresource !== undefined) return failure(404, 'NotFound', `subresource ${request.subresource}`);
  else next = hasStatusSubresource(request.resource) ? { ...wanted, status: found.status } : wanted;
  // A node's labels and annotations can be written with its status.
  const keeps = request.subresource === 'status' && request.resource !== 'nodes';
  next.metadata = { ...(keeps ? found.metadata : wanted.metadata) };
  if (found.metadata.deletionTimestamp !== undefined) {
    next.metadata.deletionTimestamp = found.metadata.deletionTimestamp;
    if ((found.metadata.finalizers ?? []).length > 0 && (next.metadata.finalizers ?? []).length === 0) {
      return { code: 200, body: store.remove(collection, found.metadata.namespace, found.metadata.name) };
    }
  }
  // The real server writes nothing, and tells no watch, when nothing changes.
  if (sameContent(withoutVersion(next), withoutVersion(found))) return { code: 200, body: found };
  return { code: 200, body: store.put(collection, next) };
}

function remove(store: ObjectStore, collection: string, request: FakeRequest, found: StoredObject): FakeAnswer {
  const options: Json = isJson(request.body) ? request.body : {};
  const stale = precondition(found, options.preconditions);
  if (stale !== undefined) return failure(409, 'Conflict', stale);
  const { name, namespace } = found.metadata;
  const given = options.gracePeriodSeconds ?? request.query.gracePeriodSeconds;
  const grace = Number(given ?? found.spec?.terminationGracePeriodSeconds ?? 30);
  // A pod with a node stays until its agent deletes it with grace 0, as in the real server.
  const waits = request.resource === 'pods' && found.spec?.nodeName !== undefined && grace > 0;
  if (waits || (found.metadata.finalizers ?? []).length > 0) {
    const deletionTimestamp =
      found.metadata.deletionTimestamp ?? new Date(Date.now() + grace * 1000).toISOString().replace(/\.\d+/, '');
    const metadata = { ...found.metadata, deletionTimestamp, deletionGracePeriodSeconds: grace };
    return { code: 200, body: store.put(collection, { ...found, metadata }) };
  }
  return { code: 200, body: store.remove(collection, namespace, name) };
}

function hasStatusSubresource(resource: string): boolean {
  return resource === 'pods' || resource === 'nodes';
}

function withoutVersion(object: StoredObject): StoredObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: undefined } };
}

/** Most of an object is the same object before and after: only what is not is compared as text. */
function sameContent(a: StoredObject, b: StoredObject): boolean {
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => a[key] === b[key] || JSON.stringify(a[key]) === JSON.stringify(b[key]));
}

function precondition(found: StoredObject, wanted: unknown): string | undefined {
  if (!isJson(wanted)) return undefined;
  for (const field of ['uid', 'resourceVersion'] as const) {
    const value = wanted[field];
    if (typeof value === 'string' && value !== '' && value !== found.metadata[field]) {
      return `Precondition failed: ${field} in precondition: ${value}, ${field} in object meta: ${found.metadata[field] ?? ''}`;
    }
  }
  return undefined;
}
