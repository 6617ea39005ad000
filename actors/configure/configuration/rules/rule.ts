import type { FeatureGates } from '../feature-gates.ts';
import type { KubeletConfiguration } from '../kubelet-configuration.ts';
import type { Problem } from '../problems.ts';

/** What rules must know besides the configuration. */
export interface RuleContext {
  gates: FeatureGates;
  /** Cgroup version of the machine. */
  cgroupVersion: 1 | 2;
}

/** Checks one subject of a decoded configuration; the rules are those of kubelet's ValidateKubeletConfiguration. */
export type Rule = (config: KubeletConfiguration, context: RuleContext) => Problem[];

/** A problem when `bad`, else nothing. */
export function when(bad: boolean, path: string, got: unknown, accepted: string): Problem[] {
  return bad ? [{ path, got, accepted }] : [];
}
