/** A range of ids of the node, in whole blocks: `first` and `length` are multiples of the block. */
export interface IdRange {
  first: number;
  length: number;
}

/**
 * Which pod holds which block of ids (KEP-127): blocks of the same length, never the first of all, none for two pods.
 * Throws plain Errors with kubelet's texts.
 */
export class IdBlocks {
  readonly blockLength: number;
  private readonly range: IdRange;
  private readonly byPod = new Map<string, number>();
  private readonly taken = new Set<number>();

  constructor(range: IdRange, blockLength: number, maxPods: number) {
    const { first, length } = range;
    if (first % blockLength !== 0)
      throw new Error(`kubelet user assigned ID ${first} is not a multiple of ${blockLength}`);
    if (first < blockLength)
      throw new Error(`kubelet user assigned ID ${first} must be greater or equal to ${blockLength}`);
    if (length % blockLength !== 0)
      throw new Error(`kubelet user assigned IDs length ${length} is not a multiple of ${blockLength}`);
    if (length / blockLength < maxPods)
      throw new Error(`kubelet user assigned IDs are not enough to support ${maxPods} pods`);
    this.range = range;
    this.blockLength = blockLength;
  }

  /** First id of the pod's block; undefined when it has none. */
  of(podUid: string): number | undefined {
    return this.byPod.get(podUid);
  }

  /** Pods that hold a block. */
  holders(): IterableIterator<string> {
    return this.byPod.keys();
  }

  /** Gives the pod the lowest free block, and returns its first id. */
  allocate(podUid: string): number {
    const end = this.range.first + this.range.length;
    for (let first = this.range.first; first < end; first += this.blockLength) {
      if (this.taken.has(first)) continue;
      this.hold(podUid, first);
      return first;
    }
    throw new Error('could not find an empty slot to allocate a user namespace');
  }

  /** Notes a block that the pod has from before. */
  record(podUid: string, first: number, length: number): void {
    if (length !== this.blockLength) throw new Error(`wrong user namespace length ${length}`);
    if (first % this.blockLength !== 0) throw new Error(`wrong user namespace offset specified ${first}`);
    const before = this.byPod.get(podUid);
    if (before === first) return;
    if (before !== undefined) throw new Error(`different user namespace range already used by pod "${podUid}"`);
    if (first < this.range.first || first >= this.range.first + this.range.length)
      throw new Error(`id ${first} is out of range`);
    if (this.taken.has(first)) throw new Error(`range picked for pod "${podUid}" already taken`);
    this.hold(podUid, first);
  }

  release(podUid: string): void {
    const first = this.byPod.get(podUid);
    if (first === undefined) return;
    this.byPod.delete(podUid);
    this.taken.delete(first);
  }

  private hold(podUid: string, first: number): void {
    this.byPod.set(podUid, first);
    this.taken.add(first);
  }
}
