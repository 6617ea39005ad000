import { LABEL } from '../../machines/protocol/runtime-labels.ts';

/** What {@link RecordIndex} needs of a record. */
interface Indexed {
  readonly id: string;
  readonly labels: Readonly<Record<string, string>>;
  state: number;
  wire: Uint8Array | undefined;
}

/** CRI's list filters, the part that sandboxes and containers share. */
export interface RecordFilter {
  id: string;
  state?: { state: number } | undefined;
  labelSelector: Readonly<Record<string, string>>;
}

const ID_LENGTH = 64;

/** Records by id, by pod UID and by state: no list call scans what it does not return. In order of creation. */
export class RecordIndex<R extends Indexed> {
  readonly byId = new Map<string, R>();
  /** Lists, since a pod has few; one that is made with its first has no room that nobody needs. */
  readonly #byPod = new Map<string, R[]>();
  readonly #byState = new Map<number, Set<R>>();
  /** Goes up with each change: a list answer of the same version is the same answer. */
  version = 0;

  add(record: R): void {
    this.byId.set(record.id, record);
    const uid = record.labels[LABEL.podUid];
    if (uid !== undefined) this.#ofPod(uid, record);
    put(this.#byState, record.state, record);
    this.version++;
  }

  remove(record: R): void {
    if (!this.byId.delete(record.id)) return;
    const uid = record.labels[LABEL.podUid];
    if (uid !== undefined) this.#notOfPod(uid, record);
    take(this.#byState, record.state, record);
    this.version++;
  }

  /** Sets the state and forgets the record's encoded form. */
  setState(record: R, state: R['state']): void {
    if (this.byId.has(record.id)) {
      take(this.#byState, record.state, record);
      put(this.#byState, state, record);
    }
    record.state = state;
    record.wire = undefined;
    this.version++;
  }

  /** By id, or by a beginning of it that fits one record only (as crictl's users type it). */
  find(id: string): R | undefined {
    const exact = this.byId.get(id);
    if (exact !== undefined || id === '' || id.length >= ID_LENGTH) return exact;
    let found: R | undefined;
    for (const record of this.byId.values()) {
      if (!record.id.startsWith(id)) continue;
      if (found !== undefined) return undefined;
      found = record;
    }
    return found;
  }

  inState(state: number): Iterable<R> {
    return this.#byState.get(state) ?? [];
  }

  /** All that fit; `within` narrows where to look. */
  *select(filter: RecordFilter | undefined, within?: Iterable<R>): Generator<R> {
    if (filter === undefined) {
      yield* within ?? this.byId.values();
      return;
    }
    const labels = Object.entries(filter.labelSelector);
    for (const record of this.#candidates(filter, within)) {
      if (filter.id !== '' && !record.id.startsWith(filter.id)) continue;
      if (filter.state !== undefined && record.state !== filter.state.state) continue;
      if (labels.every(([key, value]) => record.labels[key] === value)) yield record;
    }
  }

  #ofPod(uid: string, record: R): void {
    const records = this.#byPod.get(uid);
    if (records === undefined) this.#byPod.set(uid, [record]);
    else records.push(record);
  }

  #notOfPod(uid: string, record: R): void {
    const left = this.#byPod.get(uid)?.filter((other) => other !== record) ?? [];
    if (left.length === 0) this.#byPod.delete(uid);
    else this.#byPod.set(uid, left);
  }

  #candidates(filter: RecordFilter, within: Iterable<R> | undefined): Iterable<R> {
    if (filter.id !== '') {
      const record = this.find(filter.id);
      return record === undefined ? [] : within === undefined || has(within, record) ? [record] : [];
    }
    if (within !== undefined) return within;
    const uid = filter.labelSelector[LABEL.podUid];
    if (uid !== undefined) return this.#byPod.get(uid) ?? [];
    return filter.state === undefined ? this.byId.values() : this.inState(filter.state.state);
  }
}

function has<R>(within: Iterable<R>, record: R): boolean {
  for (const other of within) if (other === record) return true;
  return false;
}

function put<K, R>(index: Map<K, Set<R>>, key: K, record: R): void {
  const set = index.get(key);
  if (set === undefined) index.set(key, new Set([record]));
  else set.add(record);
}

function take<K, R>(index: Map<K, Set<R>>, key: K, record: R): void {
  const set = index.get(key);
  if (set === undefined) return;
  set.delete(record);
  if (set.size === 0) index.delete(key);
}
