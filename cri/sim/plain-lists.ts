import type { Container, ContainerFilter, PodSandbox, PodSandboxFilter } from '../generated/runtime/v1/api.ts';
import type { RecordFilter, RecordIndex } from './record-index.ts';
import type { ContainerRecord, SandboxRecord } from './records.ts';
import type { SimCore } from './sim-core.ts';
import { toContainer, toPodSandbox } from './status-shapes.ts';

/** Stands where a record's encoded form would, as long as its listed form holds: nobody encodes here. */
const LISTED = new Uint8Array(0);

/** Answers to ListContainers and ListPodSandbox for callers in this process, who must not change them. */
export class PlainLists {
  private readonly core: SimCore;
  private readonly allContainers: Listed<ContainerRecord, Container>;
  private readonly allSandboxes: Listed<SandboxRecord, PodSandbox>;

  constructor(core: SimCore) {
    this.core = core;
    this.allContainers = new Listed(core.containers, toContainer);
    this.allSandboxes = new Listed(core.sandboxes, toPodSandbox);
  }

  containers(filter: ContainerFilter | undefined): { containers: Container[] } {
    const of = filter?.podSandboxId ?? '';
    const within = of === '' ? undefined : (this.core.sandboxes.find(of)?.containers ?? []);
    return { containers: this.allContainers.select(filter, within) };
  }

  sandboxes(filter: PodSandboxFilter | undefined): { items: PodSandbox[] } {
    return { items: this.allSandboxes.select(filter, undefined) };
  }
}

/** The whole list is kept while nothing changes, each record's line until the record does. */
class Listed<R extends { id: string; state: number; wire: Uint8Array | undefined; labels: Record<string, string> }, T> {
  private readonly index: RecordIndex<R>;
  private readonly shape: (record: R) => T;
  private readonly shaped = new WeakMap<R, T>();
  private all: { version: number; items: T[] } | null = null;

  constructor(index: RecordIndex<R>, shape: (record: R) => T) {
    this.index = index;
    this.shape = shape;
  }

  select(filter: RecordFilter | undefined, within: Iterable<R> | undefined): T[] {
    const { version } = this.index;
    if (filter !== undefined || within !== undefined)
      return Array.from(this.index.select(filter, within), (record) => this.itemOf(record));
    if (this.all?.version !== version)
      this.all = { version, items: Array.from(this.index.byId.values(), (record) => this.itemOf(record)) };
    return this.all.items;
  }

  private itemOf(record: R): T {
    const known = record.wire === undefined ? undefined : this.shaped.get(record);
    if (known !== undefined) return known;
    record.wire = LISTED;
    const item = this.shape(record);
    this.shaped.set(record, item);
    return item;
  }
}
