import { z } from 'zod';
import { evictionFields } from './fields/eviction-fields.ts';
import { runtimeFields } from './fields/runtime-fields.ts';
import { serverFields } from './fields/server-fields.ts';
import {
  int32,
  text,
  textList,
  truth,
  duration,
  oneOf,
  resourceList,
  textMap,
  int64,
  optionalInt64,
  optionalTruth,
  durationOrNanoseconds,
  optionalInt32,
  quantityOrNumber,
} from './field-kinds.ts';

const GROUP = 'a group of fields';
const verbosity = () => z.uint32({ error: 'a whole number from 0' }).default(0);
const outputRouting = () =>
  z.strictObject({ splitStream: truth(false), infoBufferSize: quantityOrNumber('0') }, { error: GROUP }).prefault({});

/** Logs, feature gates and traces. */
const observabilityFields = {
  logging: z
    .strictObject(
      {
        format: z.enum(['text', 'json'], { error: 'one of "text", "json"' }).default('text'),
        flushFrequency: durationOrNanoseconds(5000),
        verbosity: verbosity(),
        vmodule: z
          .array(z.strictObject({ filePattern: text(), verbosity: verbosity() }, { error: 'filePattern, verbosity' }), {
            error: 'a list of entries: filePattern, verbosity',
          })
          .default([]),
        options: z.strictObject({ text: outputRouting(), json: outputRouting() }, { error: GROUP }).prefault({}),
      },
      { error: GROUP },
    )
    .prefault({}),
  featureGates: z
    .record(z.string(), z.boolean({ error: 'true or false' }), { error: 'a map of gate names to true or false' })
    .default({}),
  tracing: z
    .strictObject(
      { endpoint: z.string({ error: 'a string' }).optional(), samplingRatePerMillion: optionalInt32() },
      { error: GROUP },
    )
    .optional(),
};

/** Cgroups, quotas, swap, and what is reserved for the node itself. */
const cgroupFields = {
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

/** The node object, its heartbeats, and the way to the API server. */
const nodeFields = {
  registerNode: truth(true),
  registerWithTaints: z
    .array(
      z.strictObject(
        {
          key: z.string({ error: 'a label name' }),
          value: text(),
          effect: z.string({ error: 'NoSchedule, PreferNoSchedule or NoExecute' }).default(''),
          timeAdded: z.string({ error: 'no value' }).optional(),
        },
        { error: 'a taint: key, value, effect' },
      ),
      { error: 'a list of taints' },
    )
    .default([]),
  providerID: text(),
  nodeStatusUpdateFrequency: duration(10_000),
  nodeStatusReportFrequency: duration(300_000),
  nodeLeaseDurationSeconds: int32(40),
  nodeStatusMaxImages: int32(50),
  contentType: text('application/vnd.kubernetes.protobuf'),
  kubeAPIQPS: int32(50),
  kubeAPIBurst: int32(100),
  eventRecordQPS: int32(50),
  eventBurst: int32(100),
  configMapAndSecretChangeDetectionStrategy: oneOf(['Watch', 'Cache', 'Get'], 'Watch'),
  maxPods: int32(110),
  podsPerCore: int32(0),
  maxOpenFiles: int64(1_000_000),
  oomScoreAdj: int32(-999),
  runOnce: truth(false),
  enableControllerAttachDetach: truth(true),
  volumePluginDir: text('/usr/libexec/kubernetes/kubelet-plugins/volume/exec/'),
  volumeStatsAggPeriod: duration(60_000),
};

/** CPU, memory and topology manager. */
const resourceManagerFields = {
  cpuManagerPolicy: oneOf(['none', 'static'], 'none'),
  cpuManagerPolicyOptions: textMap(),
  cpuManagerReconcilePeriod: duration(10_000),
  memoryManagerPolicy: oneOf(['None', 'Static'], 'None'),
  reservedMemory: z
    .array(
      z.strictObject(
        { numaNode: int32(0), limits: resourceList().default({}) },
        { error: 'a reservation: numaNode, limits' },
      ),
      { error: 'a list of reservations' },
    )
    .default([]),
  topologyManagerPolicy: oneOf(['none', 'best-effort', 'restricted', 'single-numa-node'], 'none'),
  topologyManagerScope: oneOf(['container', 'pod'], 'container'),
  topologyManagerPolicyOptions: textMap(),
  qosReserved: textMap(),
};

/** Where pods come from, and how often it is looked at. */
const podSourceFields = {
  staticPodPath: text(),
  staticPodURL: text(),
  staticPodURLHeader: z
    .record(z.string(), z.array(z.string({ error: 'a string' }), { error: 'a list of header values' }), {
      error: 'a map of header names to lists of values',
    })
    .default({}),
  syncFrequency: duration(60_000),
  fileCheckFrequency: duration(20_000),
  httpCheckFrequency: duration(20_000),
};

/** DNS and packet rules. */
const networkFields = {
  clusterDomain: text(),
  clusterDNS: textList(),
  resolvConf: text('/etc/resolv.conf'),
  podCIDR: text(),
  makeIPTablesUtilChains: truth(true),
  iptablesMasqueradeBit: int32(14),
  iptablesDropBit: int32(15),
};

/** The only version of the file there is. */
export const API_VERSION = 'kubelet.config.k8s.io/v1beta1';
/** Its kind. */
export const KIND = 'KubeletConfiguration';

/** KubeletConfiguration `kubelet.config.k8s.io/v1beta1` of Kubernetes 1.35: every field, strict at every level. */
export const kubeletConfigurationSchema = z.strictObject({
  kind: z.literal(KIND).optional(),
  apiVersion: z.literal(API_VERSION).optional(),
  ...podSourceFields,
  ...runtimeFields,
  ...networkFields,
  ...nodeFields,
  ...serverFields,
  ...cgroupFields,
  ...resourceManagerFields,
  ...evictionFields,
  ...observabilityFields,
});

/**
 * The decoded configuration: every default filled in; durations are milliseconds, quantities stay strings,
 * an unset string is '', an unset list or map is empty. Only the fields typed as optional can be undefined.
 */
export type KubeletConfiguration = z.output<typeof kubeletConfigurationSchema>;

/** An object as JSON and YAML give it. */
export type JsonObject = { [key: string]: unknown };

/** The v1beta1 form (durations as `1m0s`): what `/configz` shows and drop-ins are merged into. */
export function toVersioned(config: KubeletConfiguration): JsonObject {
  return z.encode(kubeletConfigurationSchema, config);
}
