import type { Duplex } from 'node:stream';

/** A stream that was agreed on: it is begun once, by whoever knows its address. */
export interface AgreedStream {
  /** Kinds of streams that the client opens (`streamtype`); null: any number of them, by and by. */
  kinds: readonly string[] | null;
  /** Begins when all are there; with `kinds` null for each as it comes. `closed` settles when the connection is over. */
  serve: (streams: ReadonlyMap<string, Duplex>, closed: Promise<unknown>) => Promise<void>;
}
