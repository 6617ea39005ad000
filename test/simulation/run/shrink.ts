import type { Plan } from '../draw/plan.ts';

/** Does this plan still fail in the same way? */
export type StillFails = (plan: Plan) => Promise<boolean>;

/**
 * The least of a plan that still fails: faults, pods and changes are left out, many at first, then one by one. `tries`
 * bounds how many plans are run.
 */
export async function shrink(plan: Plan, stillFails: StillFails, tries = 120): Promise<Plan> {
  let best = plan;
  let left = tries;
  for (let before = Infinity; sizeOf(best) < before && left > 0;) {
    before = sizeOf(best);
    for (const part of ['faults', 'pods', 'changes'] as const) {
      for (let size = Math.ceil(best[part].length / 2); size >= 1; size = Math.floor(size / 2)) {
        for (let at = 0; at < best[part].length && left > 0;) {
          const less = without(best, part, at, size);
          left--;
          if (await stillFails(less)) best = less;
          else at += size;
        }
      }
    }
  }
  return best;
}

function sizeOf({ pods, changes, faults }: Plan): number {
  return pods.length + changes.length + faults.length;
}

function without(plan: Plan, part: 'faults' | 'pods' | 'changes', at: number, size: number): Plan {
  const kept = (plan[part] as readonly unknown[]).filter((_, i) => i < at || i >= at + size);
  const less = { ...plan, [part]: kept };
  const keys = new Set(less.pods.map(({ key }) => key));
  return { ...less, changes: less.changes.filter(({ pod }) => keys.has(pod)) };
}
