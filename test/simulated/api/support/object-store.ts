import { randomUUID } from 'node:crypto';
import { matchesFields, matchesLabels } from './selectors.ts';
import type { StoredObject } from './stored-object.ts';

/** One change, as a watch tells it. `before` decides whether an object entered or left a selector. */
export interface StoredChange {
  version: number;
  collection: string;
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  object: StoredObject;
  before?: StoredObject;
}

/** What a list or watch selects. */
export interface Selection {
  collection: string;
  namespace?: string;
  fieldSelector?: string;
  labelSelector?: string;
}

/** True when the object belongs to the selection (the collection is not looked at). */
export function selects(selection: Selection, object: StoredObject): boolean {
  return (
    (selection.namespace === undefined || object.metadata.namespace === selection.namespace) &&
    matchesFields(selection.fieldSelector ?? '', object) &&
    matchesLabels(selection.labelSelector ?? '', object)
  );
}

/** Objects by collection (`group/version/resource`) with one counter of resource versions and a log of changes. */
export class ObjectStore {
  version = 100;
  /** Changes up to this version are forgotten: a watch from before gets 410. */
  compacted = 0;
  private readonly collections = new Map<string, Map<string, StoredObject>>();
  private readonly changes: StoredChange[] = [];
  private readonly listeners = new Set<(change: StoredChange) => void>();

  get(collection: string, namespace: string | undefined, name: string): StoredObject | undefined {
    return this.collections.get(collection)?.get(keyOf(namespace, name));
  }

  list(selection: Selection): StoredObject[] {
    const all = [...(this.collections.get(selection.collection)?.values() ?? [])];
    return all.filter((each) => selects(selection, each)).toSorted((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
  }

  /** Creates or replaces, gives uid, creationTimestamp, resourceVersion, and tells the watches. */
  put(collection: string, given: StoredObject): StoredObject {
    const key = keyOf(given.metadata.namespace, given.metadata.name);
    const objects = this.collections.get(collection) ?? new Map<string, StoredObject>();
    this.collections.set(collection, objects);
    const before = objects.get(key);
    const object: StoredObject = {
      ...given,
      metadata: {
        ...given.metadata,
        uid: before?.metadata.uid ?? given.metadata.uid ?? randomUUID(),
        creationTimestamp:
          before?.metadata.creationTimestamp ??
          given.metadata.creationTimestamp ??
          new Date().toISOString().replace(/\.\d+/, ''),
        generation: generationOf(before, given),
        resourceVersion: String(++this.version),
      },
    };
    objects.set(key, object);
    this.tell({ version: this.version, collection, type: before ? 'MODIFIED' : 'ADDED', object, before });
    return object;
  }

  remove(collection: string, namespace: string | undefined, name: string): StoredObject | undefined {
    const before = this.get(collection, namespace, name);
    if (before === undefined) return undefined;
    this.collections.get(collection)?.delete(keyOf(namespace, name));
    const object = { ...before, metadata: { ...before.metadata, resourceVersion: String(++this.version) } };
    this.tell({ version: this.version, collection, type: 'DELETED', object, before });
    return object;
  }

  /** Changes after a version, oldest first. */
  since(version: number): StoredChange[] {
    return this.changes.filter((change) => change.version > version);
  }

  listen(listener: (change: StoredChange) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private tell(change: StoredChange): void {
    this.changes.push(change);
    for (const listener of [...this.listeners]) listener(change);
  }
}

function keyOf(namespace: string | undefined, name: string): string {
  return `${namespace ?? ''}/${name}`;
}

function sortKey(object: StoredObject): string {
  return keyOf(object.metadata.namespace, object.metadata.name);
}

function generationOf(before: StoredObject | undefined, given: StoredObject): number {
  const last = before?.metadata.generation;
  if (last === undefined) return given.metadata.generation ?? 1;
  const same = before?.spec === given.spec || JSON.stringify(before?.spec) === JSON.stringify(given.spec);
  return same ? last : last + 1;
}
