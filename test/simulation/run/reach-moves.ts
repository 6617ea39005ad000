import { drawPlan } from '../draw/draw-plan.ts';
import type { Plan } from '../draw/plan.ts';
import { runInScratch } from './in-scratch.ts';
import { shrink } from './shrink.ts';

/** Where plans are looked for, and who hears of those that were found. */
export interface ReachOptions {
  first: number;
  count: number;
  hours: number;
  moments: boolean;
  claims?: boolean;
  print: (line: string) => void;
}

/**
 * Looks among seeds for plans in which machines make these moves, `machine from -> to`, and prints the shortest form of each on a line
 * of its own: what pinned plans are made of when no fixed seed makes a move. Returns 1 when one was not made.
 */
export async function reachMoves(moves: readonly string[], options: ReachOptions): Promise<number> {
  const wanted = new Set(moves.map((move) => move.trim()));
  const { first, count, hours, moments, claims, print } = options;
  for (let seed = first; seed < first + count && wanted.size > 0; seed++) {
    const plan = drawPlan(seed, { hours, faults: true, moments, claims: claims === true });
    for (const move of await movesOf(plan)) {
      if (!wanted.delete(move)) continue;
      const least = await shrink(plan, async (less) => (await movesOf(less)).has(move), 60);
      print(JSON.stringify({ move, plan: least }));
    }
  }
  for (const move of wanted) print(`not reached: ${move}`);
  return wanted.size > 0 ? 1 : 0;
}

async function movesOf(plan: Plan): Promise<ReadonlySet<string>> {
  const { coverage, violations } = await runInScratch(plan, { replay: false });
  return violations.length > 0 ? new Set() : new Set(coverage.transitions.keys());
}
