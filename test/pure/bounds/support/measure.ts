import { LONGEST_MS, MIB } from './place.ts';
import type { Place } from './place.ts';
import { SHAPES, SIZES } from './shapes.ts';

/** A text that held the thread for too long, or made the engine give up. */
export interface Finding {
  place: string;
  shape: string;
  size: number;
  /** Time of the processor, ms. */
  ms: number;
  error?: string;
}

/** Times that are tried before a thread counts as held: the engine may be compiling, or collecting garbage. */
const TRIES = 4;
/** So many times the longest time is no chance, whatever else the machine does. */
const SURE = 6;
/** And so long needs no second try, ms. */
const HOPELESS_MS = 2_000;
/** A machine that is slower than this has other work, which costs caches: times near the longest say nothing then. */
const BUSY = 1.15;

/** Hands all shapes of text to a place, in growing sizes up to the largest. The first finding of each shape counts. */
export async function measure(place: Place, found: (finding: Finding) => void): Promise<void> {
  const largest = place.largest ?? MIB;
  const sizes = [...SIZES.filter((size) => size < largest), largest];
  for (const [shape, textOf] of Object.entries(SHAPES)) {
    for (const size of sizes) {
      const finding = await look(place, textOf(size).slice(0, largest));
      if (finding === null) continue;
      found({ place: place.name, shape, size, ...finding });
      break;
    }
  }
}

/** Time of the processor that {@link work} takes on the machine that the bounds were set on, ms. */
const WORK_MS = 2.5;

/** How much slower this machine is at the moment: others compete with it for caches, or it is an old one. */
function slowness(): number {
  let least = Infinity;
  for (let i = 0; i < 3; i++) {
    const before = process.threadCpuUsage();
    work();
    const { user, system } = process.threadCpuUsage(before);
    least = Math.min(least, (user + system) / 1000);
  }
  return Math.max(1, least / WORK_MS);
}

function work(): number {
  let size = 0;
  for (const part of 'a,b'.repeat(200_000).split(',')) size += part.length;
  return size;
}

async function look(place: Place, text: string): Promise<{ ms: number; error?: string } | null> {
  let least = Infinity;
  for (let tries = 0; tries < TRIES; tries++) {
    // The processor's time of this thread, not the clock's: the machine may be busy with other things.
    const before = process.threadCpuUsage();
    try {
      await place.read(text);
    } catch (error) {
      // No parser's own word: the stack, a string or an expression grew until the engine gave up.
      if (error instanceof RangeError && /call stack|string length|array length|regular/i.test(error.message))
        return { ms: 0, error: error.message };
    }
    const { user, system } = process.threadCpuUsage(before);
    least = Math.min(least, (user + system) / 1000);
    if (least <= LONGEST_MS[place.thread]) return null;
    const slower = slowness();
    const most = (slower > BUSY ? SURE : slower) * LONGEST_MS[place.thread];
    if (least <= most) return null;
    if (least > HOPELESS_MS) break;
  }
  return { ms: least };
}
