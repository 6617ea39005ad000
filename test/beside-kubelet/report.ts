import { whyAccepted } from './accepted.ts';
import type { Difference } from './compare.ts';

/** Most pods that are named for one kind of difference, and longest text of one side. */
const SHOWN = 3;
const LENGTH = 400;

/** The differences as text, by what they are about: those that are sure first, then what may hang on the time. */
export function report(differences: readonly Difference[], all: boolean): string {
  const lines: string[] = [];
  const meant = new Map<string, number>();
  const groups = new Map<string, Difference[]>();
  for (const difference of differences) {
    const why = whyAccepted(difference);
    if (why !== undefined) meant.set(why, (meant.get(why) ?? 0) + 1);
    else groups.set(difference.about, [...(groups.get(difference.about) ?? []), difference]);
  }
  const rank = (list: readonly Difference[]) => (list.some(({ certain }) => certain) ? 0 : 1);
  for (const [about, list] of [...groups].sort(([a, x], [b, y]) => rank(x) - rank(y) || (a < b ? -1 : 1))) {
    if (!all && rank(list) === 1) continue;
    lines.push(`${about} (${String(list.length)})`);
    for (const { pod, kubelet, actorlet } of list.slice(0, all ? undefined : SHOWN))
      lines.push(`  ${pod}`, `    kubelet   ${kubelet.slice(0, LENGTH)}`, `    actorlet  ${actorlet.slice(0, LENGTH)}`);
  }
  for (const [why, count] of meant) lines.push(`meant (${String(count)}): ${why}`);
  return lines.join('\n');
}

/** What is sure to differ, and not meant to. */
export function defects(differences: readonly Difference[]): Difference[] {
  return differences.filter((difference) => difference.certain && whyAccepted(difference) === undefined);
}
