import { z } from 'zod';
import { cgroupFields } from './fields/cgroup-fields.ts';
import { evictionFields } from './fields/eviction-fields.ts';
import { networkFields } from './fields/network-fields.ts';
import { nodeFields } from './fields/node-fields.ts';
import { observabilityFields } from './fields/observability-fields.ts';
import { podSourceFields } from './fields/pod-source-fields.ts';
import { resourceManagerFields } from './fields/resource-manager-fields.ts';
import { runtimeFields } from './fields/runtime-fields.ts';
import { serverFields } from './fields/server-fields.ts';

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
