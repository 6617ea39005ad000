/** A function that takes what a stranger can write: one row of the table in `test/pure/bounds/places`. */
export interface Place {
  /** The function, as it is exported; `Name: what of it` when one function has several rows. */
  name: string;
  /** Where the text comes from. */
  channel: string;
  /** Thread that is held meanwhile, which says how long it may be: {@link LONGEST_MS}. */
  thread: 'main' | 'worker';
  /** Most characters that the channel lets through, 1 MiB when it says nothing. */
  largest?: number;
  /** Hands a hostile text to the function; what it throws is no matter, but for errors of the engine. */
  read: (text: string) => unknown;
}

/** Longest time of the processor that a thread may be held by one text, ms. */
export const LONGEST_MS: Readonly<Record<Place['thread'], number>> = { main: 50, worker: 250 };

export const MIB = 1024 * 1024;
