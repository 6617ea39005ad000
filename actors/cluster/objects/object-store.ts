import type { Logger } from 'pino';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { podReferences, volumeReferences } from '../../../machines/volumes/pod-references.ts';
import type { References } from '../../../machines/volumes/pod-references.ts';
import type { ApiClient } from '../api/api-client.ts';
import type { ObjectContent } from '../../../machines/protocol/ask.ts';
import type { ObjectKind } from './object-content.ts';
import { codedError } from './object-errors.ts';
import type { ObjectRef, ObjectSource } from './object-source.ts';
import { PolledObject } from './polled-object.ts';
import { WatchedObject } from './watched-object.ts';

/** `configMapAndSecretChangeDetectionStrategy`. */
export type ChangeDetection = 'Watch' | 'Cache' | 'Get';

/** Settings of {@link ObjectStore}. */
export interface ObjectStoreSettings {
  api: ApiClient;
  strategy: ChangeDetection;
  log: Logger;
  /** A pod that shows the object sees something else now; see {@link ObjectStore.podsShowing}. */
  onChange: (kind: ObjectKind, namespace: string, name: string) => void;
  /** Seconds of the node's annotation `node.alpha.kubernetes.io/ttl`, null without it. Read by strategy `Cache`. */
  nodeTtlSeconds?: () => number | null;
  /** Longest wait for a first answer, 10 s by default. */
  getTimeoutMs?: number;
  /** Time between two looks at what is idle or to be polled, 60 s by default (kubelet's `syncFrequency`). */
  tickMs?: number;
  /** How long a configMap is kept after its last pod is gone, 60 s by default. */
  lingerMs?: number;
  /** A clock that nobody can set, ms; the machine's, when it is not given. */
  steady?: () => number;
}

interface Entry {
  ref: ObjectRef;
  source: ObjectSource;
  /** UIDs of pods that name the object, and of those of which a volume shows it. */
  pods: Set<string>;
  shownBy: Set<string>;
  linger: NodeJS.Timeout | null;
}

const DEFAULT_TTL_MS = 60_000;

/**
 * The configMaps and secrets of the registered pods. Each object is kept once, however many pods name it, and as long
 * as one does. A configMap stays a minute longer: the next pod of its namespace names `kube-root-ca.crt`, too. A
 * secret goes with its last pod.
 */
export class ObjectStore {
  private readonly settings: ObjectStoreSettings;
  private readonly entries = new Map<string, Entry>();
  private readonly pods = new Map<string, string[]>();
  private readonly ticker: NodeJS.Timeout;
  private readonly steady: () => number;

  constructor(settings: ObjectStoreSettings) {
    this.settings = settings;
    this.steady = settings.steady ?? (() => performance.now());
    this.ticker = setInterval(() => {
      this.tick();
    }, settings.tickMs ?? 60_000);
    this.ticker.unref();
  }

  /** A pod came or was updated: what it names is kept from now on. Strategy Watch begins to fetch at once. */
  register(pod: Pod): void {
    const uid = pod.metadata?.uid ?? '';
    const namespace = pod.metadata?.namespace ?? '';
    const wanted = refsOf(namespace, podReferences(pod));
    const shown = refsOf(namespace, volumeReferences(pod));
    const before = this.pods.get(uid) ?? [];
    this.pods.set(uid, [...wanted.keys()]);
    for (const [key, ref] of wanted) {
      const entry = this.entries.get(key) ?? this.add(key, ref);
      if (!entry.pods.has(uid)) {
        entry.pods.add(uid);
        entry.source.referenced();
      }
      if (shown.has(key)) entry.shownBy.add(uid);
      else entry.shownBy.delete(uid);
      if (entry.linger !== null) clearTimeout(entry.linger);
      entry.linger = null;
    }
    for (const key of before) if (!wanted.has(key)) this.release(key, uid);
  }

  /** The pod is gone, or its containers have ended for good. */
  unregister(podUid: string): void {
    for (const key of this.pods.get(podUid) ?? []) this.release(key, podUid);
    this.pods.delete(podUid);
  }

  /** Content of an object that a registered pod names, null when there is none. Rejects with an error with a `code`. */
  async get(kind: ObjectKind, namespace: string, name: string): Promise<ObjectContent | null> {
    const entry = this.entries.get(keyOf({ kind, namespace, name }));
    if (entry === undefined) throw codedError('NotRegistered', `object "${namespace}"/"${name}" not registered`);
    return entry.source.get();
  }

  /** UIDs of the pods that show the object in a volume. */
  podsShowing(kind: ObjectKind, namespace: string, name: string): string[] {
    return [...(this.entries.get(keyOf({ kind, namespace, name }))?.shownBy ?? [])];
  }

  /**
   * UIDs of the pods that name the object, in a volume or an environment: files change, or a container that waits for
   * the object can be made.
   */
  podsNaming(kind: ObjectKind, namespace: string, name: string): string[] {
    return [...(this.entries.get(keyOf({ kind, namespace, name }))?.pods ?? [])];
  }

  /** Ends all watches and timers. */
  close(): void {
    clearInterval(this.ticker);
    for (const key of [...this.entries.keys()]) this.drop(key);
    this.pods.clear();
  }

  private add(key: string, ref: ObjectRef): Entry {
    const { api, log, strategy, onChange, getTimeoutMs = 10_000, nodeTtlSeconds } = this.settings;
    const base = {
      api,
      ref,
      log,
      steady: this.steady,
      getTimeoutMs,
      onChange: () => {
        onChange(ref.kind, ref.namespace, ref.name);
      },
    };
    const ttlMs = (): number => {
      const seconds = strategy === 'Get' ? 0 : nodeTtlSeconds?.();
      return seconds == null ? DEFAULT_TTL_MS : seconds * 1000;
    };
    const source = strategy === 'Watch' ? new WatchedObject(base) : new PolledObject({ ...base, ttlMs });
    const entry: Entry = { ref, source, pods: new Set(), shownBy: new Set(), linger: null };
    this.entries.set(key, entry);
    return entry;
  }

  private release(key: string, uid: string): void {
    const entry = this.entries.get(key);
    if (entry === undefined) return;
    entry.pods.delete(uid);
    entry.shownBy.delete(uid);
    if (entry.pods.size > 0 || entry.linger !== null) return;
    const { strategy, lingerMs = 60_000 } = this.settings;
    if (strategy !== 'Watch' || entry.ref.kind === 'secret' || lingerMs <= 0 || !entry.source.healthy) {
      this.drop(key);
      return;
    }
    entry.linger = setTimeout(() => {
      this.drop(key);
    }, lingerMs);
    entry.linger.unref();
  }

  private drop(key: string): void {
    const entry = this.entries.get(key);
    if (entry === undefined) return;
    if (entry.linger !== null) clearTimeout(entry.linger);
    entry.source.stop();
    this.entries.delete(key);
  }

  private tick(): void {
    for (const [key, { source, pods, shownBy }] of this.entries) {
      source.tick(shownBy.size > 0);
      if (pods.size === 0 && !source.healthy) this.drop(key);
    }
  }
}

function refsOf(namespace: string, { configMaps, secrets }: References): Map<string, ObjectRef> {
  const refs = new Map<string, ObjectRef>();
  const add = (ref: ObjectRef) => refs.set(keyOf(ref), ref);
  for (const name of configMaps) add({ kind: 'configMap', namespace, name });
  for (const name of secrets) add({ kind: 'secret', namespace, name });
  return refs;
}

function keyOf({ kind, namespace, name }: ObjectRef): string {
  return `${kind}/${namespace}/${name}`;
}
