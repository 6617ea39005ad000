import type { Container, Pod } from '../protocol/api-types.ts';
import type { NodeSettings } from '../protocol/node-settings.ts';
import { podIdentity } from '../sandbox-config/pod-identity.ts';
import { configError } from './config-error.ts';
import type { Failed } from './config-error.ts';
import { envFieldValue } from './downward-fields.ts';
import type { FieldValue } from './downward-fields.ts';
import { expandFrom } from './expansion.ts';
import { envResourceValue } from './resource-fields.ts';

/** CRI `KeyValue`. */
export interface EnvEntry {
  key: string;
  value: string;
}

/** What of the node a variable may tell. */
export type EnvSettings = Pick<NodeSettings, 'allocatable' | 'nodeIPs' | 'nodeName'>;
type EnvVar = NonNullable<Container['env']>[number];
type EnvFrom = NonNullable<Container['envFrom']>[number];

/**
 * The container's environment: each variable once, in the order of its first appearance, with the last value.
 * `$(NAME)` sees only what stands before it. For a node without an API server, which therefore has no config maps and
 * secrets; with one (`settings.cluster`) the worker makes the environment, from `envPlan` of env-plan.ts.
 */
export function containerEnv(
  pod: Pod,
  container: Container,
  podIPs: readonly string[],
  settings: EnvSettings,
): { envs: EnvEntry[] } | Failed {
  const values = new Map<string, string>();
  for (const source of container.envFrom ?? []) {
    const missing = missingSource(source, pod);
    if (missing) return configError(missing);
  }
  for (const variable of container.env ?? []) {
    const found = variableValue(variable, values, pod, container, podIPs, settings);
    if ('fault' in found) return configError(found.fault);
    values.set(variable.name, found.value);
  }
  return { envs: [...values].map(([key, value]) => ({ key, value })) };
}

function variableValue(
  variable: EnvVar,
  before: ReadonlyMap<string, string>,
  pod: Pod,
  container: Container,
  podIPs: readonly string[],
  settings: EnvSettings,
): FieldValue {
  if (variable.value) return { value: expandFrom(variable.value, before) };
  const from = variable.valueFrom;
  if (from?.fieldRef) return envFieldValue(from.fieldRef, pod, podIPs, settings);
  if (from?.resourceFieldRef) return envResourceValue(from.resourceFieldRef, pod, container, settings);
  if (from?.configMapKeyRef) return { fault: noClient('configMap', from.configMapKeyRef.name, pod) };
  if (from?.secretKeyRef) return { fault: noClient('secret', from.secretKeyRef.name, pod) };
  if (from?.fileKeyRef) {
    return { fault: fileKeyFault(variable.name) };
  }
  return { value: '' };
}

/** `fileKeyRef` (KEP-3721) needs a file of a volume. */
export function fileKeyFault(variable: string): string {
  return `environment variable ${variable}: valueFrom.fileKeyRef is not supported by this agent yet`;
}

/** As on a kubelet without an API server such a container fails - with an optional reference too. */
function missingSource(source: EnvFrom, pod: Pod): string | undefined {
  if (source.configMapRef) return noClient('configMap', source.configMapRef.name, pod);
  if (source.secretRef) return noClient('secret', source.secretRef.name, pod);
  return undefined;
}

function noClient(kind: 'configMap' | 'secret', name: string | undefined, pod: Pod): string {
  return `couldn't get ${kind} ${podIdentity(pod).namespace}/${name ?? ''}, no kubeClient defined`;
}
