import type { Container, Pod } from '../protocol/api-types.ts';
import type { EnvPlan, EnvStep } from '../protocol/effects.ts';
import { behaves } from '../protocol/behaviour.ts';
import type { NodeSettings } from '../protocol/node-settings.ts';
import { isStaticPod } from '../qos/critical-pod.ts';
import { podIdentity } from '../sandbox-config/pod-identity.ts';
import { configError } from './config-error.ts';
import type { Failed } from './config-error.ts';
import { envFieldValue } from './downward-fields.ts';
import { goQuote } from '../values/go-quote.ts';
import { envResourceValue } from './resource-fields.ts';

/** What of the node a variable may tell, and which kinds of variables it has. */
export type EnvSettings = Pick<
  NodeSettings,
  'allocatable' | 'behaviour' | 'envFiles' | 'givenIPs' | 'nodeIPs' | 'nodeName'
>;
type EnvVar = NonNullable<Container['env']>[number];
type FileKeyRef = NonNullable<NonNullable<EnvVar['valueFrom']>['fileKeyRef']>;
type EnvFrom = NonNullable<Container['envFrom']>[number];

/**
 * How the worker makes the container's environment on a node with an API server (`settings.cluster`), or where it
 * names files. What the machine knows is in the plan as a value: pod fields, addresses, resources. What it may never
 * see (configMaps, secrets, files) or does not know (services) is named. `volumePaths`: folders of the pod's volumes.
 */
export function envPlan(
  pod: Pod,
  container: Container,
  podIPs: readonly string[],
  settings: EnvSettings,
  volumePaths: Record<string, string>,
): { plan: EnvPlan } | Failed {
  const steps: EnvStep[] = [];
  for (const step of envSteps(pod, container, podIPs, settings, volumePaths)) {
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

/** The steps in order, or why one cannot be made: `envFrom` first, then the variables as they stand. */
export function* envSteps(
  pod: Pod,
  container: Container,
  podIPs: readonly string[],
  settings: EnvSettings,
  volumePaths: Record<string, string>,
): Generator<EnvStep | { fault: string }> {
  for (const source of container.envFrom ?? []) yield* allOf(source);
  for (const variable of container.env ?? []) yield stepOf(variable, pod, container, podIPs, settings, volumePaths);
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
  volumePaths: Record<string, string>,
): EnvStep | { fault: string } {
  if (value) return { step: 'expand', name, value };
  const kind = valueFrom?.configMapKeyRef ? 'configMap' : 'secret';
  const ref = valueFrom?.configMapKeyRef ?? valueFrom?.secretKeyRef;
  if (valueFrom?.fieldRef) return known(name, envFieldValue(valueFrom.fieldRef, pod, podIPs, settings));
  if (valueFrom?.resourceFieldRef) {
    return known(name, envResourceValue(valueFrom.resourceFieldRef, pod, container, settings));
  }
  if (ref) return { step: 'key', name, kind, object: ref.name ?? '', key: ref.key, optional: ref.optional === true };
  if (valueFrom?.fileKeyRef) return fromFile(name, valueFrom.fileKeyRef, settings, volumePaths);
  return { step: 'set', name, value: '' };
}

function known(name: string, found: { value: string } | { fault: string }): EnvStep | { fault: string } {
  return 'fault' in found ? found : { step: 'set', name, value: found.value };
}

/**
 * KEP-3721: the value stands in a file of a volume. With the gate off kubelet knows no such source, and sets the
 * variable to nothing. A volume that no container mounts is not set up, and so not found, as with kubelet.
 */
function fromFile(
  name: string,
  { volumeName, path, key, optional }: FileKeyRef,
  settings: EnvSettings,
  volumePaths: Record<string, string>,
): EnvStep | { fault: string } {
  if (!behaves(settings, 'envFiles'))
    return { fault: `environment variable ${name}: valueFrom.fileKeyRef is not supported by this agent yet` };
  if (settings.envFiles === false) return { step: 'set', name, value: '' };
  const volumePath = Object.hasOwn(volumePaths, volumeName) ? volumePaths[volumeName] : undefined;
  if (volumePath === undefined)
    return { fault: `cannot find the volume ${goQuote(volumeName)} referenced by FileKeyRef` };
  return { step: 'file', name, volumePath, path, key, optional: optional === true };
}
