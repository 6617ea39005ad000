/** One call that was answered (or whose caller went away). */
export interface CallEntry {
  rpc: string;
  /** Ms since the epoch when it came in. */
  at: number;
  /** How long it took, ms. */
  ms: number;
  /** gRPC status number; 0 = OK. */
  code: number;
  /** `namespace/pod`, '' when it is about none. */
  pod: string;
  container: string;
}

/** How often each RPC was called, and the last calls in full. */
export class CallJournal {
  readonly #counts = new Map<string, number>();
  readonly #ring: CallEntry[] = [];
  readonly #size: number;
  #next = 0;
  /** Calls now in progress. */
  inFlight = 0;

  constructor(size = 2000) {
    this.#size = size;
  }

  began(rpc: string): void {
    this.#counts.set(rpc, this.count(rpc) + 1);
    this.inFlight++;
  }

  ended(entry: CallEntry): void {
    this.inFlight--;
    this.#ring[this.#next] = entry;
    this.#next = (this.#next + 1) % this.#size;
  }

  /** Calls of this RPC so far, those in progress included. */
  count(rpc: string): number {
    return this.#counts.get(rpc) ?? 0;
  }

  /** All counts by RPC name. */
  get counts(): Record<string, number> {
    return Object.fromEntries(this.#counts);
  }

  /** The last calls, oldest first. */
  get recent(): CallEntry[] {
    return [...this.#ring.slice(this.#next), ...this.#ring.slice(0, this.#next)];
  }
}
