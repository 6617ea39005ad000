import type { Container, ContainerFilter, PodSandbox, PodSandboxFilter } from '../generated/runtime/v1/api.ts';
import type { RecordFilter, RecordIndex } from './record-index.ts';
import type { ContainerRecord, SandboxRecord } from './records.ts';
import type { SimCore } from './sim-core.ts';
import { toContainer, toPodSandbox } from './status-shapes.ts';

/** How a caller gets one entry of a list. `wire`: stands on its record as long as that does not change. */
export type ListForm<T> = (listed: T) => { wire: Uint8Array; item: T };

/** For callers in this process, who must not change them: nobody encodes. */
const PLAIN = new Uint8Array(0);
const plain = <T>(listed: T) => ({ wire: PLAIN, item: listed });

/** Answers to ListContainers and ListPodSandbox for callers in this process. */
export class RecordLists {
  private readonly core: SimCore;
  private readonly allContainers: Listed<ContainerRecord, Container>;
  private readonly allSandboxes: Listed<SandboxRecord, PodSandbox>;

  /** Without forms entries are the records' own shapes. */
  constructor(core: SimCore, forms: { container?: ListForm<Container>; sandbox?: ListForm<PodSandbox> } = {}) {
    const { container = plain, sandbox = plain } = forms;
    this.core = core;
    this.allContainers = new Listed(core.containers, (record) => container(toContainer(record)));
    this.allSandboxes = new Listed(core.sandboxes, (record) => sandbox(toPodSandbox(record)));
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

/** The whole list is kept while nothing changes, each record's entry until the record does. */
class Listed<R extends { id: string; state: number; wire: Uint8Array | undefined; labels: Record<string, string> }, T> {
  private readonly index: RecordIndex<R>;
  private readonly form: (record: R) => { wire: Uint8Array; item: T };
  private readonly made = new WeakMap<R, T>();
  private all: { version: number; items: T[] } | null = null;

  constructor(index: RecordIndex<R>, form: (record: R) => { wire: Uint8Array; item: T }) {
    this.index = index;
    this.form = form;
  }

  select(filter: RecordFilter | undefined, within: Iterable<R> | undefined): T[] {
    const { version } = this.index;
    if (filter !== undefined || within !== undefined) return this.itemsOf(this.index.select(filter, within));
    if (this.all?.version !== version) this.all = { version, items: this.itemsOf(this.index.byId.values()) };
    return this.all.items;
  }

  private itemsOf(records: Iterable<R>): T[] {
    const items: T[] = [];
    for (const record of records) items.push(this.itemOf(record));
    return items;
  }

  /** The index forgets `wire` when the record changes. */
  private itemOf(record: R): T {
    const known = record.wire === undefined ? undefined : this.made.get(record);
    if (known !== undefined) return known;
    const { wire, item } = this.form(record);
    record.wire = wire;
    this.made.set(record, item);
    return item;
  }
}
