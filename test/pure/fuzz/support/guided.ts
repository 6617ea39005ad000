import { Session } from 'node:inspector';
import type { Profiler } from 'node:inspector';
import fc from 'fast-check';
import type { ByteChange } from './mutate-bytes.ts';
import { byteChanges, changedBytes } from './mutate-bytes.ts';
import { fuzz } from './runs.ts';

/** What {@link guided} searches. */
export interface Guided {
  /** What the first inputs are made of. */
  inputs: readonly Buffer[];
  /** Takes one input; what it throws (or rejects with) is a finding. */
  run(input: Buffer): void | Promise<void>;
  /** URLs of the code whose ways count. */
  code: RegExp;
  /** How many inputs are tried; see {@link fuzz}. */
  runs: number;
  /** Texts and bytes that mean something to the code. */
  words?: readonly (string | Uint8Array)[];
}

/** How many ways through the code were seen, and the inputs that showed each first. */
export interface Found {
  ways: number;
  kept: readonly Buffer[];
}

/** Longer ones are not kept: they take long and show nothing that a shorter one cannot. */
const MAX_KEPT_BYTES = 32 * 1024;
/** Each second input is made of one of the last so many that were kept. */
const NEWEST = 8;

/** Another value for one byte: the smallest step from a way to the next. */
const oneByte: fc.Arbitrary<ByteChange[]> = fc
  .tuple(fc.nat(9_999), fc.integer({ min: 1, max: 255 }))
  .map(([part, by]) => [{ do: 'flip', from: part / 10_000, to: 1, bytes: Uint8Array.of(by) }]);

/**
 * A search that is guided by coverage: an input that takes a way through the code that none took before joins those that the
 * next ones are made of, so that one lucky byte is built upon by the next. V8 itself tells which blocks of which function
 * ran (precise coverage), so the sources run as they are. Throws with the input that was found, as base64.
 */
export async function guided({ inputs, run, code, runs, words = [] }: Guided): Promise<Found> {
  const { numRuns = runs, seed } = fuzz(runs);
  const changes = fc.oneof(byteChanges(words), oneByte);
  const chosen = fc.tuple(fc.boolean(), fc.nat(1 << 20), changes);
  const session = new Session();
  session.connect();
  try {
    session.post('Profiler.enable');
    session.post('Profiler.startPreciseCoverage', { callCount: false, detailed: true });
    const ways = new Set<string>();
    const kept: Buffer[] = [];
    const attempt = async (input: Buffer): Promise<void> => {
      try {
        await run(input);
      } catch (cause) {
        throw new Error(`found by an input of ${input.length} bytes: ${input.toString('base64')}`, { cause });
      }
      const before = ways.size;
      // Answered before `post` returns.
      session.post('Profiler.takePreciseCoverage', (_error, { result }) => {
        for (const script of result) if (code.test(script.url)) noteWays(script, ways);
      });
      if (ways.size > before && input.length <= MAX_KEPT_BYTES) kept.push(input);
    };
    for (const input of inputs) await attempt(input);
    const first = inputs[0] ?? Buffer.alloc(0);
    for (const [newest, pick, changes] of fc.sample(chosen, { numRuns, ...(seed !== undefined && { seed }) })) {
      const from = newest ? kept.slice(-NEWEST) : kept;
      await attempt(changedBytes(from[pick % from.length] ?? first, changes));
    }
    return { ways: ways.size, kept };
  } finally {
    session.disconnect();
  }
}

/** A way: which blocks of one function ran, and which did not. */
function noteWays({ scriptId, functions }: Profiler.ScriptCoverage, into: Set<string>): void {
  for (const { ranges } of functions) {
    const blocks = ranges.map(
      ({ startOffset, endOffset, count }) => `${startOffset}-${endOffset}:${count > 0 ? 1 : 0}`,
    );
    into.add(`${scriptId} ${blocks.join(' ')}`);
  }
}
