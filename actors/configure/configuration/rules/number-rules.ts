import type { KubeletConfiguration } from '../kubelet-configuration.ts';
import type { Problem } from '../problems.ts';
import { type Rule, when } from './rule.ts';

type NumberField = {
  [K in keyof KubeletConfiguration]-?: KubeletConfiguration[K] extends number | undefined ? K : never;
}[keyof KubeletConfiguration];

/** Bounds, both inclusive. */
const RANGES: readonly [NumberField, number, number][] = [
  ['nodeLeaseDurationSeconds', 1, Infinity],
  ['eventBurst', 0, Infinity],
  ['eventRecordQPS', 0, Infinity],
  ['healthzPort', 0, 65_535],
  ['imageGCHighThresholdPercent', 0, 100],
  ['imageGCLowThresholdPercent', 0, 100],
  ['iptablesDropBit', 0, 31],
  ['iptablesMasqueradeBit', 0, 31],
  ['kubeAPIBurst', 0, Infinity],
  ['kubeAPIQPS', 0, Infinity],
  ['nodeStatusMaxImages', -1, Infinity],
  ['maxOpenFiles', 0, Infinity],
  ['maxPods', 0, Infinity],
  ['oomScoreAdj', -1000, 1000],
  ['podsPerCore', 0, Infinity],
  ['port', 1, 65_535],
  ['readOnlyPort', 0, 65_535],
  ['registryBurst', 0, Infinity],
  ['registryPullQPS', 0, Infinity],
  ['maxParallelImagePulls', 1, Infinity],
  ['containerLogMaxWorkers', 1, Infinity],
  ['containerLogMaxFiles', 2, Infinity],
];

/** Numbers within their bounds. */
export const numberRules: Rule = (config) => [
  ...RANGES.flatMap(([field, least, most]): Problem[] => {
    const value = config[field];
    const accepted = most === Infinity ? `${least} or more` : `${least} to ${most}`;
    return when(value !== undefined && (value < least || value > most), field, value, accepted);
  }),
  ...when(
    config.memoryThrottlingFactor <= 0 || config.memoryThrottlingFactor > 1,
    'memoryThrottlingFactor',
    config.memoryThrottlingFactor,
    'more than 0, at most 1.0',
  ),
];
