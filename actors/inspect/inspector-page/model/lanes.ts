import type { Lane, StepLine } from '../../inspector/inspector-api.ts';

/** Columns of the sequence diagram, from left to right: who orders, the pod, who carries out. */
const LANES: readonly Lane[] = [
  'sources',
  'supervisor',
  'pleg',
  'timer',
  'pod',
  'cri',
  'host',
  'network',
  'images',
  'api',
];

/** One cell of the strip above the slider. */
export interface StripCell {
  /** First and last step of the cell. */
  from: number;
  to: number;
  /** Lane that most of its messages came from; null when nothing of it is loaded. */
  lane: Lane | null;
  failed: boolean;
  /** The pod's state changed. */
  moved: boolean;
}

/** Whether the step tells of something that went wrong. */
export function hasFailed(step: StepLine): boolean {
  return step.answers?.failed === true || step.message === 'effect.failed' || step.fault !== undefined;
}

/** Cuts all steps into at most `most` cells of equal width. */
export function stripCells(total: number, most: number, at: (index: number) => StepLine | undefined): StripCell[] {
  const cells: StripCell[] = [];
  const count = Math.min(total, most);
  for (let c = 0; c < count; c++) {
    const from = Math.floor((c * total) / count);
    const to = Math.max(from, Math.floor(((c + 1) * total) / count) - 1);
    cells.push(cellOf(from, to, at));
  }
  return cells;
}

function cellOf(from: number, to: number, at: (index: number) => StepLine | undefined): StripCell {
  const counts = new Map<Lane, number>();
  let failed = false;
  let moved = false;
  for (let i = from; i <= to; i++) {
    const step = at(i);
    if (step === undefined) continue;
    counts.set(step.from, (counts.get(step.from) ?? 0) + 1);
    failed ||= hasFailed(step);
    moved ||= step.before !== step.after;
  }
  let lane: Lane | null = null;
  let most = 0;
  for (const [name, n] of counts) {
    if (n > most) [lane, most] = [name, n];
  }
  return { from, to, lane, failed, moved };
}

/** Lanes that take part in these steps, in their order; the pod always does. */
export function lanesOf(steps: Iterable<StepLine>): Lane[] {
  const used = new Set<Lane>(['pod']);
  for (const step of steps) {
    used.add(step.from);
    for (const effect of step.effects) used.add(effect.to);
    if (used.size === LANES.length) break;
  }
  return LANES.filter((lane) => used.has(lane));
}
