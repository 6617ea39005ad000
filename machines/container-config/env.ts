import type { Container, Pod } from '../protocol/api-types.ts';
import type { EnvEntry } from '../protocol/cri-shapes.ts';
import type { EnvPlan } from '../protocol/effects.ts';
import type { NodeSettings } from '../protocol/node-settings.ts';
import { podIdentity } from '../sandbox-config/pod-identity.ts';
import { configError } from './config-error.ts';
import type { Failed } from './config-error.ts';
import { envPlan, envSteps } from './env-plan.ts';
import type { EnvSettings } from './env-plan.ts';
import { expandFrom } from './expansion.ts';

/** The environment of a container; with `plan` it is the worker who makes it, and `envs` is empty. */
export interface ContainerEnv {
  envs: EnvEntry[];
  plan?: EnvPlan;
}

/**
 * The container's environment: each variable once, in the order of its first appearance, with the last value.
 * `$(NAME)` sees only what stands before it. A node without an API server has no config maps and secrets (a container
 * that names one fails, with an optional reference too, as on such a kubelet). Where there is one (`settings.cluster`),
 * where a variable stands in a file, and where plugins may have given some (`ofPlugins`), the worker makes the environment from a plan.
 */
export function containerEnv(
  pod: Pod,
  container: Container,
  podIPs: readonly string[],
  settings: EnvSettings & Pick<NodeSettings, 'cluster'>,
  volumePaths: Record<string, string>,
  ofPlugins = false,
): ContainerEnv | Failed {
  if (settings.cluster === true || ofPlugins) return planned(pod, container, podIPs, settings, volumePaths);
  const values = new Map<string, string>();
  for (const step of envSteps(pod, container, podIPs, settings, volumePaths)) {
    if ('fault' in step) return configError(step.fault);
    if (step.step === 'all' || step.step === 'key') return configError(noClient(step.kind, step.object, pod));
    if (step.step === 'file') return planned(pod, container, podIPs, settings, volumePaths);
    values.set(step.name, step.step === 'expand' ? expandFrom(step.value, values) : step.value);
  }
  return { envs: [...values].map(([key, value]) => ({ key, value })) };
}

function planned(...given: Parameters<typeof envPlan>): ContainerEnv | Failed {
  const made = envPlan(...given);
  return 'error' in made ? made : { envs: [], plan: made.plan };
}

function noClient(kind: 'configMap' | 'secret', name: string, pod: Pod): string {
  return `couldn't get ${kind} ${podIdentity(pod).namespace}/${name}, no kubeClient defined`;
}
