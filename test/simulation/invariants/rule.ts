import type { Fact } from '../world/facts.ts';
import type { World } from '../world/world.ts';
import type { Book } from './book.ts';

/** Says that a rule was broken. */
export type Say = (problem: string) => void;

/** What a rule looks at. */
export interface Ground {
  world: World;
  book: Book;
  say: Say;
}

/** Something that must hold at every moment of every run. */
export interface Rule {
  name: string;
  /** Where it is written: a field of the API, a KEP, the kubelet's behaviour. */
  source: string;
  /** Begins to watch a run. `on` hears each fact as it happens; `end` looks once, after the time of quiet. */
  begin: (ground: Ground) => { on?: (fact: Fact) => void; end?: () => void };
}
