import type { NodeSettings } from '../../machines/protocol/node-settings.ts';
import type { FeatureGates } from '../configure/configuration/feature-gates.ts';
import type { KubeletConfiguration } from '../configure/configuration/kubelet-configuration.ts';

/**
 * How long containers that end again and again wait, ms (kubelet `newCrashLoopBackOff`): the gate ReduceDefaultCrashLoopBackOffDecay has them
 * begin with 1 s, and end with 60 s where `crashLoopBackOff.maxContainerRestartPeriod` says nothing, which it does while its own gate is off only.
 */
export function containerBackOff(
  config: Pick<KubeletConfiguration, 'crashLoopBackOff'>,
  gates: Pick<FeatureGates, 'enabled'>,
): Pick<NodeSettings, 'maxContainerRestartPeriodMs' | 'firstContainerBackOffMs'> {
  const configured = config.crashLoopBackOff.maxContainerRestartPeriod;
  return gates.enabled('ReduceDefaultCrashLoopBackOffDecay')
    ? { maxContainerRestartPeriodMs: configured ?? 60_000, firstContainerBackOffMs: 1_000 }
    : { maxContainerRestartPeriodMs: configured ?? 300_000 };
}
