import { z } from 'zod';
import {
  duration,
  int64,
  oneOf,
  optionalInt64,
  optionalTruth,
  text,
  textList,
  textMap,
  truth,
} from '../field-kinds.ts';

/** Cgroups, quotas, swap, and what is reserved for the node itself. */
export const cgroupFields = {
  kubeletCgroups: text(),
  systemCgroups: text(),
  cgroupRoot: text(),
  cgroupsPerQOS: truth(true),
  cgroupDriver: oneOf(['cgroupfs', 'systemd'], 'cgroupfs'),
  failCgroupV1: truth(true),
  singleProcessOOMKill: optionalTruth(),
  podPidsLimit: int64(-1),
  cpuCFSQuota: truth(true),
  cpuCFSQuotaPeriod: duration(100),
  failSwapOn: truth(true),
  memorySwap: z
    .strictObject({ swapBehavior: oneOf(['', 'NoSwap', 'LimitedSwap'], '') }, { error: 'a group of fields' })
    .prefault({}),
  /** Matters with the gate MemoryQoS only. */
  memoryThrottlingFactor: z.number({ error: 'a number' }).default(0.9),
  userNamespaces: z.strictObject({ idsPerPod: optionalInt64() }, { error: 'a group of fields' }).optional(),
  systemReserved: textMap(),
  kubeReserved: textMap(),
  systemReservedCgroup: text(),
  kubeReservedCgroup: text(),
  enforceNodeAllocatable: textList(['pods']),
  reservedSystemCPUs: text(),
  protectKernelDefaults: truth(false),
  localStorageCapacityIsolation: truth(true),
};
