import type { Logger } from 'pino';
import { ActorletError } from '../../../machines/errors/define.ts';
import { imageErrors } from '../../../machines/errors/image-errors.ts';
import { parseDockerConfig, PULL_SECRET_KEYS } from '../../../machines/images/docker-config.ts';
import type { DockerConfig, DockerLogin } from '../../../machines/images/docker-config.ts';
import type { ImagePullServiceAccount } from '../../../machines/images/pull-record.ts';
import { lookUpLogins, repositoryOf } from '../../../machines/images/keyring.ts';
import type { PullingPod } from './plugin-token.ts';
import type { ObjectContent } from '../../../machines/protocol/ask.ts';

/** Where logins come from; each may be absent. */
export interface LoginSources {
  /** A pull secret's content, null when there is none (`ObjectStore.get`). */
  pullSecret?: (namespace: string, name: string) => Promise<ObjectContent | null>;
  /** The node's own docker configuration. */
  nodeLogins?: () => Promise<DockerConfig>;
  /** Credential provider plugins, asked with the repository and who pulls; in the order of their configuration. Never rejects. */
  providers?: (repository: string, pod: PullingPod | null) => Promise<ProviderLogins[]>;
  log: Logger;
}

/** What one plugin answered. */
export interface ProviderLogins {
  logins: DockerConfig;
  /** It was given a token of this service account, so the logins are for its pods alone. */
  serviceAccount?: ImagePullServiceAccount;
}

/** A login, and the pull secret or service account it is from; without one it is for all pods of the node. */
export interface TrackedLogin extends DockerLogin {
  secret?: ImagePullServiceAccount;
  serviceAccount?: ImagePullServiceAccount;
}

/** What is known before a pull. */
export interface PullLogins {
  /** To be tried one after the other; empty: without a login. */
  logins: TrackedLogin[];
  /** Names of pull secrets that could not be had. */
  missing: string[];
}

/**
 * The logins for an image: of the pod's pull secrets, then of the node's file, then of the plugins.
 * @throws ActorletError IMG001 for a secret that holds no docker configuration
 */
export async function findPullLogins(
  image: string,
  namespace: string,
  pullSecrets: readonly string[],
  sources: LoginSources,
  pod: PullingPod | null,
): Promise<PullLogins> {
  const repository = repositoryOf(image);
  const [{ logins, missing }, ofNode, ofProviders] = await Promise.all([
    findSecretLogins(image, namespace, pullSecrets, sources),
    sources.nodeLogins?.() ?? {},
    findProviderLogins(repository, pod, sources),
  ]);
  return { logins: [...logins, ...lookUpLogins<TrackedLogin>([ofNode], repository), ...ofProviders], missing };
}

/** The service account whose token brought a login for the image; null without such a login. Never rejects. */
export async function findLoginAccount(
  image: string,
  pod: PullingPod | null,
  sources: LoginSources,
): Promise<ImagePullServiceAccount | null> {
  const logins = await findProviderLogins(repositoryOf(image), pod, sources);
  return logins.find(({ serviceAccount }) => serviceAccount !== undefined)?.serviceAccount ?? null;
}

async function findProviderLogins(
  repository: string,
  pod: PullingPod | null,
  { providers }: LoginSources,
): Promise<TrackedLogin[]> {
  const answers = (await providers?.(repository, pod)) ?? [];
  const configs = answers.map(({ logins, serviceAccount }) =>
    serviceAccount === undefined ? logins : tracked(logins, { serviceAccount }),
  );
  return lookUpLogins<TrackedLogin>(configs, repository);
}

function tracked(logins: DockerConfig, from: Partial<TrackedLogin>): Record<string, TrackedLogin> {
  return Object.fromEntries(Object.entries(logins).map(([at, login]) => [at, { ...login, ...from }]));
}

/**
 * The logins for an image that are the pod's own.
 * @throws ActorletError IMG001 for a secret that holds no docker configuration
 */
export async function findSecretLogins(
  image: string,
  namespace: string,
  pullSecrets: readonly string[],
  sources: LoginSources,
): Promise<PullLogins> {
  const { configs, missing } = await readSecrets(namespace, pullSecrets, sources);
  return { logins: lookUpLogins(configs, repositoryOf(image)), missing };
}

/** Names of the pull secrets that cannot be had. Never rejects: what is in the others is not looked at. */
export async function missingSecrets(
  namespace: string,
  names: readonly string[],
  sources: LoginSources,
): Promise<string[]> {
  const found = await fetchSecrets(namespace, names, sources);
  return found.flatMap(({ name, content }) => (content === null ? [name] : []));
}

async function readSecrets(
  namespace: string,
  names: readonly string[],
  sources: LoginSources,
): Promise<{ configs: Record<string, TrackedLogin>[]; missing: string[] }> {
  const configs: Record<string, TrackedLogin>[] = [];
  const missing: string[] = [];
  for (const { name, content } of await fetchSecrets(namespace, names, sources)) {
    if (content === null) missing.push(name);
    else {
      const config = secretConfig(content);
      if (config === null) continue;
      if ('fault' in config)
        throw new ActorletError(imageErrors.pullSecretInvalid, { namespace, name, problem: config.fault });
      const secret = { uid: content.uid ?? '', namespace, name };
      configs.push(tracked(config.logins, { secret }));
    }
  }
  return { configs, missing };
}

async function fetchSecrets(
  namespace: string,
  names: readonly string[],
  { pullSecret, log }: LoginSources,
): Promise<{ name: string; content: ObjectContent | null }[]> {
  // The API lets empty names pass.
  const wanted = names.filter((name) => name !== '');
  return Promise.all(
    wanted.map(async (name) => {
      try {
        return { name, content: (await pullSecret?.(namespace, name)) ?? null };
      } catch (err) {
        log.info({ secret: `${namespace}/${name}`, err }, 'Unable to retrieve pull secret');
        return { name, content: null };
      }
    }),
  );
}

/** Null for a secret of another type, or an empty one: kubelet passes over it. */
function secretConfig({ type, data, binaryData }: ObjectContent): ReturnType<typeof parseDockerConfig> | null {
  const key = PULL_SECRET_KEYS.get(type);
  if (key === undefined) return null;
  if (binaryData[key] !== undefined) return { fault: `key "${key}" is no text` };
  const text = data[key] ?? '';
  return text === '' ? null : parseDockerConfig(text, key === '.dockercfg');
}
