import type { PodLine } from '../../inspector/inspector-api.ts';
import { toneOf } from './state-names.ts';

/** What the list shows of all pods. */
export interface PodFilter {
  /** Words; a pod must contain each of them in its name, namespace, state, reason, uid, source or phase. */
  text: string;
  /** Only these states; empty: all. */
  states: readonly string[];
}

/** Orders of the list. `attention`: failing first, then waiting, stopping, running, ended; newest change first in each. */
export const SORTS = ['attention', 'name', 'age', 'state', 'restarts', 'steps'] as const;
export type Sort = (typeof SORTS)[number];

const URGENCY = { fail: 0, wait: 1, stop: 2, ok: 3, end: 4 } as const;
const byText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
const byName = (a: PodLine, b: PodLine) =>
  byText(a.namespace, b.namespace) || byText(a.name, b.name) || byText(a.uid, b.uid);

const ORDERS: Record<Sort, (a: PodLine, b: PodLine) => number> = {
  attention: (a, b) => b.since - a.since || byName(a, b),
  name: byName,
  age: (a, b) => b.startedAt - a.startedAt || byName(a, b),
  state: (a, b) => byText(a.state, b.state) || b.since - a.since || byName(a, b),
  restarts: (a, b) => b.restarts - a.restarts || byName(a, b),
  steps: (a, b) => b.steps - a.steps || byName(a, b),
};

function haystack(p: PodLine): string {
  return `${p.namespace}/${p.name} ${p.state} ${p.why} ${p.phase} ${p.source} ${p.uid}`.toLowerCase();
}

/** The pods that pass the filter, sorted. */
export function listPods(pods: Iterable<PodLine>, filter: PodFilter, sort: Sort): PodLine[] {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  const states = new Set(filter.states);
  const shown: PodLine[] = [];
  for (const pod of pods) {
    if (states.size > 0 && !states.has(pod.state)) continue;
    if (words.length > 0) {
      const hay = haystack(pod);
      if (!words.every((word) => hay.includes(word))) continue;
    }
    shown.push(pod);
  }
  if (sort !== 'attention') return shown.sort(ORDERS[sort]);
  // By urgency first: there are five, so each is sorted by itself.
  const groups: PodLine[][] = [[], [], [], [], []];
  for (const pod of shown) groups[URGENCY[toneOf(pod.state)]]?.push(pod);
  return groups.flatMap((group) => group.sort(ORDERS.attention));
}

/** How many pods are in each state, failing states first, then by count. */
export function countStates(pods: Iterable<PodLine>): { state: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const pod of pods) counts.set(pod.state, (counts.get(pod.state) ?? 0) + 1);
  return [...counts]
    .map(([state, count]) => ({ state, count }))
    .sort(
      (a, b) => URGENCY[toneOf(a.state)] - URGENCY[toneOf(b.state)] || b.count - a.count || byText(a.state, b.state),
    );
}

/** The list after live messages: pods that they name are replaced or added; null takes one out. */
export function mergePods(
  known: ReadonlyMap<string, PodLine>,
  told: ReadonlyMap<string, PodLine | null>,
): Map<string, PodLine> {
  const merged = new Map(known);
  for (const [uid, pod] of told) {
    if (pod === null) merged.delete(uid);
    else merged.set(uid, pod);
  }
  return merged;
}
