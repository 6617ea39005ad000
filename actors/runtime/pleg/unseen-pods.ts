/** Time until looks at a pod that go on failing are told of again, ms: what kubelet waits before it syncs such a pod anew. */
const AGAIN_MS = 10_000;

/** Which pods the last look failed at, and when that is to be told of. */
export class UnseenPods {
  /** When it was last told of, ms of a clock that nobody sets; null: not yet, for the next look may do. */
  private readonly told = new Map<string, number | null>();

  /** A look did. */
  seen(uid: string): void {
    this.told.delete(uid);
  }

  /** A look failed. True when that is to be told: at the second one in a row, and from time to time while it goes on. */
  failed(uid: string, at: number): boolean {
    const last = this.told.get(uid);
    if (last === undefined) this.told.set(uid, null);
    if (last === undefined || (last !== null && at - last < AGAIN_MS)) return false;
    this.told.set(uid, at);
    return true;
  }
}
