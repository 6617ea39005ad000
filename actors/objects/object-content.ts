import { isUtf8 } from 'node:buffer';
import type { ObjectContent } from '../shard/ask.ts';

/** Kinds of objects that pods show in files and variables. */
export type ObjectKind = 'configMap' | 'secret';

/** Collection of a kind, as in the API's paths. */
export const RESOURCE_OF: Readonly<Record<ObjectKind, string>> = { configMap: 'configmaps', secret: 'secrets' };

/** What is kept of an object: never the whole of it. */
export interface KnownObject {
  uid: string;
  resourceVersion: string;
  immutable: boolean;
  content: ObjectContent;
}

/** What of a `v1.ConfigMap` or `v1.Secret` is read. */
interface RawObject {
  metadata?: { name?: string; uid?: string; resourceVersion?: string };
  data?: Record<string, string>;
  binaryData?: Record<string, string>;
  type?: string;
  immutable?: boolean;
}

/** Takes from an API object what pods use of it; a secret's values become text where they are UTF-8. */
export function knownObject(kind: ObjectKind, raw: unknown): KnownObject {
  const object = (raw ?? {}) as RawObject;
  return {
    uid: object.metadata?.uid ?? '',
    resourceVersion: object.metadata?.resourceVersion ?? '',
    immutable: object.immutable === true,
    content: kind === 'secret' ? secretContent(object) : configMapContent(object),
  };
}

/** `metadata.name` of an object in a list or a watch event. */
export function nameOf(raw: unknown): string {
  return ((raw ?? {}) as RawObject).metadata?.name ?? '';
}

/** True when a pod would see a difference. */
export function sameContent(a: ObjectContent | null, b: ObjectContent | null): boolean {
  if (a === null || b === null) return a === b;
  return a.type === b.type && sameValues(a.data, b.data) && sameValues(a.binaryData, b.binaryData);
}

function configMapContent({ data, binaryData }: RawObject): ObjectContent {
  return { data: data ?? {}, binaryData: binaryData ?? {}, type: '' };
}

function secretContent({ metadata, data, type }: RawObject): ObjectContent {
  const content: ObjectContent = { data: {}, binaryData: {}, type: type ?? '', uid: metadata?.uid ?? '' };
  for (const [key, value] of Object.entries(data ?? {})) {
    const bytes = Buffer.from(value, 'base64');
    if (isUtf8(bytes)) content.data[key] = bytes.toString('utf8');
    else content.binaryData[key] = value;
  }
  return content;
}

function sameValues(a: Record<string, string>, b: Record<string, string>): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}
