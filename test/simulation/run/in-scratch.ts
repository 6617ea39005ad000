import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Plan } from '../draw/plan.ts';
import { ownTurn } from '../world/virtual-time.ts';
import { runPlan } from './run-plan.ts';
import type { RunOptions, RunResult } from './run-plan.ts';

/** Journals of runs go to memory where there is such a folder. */
const SCRATCH = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** Runs a plan in a folder that is gone afterwards, unless something was found and `keep` is set. */
export async function runInScratch(
  plan: Plan,
  options: Omit<RunOptions, 'dir'> & { keep?: boolean } = {},
): Promise<RunResult> {
  const dir = mkdtempSync(join(SCRATCH, 'actorlet-simulation-'));
  let found = true;
  try {
    const result = await ownTurn(() => runPlan(plan, { ...options, dir }));
    found = result.violations.length > 0;
    return result;
  } finally {
    if (options.keep !== true || !found) rmSync(dir, { recursive: true, force: true });
  }
}
