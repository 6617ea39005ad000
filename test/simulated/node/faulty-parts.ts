import { Lifecycle } from '../../../actors/node/lifecycle.ts';
import type { Part } from '../../../actors/node/lifecycle.ts';

/** What goes wrong with a part: its start before it did anything, or when it did all; its stop, when it did all. */
export type Fault = 'does not start' | 'starts and fails' | 'stop rejects' | 'stop hangs';

/** A part that is broken, and how. */
export interface Broken {
  part: string;
  fault: Fault;
}

/** Time that a stop which hangs is given here, ms: mostly enough for what it does before that. All others have theirs in full. */
const HANGING_MS = 200;

/** What is broken now. */
let broken: readonly Broken[] = [];
/** All parts of the newest node. */
const parts: { name: string; starts: boolean }[] = [];

/** From now on the parts of all nodes of this process can be broken. */
export function makePartsBreakable(): void {
  const life = Lifecycle.prototype as unknown as {
    add: (...parts: Part[]) => void;
    stopOne: (part: Part) => Promise<void>;
  };
  const { add, stopOne } = life;
  life.add = function (...added) {
    parts.push(...added.map(({ name, start }) => ({ name, starts: start !== undefined })));
    add.apply(this, added.map(faulty));
  };
  life.stopOne = function (part) {
    const hangs = is(part, 'stop hangs');
    const impatient = Object.create(this, { stopLimitMs: { value: HANGING_MS } }) as typeof life;
    return stopOne.call(hangs ? impatient : this, part);
  };
}

/** Breaks these parts of the next node. */
export function breakParts(next: readonly Broken[]): void {
  broken = next;
  parts.length = 0;
}

/** Parts of the newest node, in the order in which it got them. `starts`: they have a start of their own. */
export function newestParts(): typeof parts {
  return [...parts];
}

/** What a broken part's error says. */
export function problemOf({ part, fault }: Broken): string {
  return `${part}: ${fault}`;
}

function faulty(part: Part): Part {
  const failIf = (fault: Fault) => {
    if (is(part, fault)) throw new Error(problemOf({ part: part.name, fault }));
  };
  return {
    ...part,
    async start() {
      failIf('does not start');
      await part.start?.();
      failIf('starts and fails');
    },
    async stop() {
      await part.stop?.();
      failIf('stop rejects');
      if (is(part, 'stop hangs')) await new Promise<never>(() => undefined);
    },
  };
}

function is({ name }: Part, fault: Fault): boolean {
  return broken.some((one) => one.part === name && one.fault === fault);
}
