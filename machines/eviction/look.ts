import type { EvictionContext } from './eviction-context.ts';
import { thresholdsMet } from './observations.ts';
import type { Observations } from './observations.ts';
import { isMemory, PRESSURES, pressureOf } from './signals.ts';
import type { Pressure } from './signals.ts';
import { saysTheSame } from './thresholds.ts';
import type { Threshold } from './thresholds.ts';

/** What a look comes to: fields of the context, and the thresholds to act on now, memory first. */
export interface LookResult {
  patch: Pick<EvictionContext, 'metSince' | 'acted' | 'observedAt' | 'conditions' | 'seen'>;
  act: Threshold[];
}

/**
 * The first half of kubelet's `synchronize`: which thresholds are met, which of them for long enough, which conditions
 * follow, and on which thresholds there is news since the last look.
 */
export function takeLook(context: EvictionContext, seen: Observations, at: number): LookResult {
  const { settings, thresholds } = context;
  const met = metOrUnresolved(context, seen);
  const metSince: Record<number, number> = {};
  for (const place of met) metSince[place] = Math.min(context.metSince[place] ?? at, at);
  const observedAt = settings.endsForGood === true ? heldAt(context, at) : { ...context.observedAt };
  for (const pressure of pressuresOf(context, met)) observedAt[pressure] = at;
  const conditions = conditionsAt(observedAt, settings.transitionMs, at);
  const acted = met.filter((place) => at - (metSince[place] ?? at) >= graceOf(thresholds[place]));
  const act = acted.flatMap((place) => {
    const threshold = thresholds[place];
    return threshold !== undefined && isNewer(context.seen, seen, threshold, at) ? [threshold] : [];
  });
  // Memory comes before all others; the rest stays in the order of the configuration.
  act.sort((a, b) => Number(isMemory(b.signal)) - Number(isMemory(a.signal)));
  return { patch: { metSince, acted, observedAt, conditions, seen }, act };
}

/** Would this look change anything? On a node that is well none does, so none is told. */
export function isNews(context: EvictionContext, seen: Observations, at: number): boolean {
  if (Object.keys(context.metSince).length > 0 || metOrUnresolved(context, seen).length > 0) return true;
  // A clock that was set back: what holds is dated anew by it.
  if (context.settings.endsForGood === true && isOfTheFuture(context, at)) return true;
  const conditions = conditionsAt(context.observedAt, context.settings.transitionMs, at);
  return conditions.length !== context.conditions.length;
}

/** Places of thresholds that are met, or were acted on and lack what is to be reclaimed at least; ascending. */
function metOrUnresolved({ thresholds, acted }: EvictionContext, seen: Observations): number[] {
  const before = acted.flatMap((place) => thresholds[place] ?? []);
  const met = [...thresholdsMet(thresholds, seen, false)];
  for (const each of thresholdsMet(before, seen, true))
    if (!met.some((other) => saysTheSame(other, each))) met.push(each);
  return thresholds.flatMap((each, place) => (met.includes(each) ? [place] : []));
}

function pressuresOf({ thresholds }: EvictionContext, met: readonly number[]): Pressure[] {
  return met.flatMap((place) => {
    const threshold = thresholds[place];
    return threshold === undefined ? [] : [pressureOf(threshold.signal)];
  });
}

/** When the conditions that hold were observed: now, by a clock that was set back since. */
function heldAt({ conditions, observedAt }: EvictionContext, at: number): EvictionContext['observedAt'] {
  return Object.fromEntries(conditions.map((pressure) => [pressure, Math.min(observedAt[pressure] ?? at, at)]));
}

function isOfTheFuture({ conditions, observedAt }: EvictionContext, at: number): boolean {
  return conditions.some((pressure) => (observedAt[pressure] ?? at) > at);
}

/** Conditions that were observed within the period. A clock that was set back makes them as young as can be. */
function conditionsAt(observedAt: EvictionContext['observedAt'], periodMs: number, at: number): Pressure[] {
  return PRESSURES.filter((pressure) => {
    const seen = observedAt[pressure];
    return seen !== undefined && Math.max(0, at - seen) < periodMs;
  });
}

function graceOf(threshold: Threshold | undefined): number {
  return threshold?.graceMs ?? 0;
}

/** Stats that are as old as the last ones tell nothing of what was done since. */
function isNewer(before: Observations, seen: Observations, { signal }: Threshold, at: number): boolean {
  const now = seen[signal];
  const last = before[signal];
  if (now === undefined) return false;
  // Later than now: the clock was set back.
  return last === undefined || now.at === 0 || now.at > last.at || last.at > at;
}
