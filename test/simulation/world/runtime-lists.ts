import { Container, PodSandbox } from '../../../cri/generated/runtime/v1/api.ts';
import type { ContainerFilter, MessageFns, PodSandboxFilter } from '../../../cri/generated/runtime/v1/api.ts';
import type { RecordFilter, RecordIndex } from '../../../cri/sim/record-index.ts';
import type { ContainerRecord, SandboxRecord } from '../../../cri/sim/records.ts';
import type { SimCore } from '../../../cri/sim/sim-core.ts';
import { toContainer, toPodSandbox } from '../../../cri/sim/status-shapes.ts';

/**
 * Answers to ListContainers and ListPodSandbox as a client decodes them. Each record goes over the wire (protobuf and back)
 * once for each change of it, and the whole list is kept while nothing changes.
 */
export class RuntimeLists {
  private readonly core: SimCore;
  private readonly allContainers: Listed<ContainerRecord, Container>;
  private readonly allSandboxes: Listed<SandboxRecord, PodSandbox>;

  constructor(core: SimCore) {
    this.core = core;
    this.allContainers = new Listed(core.containers, Container, toContainer);
    this.allSandboxes = new Listed(core.sandboxes, PodSandbox, toPodSandbox);
  }

  containers(filter: ContainerFilter | undefined): { containers: readonly Container[] } {
    const of = filter?.podSandboxId ?? '';
    const within = of === '' ? undefined : (this.core.sandboxes.find(of)?.containers ?? []);
    return { containers: this.allContainers.select(filter, within) };
  }

  sandboxes(filter: PodSandboxFilter | undefined): { items: readonly PodSandbox[] } {
    return { items: this.allSandboxes.select(filter, undefined) };
  }
}

class Listed<R extends { id: string; state: number; wire: Uint8Array | undefined; labels: Record<string, string> }, T> {
  private readonly index: RecordIndex<R>;
  private readonly codec: MessageFns<T>;
  private readonly shape: (record: R) => T;
  private readonly decoded = new WeakMap<R, T>();
  private all: { version: number; items: readonly T[] } | null = null;

  constructor(index: RecordIndex<R>, codec: MessageFns<T>, shape: (record: R) => T) {
    this.index = index;
    this.codec = codec;
    this.shape = shape;
  }

  select(filter: RecordFilter | undefined, within: Iterable<R> | undefined): readonly T[] {
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
    const known = record.wire === undefined ? undefined : this.decoded.get(record);
    if (known !== undefined) return known;
    record.wire = this.codec.encode(this.shape(record)).finish();
    const item = this.codec.decode(record.wire);
    this.decoded.set(record, item);
    return item;
  }
}
