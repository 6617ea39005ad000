import { ApiStatusError } from './api-client.ts';
import type { ApiClient, ApiRequest } from './api-client.ts';

/** Objects of a chunk when a list is read from etcd, as in client-go. */
const chunk = 500;

/** A whole list. */
export interface Listed<T> {
  items: T[];
  resourceVersion: string;
}

interface ListBody<T> {
  metadata?: { resourceVersion?: string; continue?: string };
  items?: T[] | null;
}

/** Reads a list from the server's cache (`resourceVersion=0`), which is cheap and may be a little old. */
export async function listFromCache<T>(api: ApiClient, request: ApiRequest): Promise<Listed<T>> {
  const body = await api.request<ListBody<T>>({ ...request, query: { ...request.query, resourceVersion: '0' } });
  return { items: itemsOf(body), resourceVersion: body.metadata?.resourceVersion ?? '' };
}

/**
 * Reads the newest list in chunks. When the chunks expire half-way (410), the whole is asked for at once, which
 * cannot expire.
 */
export async function listNewest<T>(api: ApiClient, request: ApiRequest): Promise<Listed<T>> {
  const items: T[] = [];
  let next: string | undefined;
  for (;;) {
    const query: Record<string, string> = { ...request.query, limit: String(chunk) };
    if (next !== undefined) query.continue = next;
    let body: ListBody<T>;
    try {
      body = await api.request<ListBody<T>>({ ...request, query });
    } catch (error) {
      if (next === undefined || !isExpired(error)) throw error;
      body = await api.request<ListBody<T>>(request);
      items.length = 0;
    }
    for (const item of itemsOf(body)) items.push(item);
    const before = next;
    next = body.metadata?.continue;
    if (next !== undefined && next !== '' && next === before) throw notList('the same chunk again and again');
    if (next === undefined || next === '') return { items, resourceVersion: body.metadata?.resourceVersion ?? '' };
  }
}

function itemsOf<T>(body: ListBody<T> | undefined): T[] {
  const items: unknown = body?.items ?? [];
  if (!Array.isArray(items)) throw notList('a list without items');
  return items as T[];
}

function notList(what: string): ApiStatusError {
  return new ApiStatusError(0, 'Unreachable', `the server sent ${what}`);
}

/** 410: the server no longer knows the resource version. */
export function isExpired(error: unknown): boolean {
  if (!(error instanceof ApiStatusError)) return false;
  return error.status === 410 || error.reason === 'Expired' || error.reason === 'Gone';
}

/** The server is behind the resource version (etcd was restored, or it only just started); a new list is needed. */
export function isTooNew(error: unknown): boolean {
  return (
    error instanceof ApiStatusError && error.status === 504 && error.message.includes('Too large resource version')
  );
}
