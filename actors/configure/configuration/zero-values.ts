import { isObject } from '../../../machines/values/json-object.ts';
import { parseGoDuration } from '../../../machines/values/go-duration.ts';
import type { JsonObject } from './kubelet-configuration.ts';

/** Fields whose zero value in a file means "take the default" (SetDefaults_KubeletConfiguration), by what is zero for them. */
const TEXTS = [
  'address',
  'authorization.mode',
  'healthzBindAddress',
  'imagePullCredentialsVerificationPolicy',
  'cgroupDriver',
  'cpuManagerPolicy',
  'memoryManagerPolicy',
  'topologyManagerPolicy',
  'topologyManagerScope',
  'hairpinMode',
  'contentType',
  'containerLogMaxSize',
  'configMapAndSecretChangeDetectionStrategy',
  'volumePluginDir',
  'logging.format',
  'containerRuntimeEndpoint',
  'podLogsDir',
] as const;

const NUMBERS = [
  'port',
  'registryBurst',
  'eventBurst',
  'nodeLeaseDurationSeconds',
  'maxPods',
  'maxOpenFiles',
  'kubeAPIBurst',
  // As nanoseconds.
  'logging.flushFrequency',
] as const;

const DURATIONS = [
  'syncFrequency',
  'fileCheckFrequency',
  'httpCheckFrequency',
  'authentication.webhook.cacheTTL',
  'authorization.webhook.cacheAuthorizedTTL',
  'authorization.webhook.cacheUnauthorizedTTL',
  'streamingConnectionIdleTimeout',
  'nodeStatusReportFrequency',
  'nodeStatusUpdateFrequency',
  'imageMinimumGCAge',
  'volumeStatsAggPeriod',
  'cpuManagerReconcilePeriod',
  'runtimeRequestTimeout',
  'evictionPressureTransitionPeriod',
  'logging.flushFrequency',
] as const;

type IsZero = (value: unknown) => boolean;

const ZERO_IS_UNSET: readonly (readonly [paths: readonly string[], isZero: IsZero])[] = [
  [TEXTS, (value) => value === ''],
  [NUMBERS, (value) => value === 0],
  [DURATIONS, (value) => typeof value === 'string' && parseGoDuration(value) === 0],
];

/**
 * A copy of a raw configuration as Go reads it before it sets defaults: null is unset everywhere, a zero value is
 * unset where the field is no pointer, and the two defaults that depend on another field are filled in.
 */
export function withoutZeroValues(raw: JsonObject): JsonObject {
  const out = dropNulls(raw);
  for (const [paths, isZero] of ZERO_IS_UNSET) for (const path of paths) unset(out, path.split('.'), isZero);
  if (typeof out.podPidsLimit === 'number' && out.podPidsLimit < 0) out.podPidsLimit = -1;
  if (out.nodeStatusReportFrequency === undefined && out.nodeStatusUpdateFrequency !== undefined) {
    out.nodeStatusReportFrequency = out.nodeStatusUpdateFrequency;
  }
  if (out.serializeImagePulls === undefined && typeof out.maxParallelImagePulls === 'number') {
    out.serializeImagePulls = out.maxParallelImagePulls < 2;
  }
  return out;
}

function unset(raw: JsonObject, keys: readonly string[], isZero: IsZero): void {
  const [key = '', ...inner] = keys;
  const value = raw[key];
  if (inner.length > 0) {
    if (isObject(value)) unset(value, inner, isZero);
  } else if (isZero(value)) Reflect.deleteProperty(raw, key);
}

function dropNulls(value: JsonObject): JsonObject {
  const out: JsonObject = {};
  for (const [key, item] of Object.entries(value)) {
    if (item !== null) out[key] = isObject(item) ? dropNulls(item) : item;
  }
  return out;
}
