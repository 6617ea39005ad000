import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Plan } from '../draw/plan.ts';

/**
 * A plan in a file: one that a failure left, or one of `test/simulation/pinned`. Such a plan stays what it is when the
 * drawing of plans changes, as a seed does not.
 */
export interface SavedPlan {
  /** What it found once, and where that was mended. */
  found: string;
  /** Name of the mutation with which it must fail again; most rules have none. */
  mutation?: string;
  plan: Plan;
}

/** Reads a plan, with or without what it found. */
export function readPlan(file: string): SavedPlan {
  const read = JSON.parse(readFileSync(file, 'utf8')) as SavedPlan | Plan;
  return 'plan' in read ? read : { found: '', plan: read };
}

/** All pinned plans by name. */
export function pinnedPlans(): Map<string, SavedPlan & { file: string }> {
  const dir = join(import.meta.dirname, '../pinned');
  const files = readdirSync(dir).filter((name) => name.endsWith('.json'));
  return new Map(
    files.sort().map((name) => [basename(name, '.json'), { ...readPlan(join(dir, name)), file: join(dir, name) }]),
  );
}
