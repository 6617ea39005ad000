import type { Container, Pod } from '../protocol/api-types.ts';
import type { EnvPlan, EnvStep } from '../protocol/effects.ts';
import { isStaticPod } from '../qos/critical-pod.ts';
import { podIdentity } from '../sandbox-config/pod-identity.ts';
import { configError } from './config-error.ts';
import type { Failed } from './config-error.ts';
import { envFieldValue } from './downward-fields.ts';
import { fileKeyFault } from './env.ts';
import type { EnvSettings } from './env.ts';
import { envResourceValue } from './resource-fields.ts';

type EnvVar = NonNullable<Container['env']>[number];
type EnvFrom = NonNullable<Container['envFrom']>[number];

/**
 * How the worker makes the container's environment on a node with an API server (`settings.cluster`). What the
 * machine knows is in the plan as a value: pod fields, addresses, resources. What it may never see (configMaps,
 * secrets) or does not know (services) is named.
 */
export function envPlan(
  pod: Pod,
  container: Container,
  podIPs: readonly string[],
  settings: EnvSettings,
): { plan: EnvPlan } | Failed {
  const steps: EnvStep[] = [];
  for (const source of container.envFrom ?? []) steps.push(...allOf(source));
  for (const variable of container.env ?? []) {
    const step = stepOf(variable, pod, container, podIPs, settings);
    if ('fault' in step) return configError(step.fault);
    steps.push(step);
  }
  const plan: EnvPlan = {
    namespace: podIdentity(pod).namespace,
    // The API server's default; only a static pod may come without it.
    serviceLinks: pod.spec?.enableServiceLinks !== false,
    steps,
    command: [...(container.command ?? [])],
    args: [...(container.args ?? [])],
  };
  if (isStaticPod(pod)) plan.staticPod = true;
  return { plan };
}

function allOf({ configMapRef, secretRef, prefix = '' }: EnvFrom): EnvStep[] {
  const kind = configMapRef ? 'configMap' : 'secret';
  const ref = configMapRef ?? secretRef;
  if (!ref) return [];
  return [{ step: 'all', kind, object: ref.name ?? '', optional: ref.optional === true, prefix }];
}

function stepOf(
  { name, value, valueFrom }: EnvVar,
  pod: Pod,
  container: Container,
  podIPs: readonly string[],
  settings: EnvSettings,
): EnvStep | { fault: string } {
  if (value) return { step: 'expand', name, value };
  const kind = valueFrom?.configMapKeyRef ? 'configMap' : 'secret';
  const ref = valueFrom?.configMapKeyRef ?? valueFrom?.secretKeyRef;
  if (valueFrom?.fieldRef) return known(name, envFieldValue(valueFrom.fieldRef, pod, podIPs, settings));
  if (valueFrom?.resourceFieldRef) {
    return known(name, envResourceValue(valueFrom.resourceFieldRef, pod, container, settings));
  }
  if (ref) return { step: 'key', name, kind, object: ref.name ?? '', key: ref.key, optional: ref.optional === true };
  if (valueFrom?.fileKeyRef) return { fault: fileKeyFault(name) };
  return { step: 'set', name, value: '' };
}

function known(name: string, found: { value: string } | { fault: string }): EnvStep | { fault: string } {
  return 'fault' in found ? found : { step: 'set', name, value: found.value };
}
