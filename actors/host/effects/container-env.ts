import type { Logger } from 'pino';
import type { EnvEntry } from '../../../machines/protocol/cri-shapes.ts';
import { objectsOf, resolveEnv } from '../../../machines/container-config/resolve-env.ts';
import type { ResolvedEnv } from '../../../machines/container-config/resolve-env.ts';
import { expandSubPath } from '../../../machines/container-config/volume-mounts.ts';
import type { ContainerPreparation, EffectCatalog, EnvPlan } from '../../../machines/protocol/effects.ts';
import type { Ask, ObjectContent } from '../../../machines/protocol/ask.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { readEnvFiles } from './env-files.ts';

/** The environment of a container cannot be made; the text is kubelet's and names no value. */
class EnvFailure extends Error {
  /** `CreateContainerConfigError`, or `Internal` when the runtime could not be told the value. */
  readonly code: string;

  constructor(code: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'EnvFailure';
    this.code = code;
  }
}

type CreateParams = EffectCatalog['cri.CreateContainer']['params'];

/**
 * What CreateContainer sends: the config with its environment, command and arguments filled in from the plan. The
 * effect itself stays as it is, for it is journaled.
 *
 * @throws EnvFailure
 */
export async function withEnvironment(
  params: CreateParams,
  log: Logger,
  ask: Ask | undefined,
): Promise<Omit<CreateParams, 'env'>> {
  const { env, ...rest } = params;
  if (env === undefined) return rest;
  const { envs, command, args } = await environmentOf(env, log, ask, rest.config.envs);
  return { ...rest, config: { ...rest.config, envs: [...rest.config.envs, ...envs], command, args } };
}

/**
 * The sub paths of a container with expressions expanded. `askNode`: what the node answers itself, also where there is no API server.
 *
 * @throws EnvFailure
 */
export async function expandedSubPaths(
  { podUid, containerName, subPaths, env, devices }: ContainerPreparation,
  log: Logger,
  ask: Ask | undefined,
  askNode = ask,
): Promise<ContainerPreparation['subPaths']> {
  if (env === undefined) return subPaths;
  const told = devices === true ? await askNode?.('devices.Envs', { podUid, container: containerName }) : undefined;
  const given = told?.envs ?? [];
  const { envs: own } = await environmentOf(env, log, ask, given);
  // Of two of a name the last one counts.
  const envs = [...given, ...own];
  return subPaths.map(({ expand, ...sub }) => {
    if (!expand) return sub;
    const expanded = expandSubPath(sub.subPath, envs);
    if ('fault' in expanded) throw configLacking(expanded.fault);
    // Checked here, where the expression can be named in place of its value, which may be a secret's.
    if (expanded.subPath.startsWith('/'))
      throw configLacking(`error SubPath \`${sub.subPath}\` must not be an absolute path`);
    if (expanded.subPath.split('/').includes('..'))
      throw configLacking(`unable to provision SubPath \`${sub.subPath}\`: must not contain '..'`);
    return { ...sub, subPath: expanded.subPath };
  });
}

/** Asks main for all that the plan names and reads its files, at once, and takes the plan's steps. */
async function environmentOf(
  plan: EnvPlan,
  log: Logger,
  ask: Ask | undefined,
  givenEnvs: readonly EnvEntry[] = [],
): Promise<ResolvedEnv> {
  const [serviceEnvs, objects, files] = await Promise.all([
    serviceEnvsOf(plan, ask),
    objectsNamed(plan, ask),
    readEnvFiles(plan, log),
  ]);
  const resolved = resolveEnv(plan, { objects, files, serviceEnvs, givenEnvs });
  if ('fault' in resolved) throw new EnvFailure(resolved.fault.code, resolved.fault.message);
  return resolved;
}

/** What main answers of each object; the refusals are for whoever takes the steps, for the first in order speaks. */
async function objectsNamed(
  plan: EnvPlan,
  ask: Ask | undefined,
): Promise<Map<string, ObjectContent | EnvFailure | null>> {
  const found = new Map<string, ObjectContent | EnvFailure | null>();
  const answers = [...objectsOf(plan)].map(async ([key, { kind, object }]) => {
    const noClient = `couldn't get ${kind} ${plan.namespace}/${object}, no kubeClient defined`;
    if (ask === undefined) return found.set(key, configLacking(noClient));
    try {
      return found.set(key, (await ask('object.Get', { kind, namespace: plan.namespace, name: object })).found);
    } catch (error) {
      return found.set(key, isNoClient(error) ? configLacking(noClient, error) : asked(error));
    }
  });
  await Promise.all(answers);
  return found;
}

/** A node without an API server sets no service variables. */
async function serviceEnvsOf(plan: EnvPlan, ask: Ask | undefined): Promise<EnvEntry[]> {
  if (ask === undefined) return [];
  try {
    const { envs } = await ask('services.Env', {
      namespace: plan.namespace,
      enableServiceLinks: plan.serviceLinks,
      ...(plan.staticPod && { staticPod: true as const }),
    });
    return envs;
  } catch (error) {
    if (isNoClient(error)) return [];
    throw asked(error);
  }
}

function asked(error: unknown): EnvFailure {
  if (error instanceof EnvFailure) return error;
  return configLacking(messageOf(error), error);
}

function configLacking(message: string, cause?: unknown): EnvFailure {
  return new EnvFailure('CreateContainerConfigError', message, { cause });
}

function isNoClient(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'NoClient';
}
