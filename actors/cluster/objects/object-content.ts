import { isUtf8 } from 'node:buffer';
import { textOf } from '../../../machines/values/json-object.ts';
import type { ObjectContent } from '../../../machines/protocol/ask.ts';

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

/**
 * Takes from an API object what pods use of it; a secret's values become text where they are UTF-8. Throws, without any
 * of the content, when it is no such object.
 */
export function knownObject(kind: ObjectKind, raw: unknown): KnownObject {
  const object = (raw ?? {}) as RawObject;
  return {
    uid: textOf(object.metadata?.uid),
    resourceVersion: textOf(object.metadata?.resourceVersion),
    immutable: object.immutable === true,
    content: kind === 'secret' ? secretContent(object) : configMapContent(object),
  };
}

/** A map of texts, as Go would decode it. */
function mapOf(field: string, raw: unknown): Record<string, string> {
  const map = raw ?? {};
  const good =
    typeof map === 'object' && !Array.isArray(map) && Object.values(map).every((value) => typeof value === 'string');
  if (good) return map as Record<string, string>;
  throw new TypeError(`the API server sent an object whose ${field} is no map of texts`);
}

/** `metadata.name` of an object in a list or a watch event. */
export function nameOf(raw: unknown): string {
  return textOf(((raw ?? {}) as RawObject).metadata?.name);
}

/** True when a pod would see a difference. */
export function sameContent(a: ObjectContent | null, b: ObjectContent | null): boolean {
  if (a === null || b === null) return a === b;
  return a.type === b.type && sameValues(a.data, b.data) && sameValues(a.binaryData, b.binaryData);
}

function configMapContent({ data, binaryData }: RawObject): ObjectContent {
  return { data: mapOf('data', data), binaryData: mapOf('binaryData', binaryData), type: '' };
}

function secretContent({ metadata, data, type }: RawObject): ObjectContent {
  // A key may be called `__proto__`, which an assignment would lose.
  const texts: [string, string][] = [];
  const binary: [string, string][] = [];
  for (const [key, value] of Object.entries(mapOf('data', data))) {
    const bytes = Buffer.from(value, 'base64');
    if (isUtf8(bytes)) texts.push([key, bytes.toString('utf8')]);
    else binary.push([key, value]);
  }
  const [values, binaryData] = [Object.fromEntries(texts), Object.fromEntries(binary)];
  return { data: values, binaryData, type: textOf(type), uid: textOf(metadata?.uid) };
}

function sameValues(a: Record<string, string>, b: Record<string, string>): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && a[key] === b[key]);
}
