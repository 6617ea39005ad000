import { existsSync, readFileSync } from 'node:fs';
import { release } from 'node:os';
import type { AdmissionRules } from '../../../machines/admission/admission-rules.ts';
import type { NodeSettings } from '../../../machines/protocol/node-settings.ts';
import type { KubeletConfiguration } from '../../configure/configuration/kubelet-configuration.ts';
import { goArchitecture } from '../machine/machine-facts.ts';

/** What this node judges pods by. @param more how CPUs and memory are given away, and what feature gates allow */
export function admissionRules(
  config: Pick<KubeletConfiguration, 'allowedUnsafeSysctls' | 'maxPods' | 'podsPerCore'>,
  settings: NodeSettings,
  more: Pick<
    AdmissionRules,
    'declaredFeatures' | 'resources' | 'taintComparison' | 'driversGiveResources' | 'noPodLevelResources'
  > = {},
): AdmissionRules {
  const { nodeName, capacity, allocatable, unreserved, runtimeFeatures, podLevelResizes } = settings;
  const { maxPods, podsPerCore, allowedUnsafeSysctls } = config;
  const { supplementalGroupsPolicy } = runtimeFeatures;
  const cores = capacity.cpuMilli / 1000;
  return {
    ...{ preempts: true, resizesPreempt: true, resizesAsk: true, roomAsKubelets: true, resizesCount: true },
    settings: { nodeName, allocatable, runtimeFeatures: { supplementalGroupsPolicy } },
    ...(unreserved && { most: unreserved }),
    ...(settings.limitedSwapBytes !== undefined && settings.swapController && { limitedSwap: true as const }),
    maxPods: podsPerCore > 0 ? Math.min(maxPods, cores * podsPerCore) : maxPods,
    os: 'linux',
    arch: goArchitecture(process.arch),
    allowedUnsafeSysctls,
    kernelVersion: release(),
    appArmorEnabled: appArmorIsOn(),
    ...(podLevelResizes && { podLevelResizes }),
    ...more,
  };
}

function appArmorIsOn(): boolean {
  const file = '/sys/module/apparmor/parameters/enabled';
  return existsSync('/sys/kernel/security/apparmor') && existsSync(file) && readFileSync(file, 'utf8').trim() === 'Y';
}
