import { parseQuantity } from '../../../../machines/values/quantity.ts';
import { parseGoDuration } from '../../../../machines/values/go-duration.ts';
import type { Problem } from '../problems.ts';
import { type Rule, when } from './rule.ts';

const SIGNALS = [
  'memory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
  'containerfs.available',
  'containerfs.inodesFree',
  'allocatableMemory.available',
  'pid.available',
];

/** Eviction thresholds, as kubelet's ParseThresholdConfig reads them. */
export const evictionRules: Rule = (config) => [
  ...threshold('evictionHard', config.evictionHard),
  ...threshold('evictionSoft', config.evictionSoft),
  ...each('evictionSoftGracePeriod', config.evictionSoftGracePeriod, 'a duration of 0s or more', (value) => {
    const ms = parseGoDuration(value);
    return ms !== undefined && ms >= 0;
  }),
  ...each(
    'evictionMinimumReclaim',
    config.evictionMinimumReclaim,
    'a quantity of 0 or more, or a percentage above 0%',
    (value) => (value.endsWith('%') ? percentage(value) > 0 : (parseQuantity(value) ?? -1n) >= 0n),
  ),
  ...Object.keys(config.evictionSoft).flatMap((signal) =>
    when(
      config.evictionSoftGracePeriod[signal] === undefined && !/^(0|100)%$/.test(config.evictionSoft[signal] ?? ''),
      `evictionSoftGracePeriod.${signal}`,
      undefined,
      'a grace period for each signal of evictionSoft',
    ),
  ),
];

function threshold(field: string, values: Readonly<Record<string, string>>): Problem[] {
  return each(field, values, 'a quantity above 0, or 0% to 100%', (value) => {
    if (!value.endsWith('%')) return (parseQuantity(value) ?? 0n) > 0n;
    const percent = percentage(value);
    return percent >= 0 && percent <= 100;
  });
}

function percentage(value: string): number {
  return /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)%$/.test(value) ? Number(value.slice(0, -1)) : NaN;
}

function each(
  field: string,
  values: Readonly<Record<string, string>>,
  accepted: string,
  good: (value: string) => boolean,
): Problem[] {
  return Object.entries(values).flatMap(([signal, value]): Problem[] => [
    ...when(!SIGNALS.includes(signal), `${field}.${signal}`, value, `a signal of ${SIGNALS.join(', ')}`),
    ...when(!good(value), `${field}.${signal}`, value, accepted),
  ]);
}
