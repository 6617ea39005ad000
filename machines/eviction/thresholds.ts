import { parseGoDuration } from '../values/go-duration.ts';
import { canonicalQuantity, formatQuantity, parseQuantity } from '../values/quantity.ts';
import { isSignal } from './signals.ts';
import type { Signal } from './signals.ts';

/** How much, as a quantity or as a share (0 to 1, a 32-bit float as in kubelet) of the capacity. */
export type ThresholdValue = { quantity: string } | { share: number };

/** When to act: less than `value` of the signal is available (kubelet's `Threshold`). */
export interface Threshold {
  signal: Signal;
  value: ThresholdValue;
  /** For how long it must have been so, ms; 0: a hard threshold. */
  graceMs: number;
  /** How much more than `value` must be available before it is over. */
  minReclaim?: ThresholdValue;
}

/** The fields of KubeletConfiguration that thresholds are made of. */
export interface ThresholdConfig {
  enforceNodeAllocatable: readonly string[];
  evictionHard: Readonly<Record<string, string>>;
  evictionSoft: Readonly<Record<string, string>>;
  evictionSoftGracePeriod: Readonly<Record<string, string>>;
  evictionMinimumReclaim: Readonly<Record<string, string>>;
}

const NANO = 1_000_000_000n;

/**
 * The thresholds of a configuration (kubelet's ParseThresholdConfig): hard ones, soft ones, and when pods' allocatable is
 * enforced a copy of the hard one of memory for all pods together. The configuration has been validated before (`eviction-rules.ts`).
 * @param allocatableIgnored no threshold for all pods together, even so
 * @throws RangeError when a value is no quantity
 */
export function parseThresholds(config: ThresholdConfig, allocatableIgnored = false): Threshold[] {
  const hard = statements(config.evictionHard).map((each) => ({ ...each, graceMs: 0 }));
  const soft = statements(config.evictionSoft).map((each) => ({
    ...each,
    graceMs: parseGoDuration(config.evictionSoftGracePeriod[each.signal] ?? '0s') ?? 0,
  }));
  const all = [...hard, ...soft].map((each): Threshold => {
    const reclaim = config.evictionMinimumReclaim[each.signal];
    return reclaim === undefined ? each : { ...each, minReclaim: valueOf(reclaim) };
  });
  return config.enforceNodeAllocatable.includes('pods') && !allocatableIgnored ? withAllocatable(all) : all;
}

/** Adds `allocatableMemory.available` with the values of the hard `memory.available` (addAllocatableThresholds). */
export function withAllocatable(thresholds: readonly Threshold[]): Threshold[] {
  const added = thresholds
    .filter((each) => each.signal === 'memory.available' && isHard(each))
    .map((each): Threshold => ({ ...each, signal: 'allocatableMemory.available' }));
  return [...thresholds, ...added];
}

/** Is it acted on at once? */
export function isHard({ graceMs }: Threshold): boolean {
  return graceMs === 0;
}

/** The quantity that a value comes to, in nano units. A share of the capacity is cut to whole units, as in kubelet. */
export function amountOf(value: ThresholdValue, capacity: number): bigint {
  if ('quantity' in value) return parseQuantity(value.quantity) ?? 0n;
  return BigInt(Math.trunc(capacity * value.share)) * NANO;
}

/** The same as kubelet writes it: `100Mi`. */
export function amountText(value: ThresholdValue, capacity: number): string {
  return 'quantity' in value
    ? canonicalQuantity(value.quantity)
    : formatQuantity(amountOf(value, capacity), 'BinarySI');
}

/** Two thresholds that say the same, whatever is to be reclaimed (kubelet's hasThreshold). */
export function saysTheSame(a: Threshold, b: Threshold): boolean {
  return a.signal === b.signal && a.graceMs === b.graceMs && sameValue(a.value, b.value);
}

function sameValue(a: ThresholdValue, b: ThresholdValue): boolean {
  if ('quantity' in a) return 'quantity' in b && parseQuantity(a.quantity) === parseQuantity(b.quantity);
  return 'share' in b && a.share === b.share;
}

function statements(values: Readonly<Record<string, string>>): { signal: Signal; value: ThresholdValue }[] {
  return Object.entries(values).flatMap(([signal, text]) =>
    // 0% and 100% switch a threshold off.
    !isSignal(signal) || text === '0%' || text === '100%' ? [] : [{ signal, value: valueOf(text) }],
  );
}

/** A value as a configuration has it: a quantity, or a share in percent. @throws RangeError when it is none */
export function valueOf(text: string): ThresholdValue {
  if (!text.endsWith('%')) return { quantity: canonicalQuantity(text) };
  return { share: Math.fround(Math.fround(Number(text.slice(0, -1))) / 100) };
}
