import type { AdmissionRules } from '../../../machines/admission/admission-rules.ts';

/** Of a node of a cluster, with 4 cores and 8Gi. */
export const RULES: AdmissionRules = {
  settings: {
    nodeName: 'node-1',
    allocatable: { cpuMilli: 4_000, memoryBytes: 8 * 2 ** 30, ephemeralStorageBytes: 10 * 2 ** 30 },
    runtimeFeatures: { supplementalGroupsPolicy: false },
  },
  ...{ maxPods: 110, os: 'linux', arch: 'amd64', allowedUnsafeSysctls: [] },
  ...{ kernelVersion: '6.1.0', appArmorEnabled: false },
};
