import { isObject } from '../../../machines/values/json-object.ts';
import { parseGoDuration } from '../../../machines/values/go-duration.ts';
import type { JsonObject } from './kubelet-configuration.ts';

/** Fields whose zero value (`''`, 0, `0s`) in a file means "take the default" (SetDefaults_KubeletConfiguration). */
const ZERO_IS_UNSET = [
  'syncFrequency',
  'fileCheckFrequency',
  'httpCheckFrequency',
  'address',
  'port',
  'authentication.webhook.cacheTTL',
  'authorization.mode',
  'authorization.webhook.cacheAuthorizedTTL',
  'authorization.webhook.cacheUnauthorizedTTL',
  'registryBurst',
  'eventBurst',
  'healthzBindAddress',
  'streamingConnectionIdleTimeout',
  'nodeStatusReportFrequency',
  'nodeStatusUpdateFrequency',
  'nodeLeaseDurationSeconds',
  'imageMinimumGCAge',
  'imagePullCredentialsVerificationPolicy',
  'volumeStatsAggPeriod',
  'cgroupDriver',
  'cpuManagerPolicy',
  'cpuManagerReconcilePeriod',
  'memoryManagerPolicy',
  'topologyManagerPolicy',
  'topologyManagerScope',
  'runtimeRequestTimeout',
  'hairpinMode',
  'maxPods',
  'maxOpenFiles',
  'contentType',
  'kubeAPIBurst',
  'evictionPressureTransitionPeriod',
  'containerLogMaxSize',
  'configMapAndSecretChangeDetectionStrategy',
  'volumePluginDir',
  'logging.format',
  'logging.flushFrequency',
  'logging.options.text.infoBufferSize',
  'logging.options.json.infoBufferSize',
  'containerRuntimeEndpoint',
  'podLogsDir',
] as const;

/**
 * A copy of a raw configuration as Go reads it before it sets defaults: null is unset everywhere, a zero value is
 * unset where the field is no pointer, and the two defaults that depend on another field are filled in.
 */
export function withoutZeroValues(raw: JsonObject): JsonObject {
  const out = dropNulls(raw);
  for (const path of ZERO_IS_UNSET) {
    const keys = path.split('.');
    const last = keys.pop() ?? path;
    let parent: unknown = out;
    for (const key of keys) parent = isObject(parent) ? parent[key] : undefined;
    if (isObject(parent) && isZero(parent[last])) delete parent[last];
  }
  if (typeof out.podPidsLimit === 'number' && out.podPidsLimit < 0) out.podPidsLimit = -1;
  if (out.nodeStatusReportFrequency === undefined && out.nodeStatusUpdateFrequency !== undefined) {
    out.nodeStatusReportFrequency = out.nodeStatusUpdateFrequency;
  }
  if (out.serializeImagePulls === undefined && typeof out.maxParallelImagePulls === 'number') {
    out.serializeImagePulls = out.maxParallelImagePulls < 2;
  }
  return out;
}

function isZero(value: unknown): boolean {
  return value === '' || value === 0 || (typeof value === 'string' && parseGoDuration(value) === 0);
}

function dropNulls(value: JsonObject): JsonObject {
  const out: JsonObject = {};
  for (const [key, item] of Object.entries(value)) {
    if (item !== null) out[key] = isObject(item) ? dropNulls(item) : item;
  }
  return out;
}
