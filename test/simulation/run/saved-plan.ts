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
  /** Name of the mutation with which it must fail again, or of several; most rules have none. */
  mutation?: string | string[];
  plan: Plan;
}

/** Several of them in one file, which are run one after the other. */
interface SavedPlans {
  found: string;
  plans: Plan[];
}

/** Reads a plan, with or without what it found; of a file that holds several, `FILE#3` is the third. */
export function readPlan(file: string): SavedPlan {
  const [path = '', place] = file.split('#');
  const plans = plansOf(path);
  const read = plans[place === undefined ? 0 : Number(place) - 1];
  if (read === undefined) throw new Error(`${path} holds ${plans.length} plans, and no ${place ?? ''}`);
  return read;
}

function plansOf(path: string): SavedPlan[] {
  const read = JSON.parse(readFileSync(path, 'utf8')) as SavedPlan | SavedPlans | Plan;
  if ('plans' in read) return read.plans.map((plan) => ({ found: read.found, plan }));
  return ['plan' in read ? read : { found: '', plan: read }];
}

/** All pinned plans by name. */
export function pinnedPlans(): Map<string, SavedPlan & { file: string }> {
  const dir = join(import.meta.dirname, '../pinned');
  const files = readdirSync(dir).filter((name) => name.endsWith('.json'));
  const all = new Map<string, SavedPlan & { file: string }>();
  for (const name of files.sort()) {
    const path = join(dir, name);
    const plans = plansOf(path);
    for (const [i, plan] of plans.entries()) {
      const place = plans.length === 1 ? '' : `#${i + 1}`;
      all.set(`${basename(name, '.json')}${place}`, { ...plan, file: `${path}${place}` });
    }
  }
  return all;
}
