import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { Container, PodSandbox } from '../generated/runtime/v1/api.ts';
import type { RecordFilter, RecordIndex } from './record-index.ts';
import type { ContainerRecord, SandboxRecord } from './records.ts';
import { toContainer, toPodSandbox } from './status-shapes.ts';

/** Field 1, length-delimited: `items` and `containers` are both field 1 of their answers. */
const FIELD_1 = (1 << 3) | 2;

/**
 * Answers to ListPodSandbox and ListContainers as bytes. Kubelet asks for them each second; with thousands of
 * pods, encoding costs more than all else. So a record is encoded once for each change of it, and the
 * whole list is kept while nothing changes.
 */
class ListEncoder<R extends { wire: Uint8Array | undefined }> {
  readonly #encode: (record: R) => Uint8Array;
  #whole: { version: number; bytes: Buffer } | undefined;

  constructor(encode: (record: R) => Uint8Array) {
    this.#encode = encode;
  }

  /** The answer for these records. */
  some(records: Iterable<R>): Buffer {
    const parts: Uint8Array[] = [];
    for (const record of records) parts.push((record.wire ??= this.#encode(record)));
    return Buffer.concat(parts);
  }

  /** The answer for all records of an index at this version. */
  all(records: Iterable<R>, version: number): Buffer {
    if (this.#whole?.version !== version) this.#whole = { version, bytes: this.some(records) };
    return this.#whole.bytes;
  }
}

/** Answers ListPodSandbox. */
export function sandboxLister(index: RecordIndex<SandboxRecord>): (filter: RecordFilter | undefined) => Buffer {
  const encoder = new ListEncoder<SandboxRecord>((record) => framed(PodSandbox.encode(toPodSandbox(record)).finish()));
  return (filter) =>
    isOpen(filter) ? encoder.all(index.byId.values(), index.version) : encoder.some(index.select(filter));
}

/** Answers ListContainers. */
export function containerLister(
  index: RecordIndex<ContainerRecord>,
): (filter: RecordFilter | undefined, within: Iterable<ContainerRecord> | undefined) => Buffer {
  const encoder = new ListEncoder<ContainerRecord>((record) => framed(Container.encode(toContainer(record)).finish()));
  return (filter, within) =>
    within === undefined && isOpen(filter)
      ? encoder.all(index.byId.values(), index.version)
      : encoder.some(index.select(filter, within));
}

function framed(message: Uint8Array): Uint8Array {
  return new BinaryWriter().uint32(FIELD_1).bytes(message).finish();
}

/** True when a filter lets everything through. */
function isOpen(filter: RecordFilter | undefined): boolean {
  if (filter === undefined) return true;
  return filter.id === '' && filter.state === undefined && Object.keys(filter.labelSelector).length === 0;
}
