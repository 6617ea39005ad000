import type { Logger } from 'pino';
import { Reflector } from '../../cluster/api/reflector.ts';
import type { Reflected } from '../../cluster/api/reflector.ts';
import type { ApiClient, ApiResource } from '../../cluster/api/api-client.ts';
import { shareParts } from './share-parts.ts';

/** A line of a watch, as the API server sends it. */
export interface WatchLine {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  object: Reflected & { kind?: string };
}

/** What a {@link SharedCollection} is made from. */
export interface SharedCollectionOptions {
  api: ApiClient;
  on: ApiResource;
  /** Of the one watch that all share. */
  fieldSelector?: string;
  log: Logger;
  /** Which readers an object is for: a reader gets the objects of its part. */
  partOf: (object: Reflected) => string;
  /** What a new version of an object has in common with something that is kept anyway: equal parts are kept once. */
  like?: (object: Reflected) => unknown;
}

type Listener = (line: WatchLine) => void;

let made = 0;

/**
 * One list and watch of the API server for many readers, split into parts: all pods by their node, say. Who reads a part is told
 * of its changes in order, from the moment of its list on.
 */
export class SharedCollection {
  /** No other collection of the process has it. */
  readonly id = ++made;
  private readonly options: SharedCollectionOptions;
  private readonly reflector: Reflector<Reflected>;
  private readonly parts = new Map<string, Map<string, Reflected>>();
  private readonly partOfKey = new Map<string, string>();
  private readonly listeners = new Map<string, Set<Listener>>();
  /** Readers that wait for the first list. */
  private waiting = 0;

  constructor(options: SharedCollectionOptions) {
    this.options = options;
    const { api, on, fieldSelector, log } = options;
    this.reflector = new Reflector<Reflected>({
      ...{ api, on, log },
      ...(fieldSelector !== undefined && { fieldSelector }),
      onSync: (objects) => this.synced(objects),
      onEvent: ({ type, object }) => (type === 'DELETED' ? this.gone(object) : this.there(object)),
    });
  }

  /** Begins to watch; once however often it is called. */
  start(): void {
    this.reflector.start();
  }

  stop(): void {
    this.reflector.stop();
  }

  /** Resolves when there has been a list, and settles as `gone` does before that; nobody ends the watch meanwhile. */
  async whenSynced(gone: Promise<unknown>): Promise<void> {
    this.waiting++;
    try {
      await Promise.race([this.reflector.whenSynced(), gone]);
    } finally {
      this.waiting--;
    }
  }

  /** Nobody reads it, nor waits for that. */
  get idle(): boolean {
    return this.listeners.size === 0 && this.waiting === 0;
  }

  /** The objects of a part, now. */
  list(part: string): Reflected[] {
    return [...(this.parts.get(part)?.values() ?? [])];
  }

  /** Tells of changes of a part from now on; gives back how to end that. */
  listen(part: string, listener: Listener): () => void {
    let set = this.listeners.get(part);
    if (set === undefined) this.listeners.set(part, (set = new Set()));
    set.add(listener);
    return () => {
      set.delete(listener);
      if (set.size === 0 && this.listeners.get(part) === set) this.listeners.delete(part);
    };
  }

  private synced(objects: readonly Reflected[]): void {
    const present = new Set(objects.map(keyOf));
    for (const [key, part] of this.partOfKey) {
      const old = this.parts.get(part)?.get(key);
      if (!present.has(key) && old !== undefined) this.gone(old);
    }
    for (const object of objects) {
      const key = keyOf(object);
      const known = this.parts.get(this.partOfKey.get(key) ?? '')?.get(key);
      if (known !== object) this.there(object);
    }
  }

  private there(object: Reflected): void {
    const key = keyOf(object);
    const part = this.options.partOf(object);
    const before = this.partOfKey.get(key);
    // Same name, another object: whoever has the first must hear of its end.
    if (before !== undefined && before !== part) this.remove(before, key);
    let objects = this.parts.get(part);
    if (objects === undefined) this.parts.set(part, (objects = new Map()));
    const known = objects.get(key);
    if (known !== undefined && known.metadata?.uid !== object.metadata?.uid)
      this.tell(part, { type: 'DELETED', object: known });
    const type = known?.metadata?.uid === object.metadata?.uid ? 'MODIFIED' : 'ADDED';
    // It has just come from the server, and nobody has seen it.
    if (type === 'MODIFIED') shareParts(object, known);
    shareParts(object, this.options.like?.(object));
    objects.set(key, object);
    this.partOfKey.set(key, part);
    this.tell(part, { type, object });
  }

  private gone(object: Reflected): void {
    const key = keyOf(object);
    const part = this.partOfKey.get(key);
    if (part !== undefined) this.remove(part, key, object);
  }

  private remove(part: string, key: string, last?: Reflected): void {
    const objects = this.parts.get(part);
    const known = objects?.get(key);
    if (objects === undefined || known === undefined) return;
    objects.delete(key);
    if (objects.size === 0) this.parts.delete(part);
    this.partOfKey.delete(key);
    this.tell(part, { type: 'DELETED', object: last ?? known });
  }

  private tell(part: string, line: WatchLine): void {
    for (const listener of this.listeners.get(part) ?? []) listener(line);
  }
}

function keyOf({ metadata }: Reflected): string {
  return `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`;
}
