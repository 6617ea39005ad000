import { BinaryReader } from '@bufbuild/protobuf/wire';
import { Container, PodSandbox } from '../generated/runtime/v1/api.ts';
import type { RuntimeMethod } from './methods.ts';

/** Field 1, length-delimited: `items` and `containers` are both field 1 of their answers. */
const FIELD_1 = (1 << 3) | 2;

/** Decodes one answer. `whole`: nothing was left out by a filter, so what is not in it is no more. */
export type DecodeList = (bytes: Buffer, whole: boolean) => object;

/**
 * Decoders of the lists that are asked for each second, of one client. Most of such a list is what it was a second ago, in an order
 * that may be another (containerd keeps its objects in a map), so an item whose bytes are those that it had in the last whole list is that list's object again and not
 * decoded anew. The objects are frozen: several readers may hold them.
 */
export function listDecoders(): Partial<Record<RuntimeMethod, DecodeList>> {
  const sandboxes = new KnownItems((bytes) => PodSandbox.decode(bytes));
  const containers = new KnownItems((bytes) => Container.decode(bytes));
  return {
    listPodSandbox: (bytes, whole) => ({ items: sandboxes.decode(bytes, whole) }),
    listContainers: (bytes, whole) => ({ containers: containers.decode(bytes, whole) }),
  };
}

/** An item of a list, and where it stands in the answer's bytes. */
interface Place<T> {
  item: T;
  start: number;
  end: number;
}

/** Items of the last whole list by their ids, with the bytes that they were read from. */
class KnownItems<T extends object> {
  readonly #decodeItem: (bytes: Uint8Array) => T;
  #bytes: Buffer = Buffer.alloc(0);
  #places = new Map<string, Place<T>>();

  constructor(decodeItem: (bytes: Uint8Array) => T) {
    this.#decodeItem = decodeItem;
  }

  /** All items of field 1; other fields are left out, as decoders leave out what they do not know. */
  decode(bytes: Buffer, whole: boolean): T[] {
    const items: T[] = [];
    const places = new Map<string, Place<T>>();
    const reader = new BinaryReader(bytes);
    while (reader.pos < reader.len) {
      const tag = reader.uint32();
      if (tag !== FIELD_1) {
        reader.skip(tag & 7, tag >>> 3);
        continue;
      }
      const length = reader.uint32();
      const [start, end] = [reader.pos, reader.pos + length];
      if (end > reader.len) throw new RangeError('premature EOF');
      reader.pos = end;
      const id = idOf(bytes, start);
      const item = this.#same(id, bytes, start, end) ?? Object.freeze(this.#decodeItem(bytes.subarray(start, end)));
      items.push(item);
      places.set(id, { item, start, end });
    }
    if (whole) [this.#bytes, this.#places] = [bytes, places];
    return items;
  }

  /** The item of that id when it was written with the same bytes. */
  #same(id: string, bytes: Buffer, start: number, end: number): T | undefined {
    const known = this.#places.get(id);
    if (known === undefined) return undefined;
    return this.#bytes.compare(bytes, start, end, known.start, known.end) === 0 ? known.item : undefined;
  }
}

/** The id of an item: field 1 of a sandbox and of a container, which runtimes write first. A text of its own for no other use, or none. */
function idOf(bytes: Buffer, start: number): string {
  const length = bytes[start] === FIELD_1 ? (bytes[start + 1] ?? 0) : 0;
  return length < 128 ? bytes.toString('latin1', start + 2, start + 2 + length) : '';
}
