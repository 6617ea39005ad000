import type { Container, EphemeralContainer, Pod } from '../protocol/api-types.ts';
import type { ContainerPreparation } from '../protocol/effects.ts';
import type { NodeSettings } from '../protocol/node-settings.ts';
import { containerEnv } from './env.ts';
import { envPlan } from './env-plan.ts';
import { subPathMounts } from './volume-mounts.ts';

/**
 * The subPath mounts of a container for `host.PrepareContainer`, with `subPathExpr` expanded from its environment; or,
 * where the worker makes that environment (from API objects or files), with the plan by which it does and expands them.
 * The error is the message of `CreateContainerConfigError`. `ofPlugins`: plugins may have given the container
 * variables.
 */
export function subPathsNeeded(
  pod: Pod,
  container: Container | EphemeralContainer,
  podIPs: readonly string[],
  settings: NodeSettings,
  volumePaths: Record<string, string>,
  ofPlugins = false,
): Pick<ContainerPreparation, 'subPaths' | 'env' | 'devices'> | { error: string } {
  const mounting: Container = container;
  if (!mounting.volumeMounts?.some((mount) => mount.subPath || mount.subPathExpr)) return { subPaths: [] };
  const planned = () => plannedSubPaths(pod, mounting, podIPs, settings, volumePaths, ofPlugins);
  if (settings.cluster === true || ofPlugins) return planned();
  const env = containerEnv(pod, mounting, podIPs, settings, volumePaths);
  if ('error' in env) return { error: env.error.message };
  if (env.plan) return planned();
  const found = subPathMounts(pod, mounting, env.envs, volumePaths);
  return 'error' in found ? { error: found.error.message } : found;
}

function plannedSubPaths(
  pod: Pod,
  container: Container,
  podIPs: readonly string[],
  settings: NodeSettings,
  volumePaths: Record<string, string>,
  ofPlugins: boolean,
): Pick<ContainerPreparation, 'subPaths' | 'env' | 'devices'> | { error: string } {
  const found = subPathMounts(pod, container, null, volumePaths);
  if ('error' in found) return { error: found.error.message };
  if (!found.subPaths.some((sub) => sub.expand)) return found;
  const env = envPlan(pod, container, podIPs, settings, volumePaths);
  if ('error' in env) return { error: env.error.message };
  return { ...found, env: env.plan, ...(ofPlugins && { devices: true as const }) };
}
