import type { Container, Pod } from '../protocol/api-types.ts';
import type { EnvEntry } from '../protocol/cri-shapes.ts';
import { podIdentity } from '../sandbox-config/pod-identity.ts';
import { configError } from './config-error.ts';
import type { Failed } from './config-error.ts';
import { envSteps } from './env-plan.ts';
import type { EnvSettings } from './env-plan.ts';
import { expandFrom } from './expansion.ts';

/**
 * The container's environment: each variable once, in the order of its first appearance, with the last value.
 * `$(NAME)` sees only what stands before it. For a node without an API server, which therefore has no config maps and
 * secrets (a container that names one fails, with an optional reference too, as on such a kubelet); with one
 * (`settings.cluster`) the worker makes the environment, from `envPlan` of env-plan.ts.
 */
export function containerEnv(
  pod: Pod,
  container: Container,
  podIPs: readonly string[],
  settings: EnvSettings,
): { envs: EnvEntry[] } | Failed {
  const values = new Map<string, string>();
  for (const step of envSteps(pod, container, podIPs, settings)) {
    if ('fault' in step) return configError(step.fault);
    if (step.step === 'all' || step.step === 'key') return configError(noClient(step.kind, step.object, pod));
    values.set(step.name, step.step === 'expand' ? expandFrom(step.value, values) : step.value);
  }
  return { envs: [...values].map(([key, value]) => ({ key, value })) };
}

function noClient(kind: 'configMap' | 'secret', name: string, pod: Pod): string {
  return `couldn't get ${kind} ${podIdentity(pod).namespace}/${name}, no kubeClient defined`;
}
