import type { EvictionSettings } from '../eviction/eviction-context.ts';
import { isSignal } from '../eviction/signals.ts';
import { isHard, valueOf } from '../eviction/thresholds.ts';
import type { Threshold } from '../eviction/thresholds.ts';
import { parseGoDuration } from '../values/go-duration.ts';
import { isQuantity } from '../values/quantity.ts';

/** Settings of eviction as somebody changes them; throws RangeError with what is wrong. */
export type SettingsChange = (settings: EvictionSettings) => EvictionSettings;

/**
 * Reads one change: `evictionHard.memory.available=500Mi` (0% switches it off), `evictionSoft...`, `evictionSoftGracePeriod...`,
 * `evictionMinimumReclaim...`, `evictionPressureTransitionPeriod=1m`, `evictionMaxPodGracePeriod=30`.
 * @throws RangeError with what is wrong
 */
export function parseChange(text: string): SettingsChange {
  const equals = text.indexOf('=');
  if (equals < 0) throw new RangeError('there is no =');
  const [name, value] = [text.slice(0, equals), text.slice(equals + 1)];
  if (name === 'evictionPressureTransitionPeriod') {
    const transitionMs = duration(value);
    return (settings) => ({ ...settings, transitionMs });
  }
  if (name === 'evictionMaxPodGracePeriod') {
    if (!/^\d{1,6}$/.test(value)) throw new RangeError('the period is whole seconds');
    return (settings) => ({ ...settings, maxPodGraceSeconds: Number(value) });
  }
  const dot = name.indexOf('.');
  const [field, signal] = [name.slice(0, Math.max(0, dot)), name.slice(dot + 1)];
  if (!isSignal(signal)) throw new RangeError(`${signal} is no signal`);
  const of = (threshold: Threshold): boolean => threshold.signal === signal;
  switch (field) {
    case 'evictionHard': {
      const made = threshold(signal, value);
      return (settings) => withHard(settings, signal, made);
    }
    case 'evictionSoft': {
      const made = threshold(signal, value);
      return (settings) => withSoft(settings, signal, made);
    }
    case 'evictionSoftGracePeriod': {
      const graceMs = duration(value);
      if (graceMs <= 0) throw new RangeError('a soft threshold has a grace period above 0');
      return (settings) => {
        if (!settings.thresholds.some((each) => of(each) && !isHard(each)))
          throw new RangeError(`there is no soft threshold of ${signal}; give evictionSoft.${signal}=VALUE before`);
        return mapped(settings, (each) => (of(each) && !isHard(each) ? { ...each, graceMs } : each));
      };
    }
    case 'evictionMinimumReclaim': {
      const minReclaim = amount(value);
      return (settings) => mapped(settings, (each) => (of(each) ? { ...each, minReclaim } : each));
    }
    default:
      throw new RangeError(`${field} is no field of thresholds`);
  }
}

/** A soft threshold without a word on its grace period has this, ms. */
const GRACE_MS = 90_000;

function mapped(settings: EvictionSettings, map: (each: Threshold) => Threshold): EvictionSettings {
  return { ...settings, thresholds: settings.thresholds.map(map) };
}

/** As in kubelet the hard threshold of memory counts for all pods together, too, where that is enforced. */
function withHard(settings: EvictionSettings, signal: Threshold['signal'], made: Threshold | null): EvictionSettings {
  const pods = 'allocatableMemory.available';
  const too =
    signal === 'memory.available' && settings.thresholds.some((each) => each.signal === pods)
      ? [signal, pods]
      : [signal];
  const kept = settings.thresholds.filter((each) => !(too.includes(each.signal) && isHard(each)));
  const before = settings.thresholds.find((each) => each.signal === signal && isHard(each));
  const added = made === null ? [] : too.map((each) => ({ ...before, ...made, signal: each as Threshold['signal'] }));
  return { ...settings, thresholds: [...added, ...kept] };
}

function withSoft(settings: EvictionSettings, signal: Threshold['signal'], made: Threshold | null): EvictionSettings {
  const before = settings.thresholds.find((each) => each.signal === signal && !isHard(each));
  const kept = settings.thresholds.filter((each) => each !== before);
  const added = made === null ? [] : [{ ...before, ...made, graceMs: before?.graceMs ?? GRACE_MS }];
  return { ...settings, thresholds: [...kept, ...added] };
}

/** Null: the threshold is switched off. */
function threshold(signal: Threshold['signal'], value: string): Threshold | null {
  return value === '0%' || value === '100%' ? null : { signal, value: amount(value), graceMs: 0 };
}

function amount(value: string): Threshold['value'] {
  const percent = /^\d{1,3}(\.\d{1,9})?%$/.test(value) && Number(value.slice(0, -1)) <= 100;
  if (!percent && (!isQuantity(value) || value.startsWith('-'))) throw new RangeError(`${value} is no amount`);
  return valueOf(value);
}

function duration(value: string): number {
  const ms = parseGoDuration(value);
  if (ms === undefined || ms < 0) throw new RangeError(`${value} is no duration`);
  return ms;
}
