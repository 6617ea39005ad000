import { isObject, readObject } from '../values/json-object.ts';

/** A Kubernetes secret that an image was pulled with. */
export interface ImagePullSecret {
  uid: string;
  namespace: string;
  name: string;
  /** Hex SHA-256 of the login, '' when it could not be made; see {@link loginText}. */
  credentialHash: string;
}

/** A service account whose token a credential provider plugin was given. */
export interface ImagePullServiceAccount {
  uid: string;
  namespace: string;
  name: string;
}

/** With what an image may be used (KEP-2535). */
export interface ImagePullCredentials {
  kubernetesSecrets?: ImagePullSecret[];
  kubernetesServiceAccounts?: ImagePullServiceAccount[];
  /** Pulled without a login, or with one that is for all pods of the node. */
  nodePodsAccessible?: boolean;
}

/** An image that was pulled by this node's agent: `ImagePulledRecord`, kubelet.config.k8s.io. */
export interface ImagePulledRecord {
  /** RFC 3339, whole seconds, UTC. */
  lastUpdatedTime: string;
  /** The image's id, as the runtime calls it. */
  imageRef: string;
  /** By image name without tag and digest. */
  credentialMapping: Record<string, ImagePullCredentials>;
}

/** What could be read of a record, and whether it is written in an older version. */
export type ReadRecord<T> = { value: T; outdated: boolean } | { fault: string };

const GROUP = 'kubelet.config.k8s.io';
const VERSION = `${GROUP}/v1beta1`;
const OLD_VERSION = `${GROUP}/v1alpha1`;

/** Content of an `ImagePullIntent` file: the pull of `image` (as the container spells it) is under way. */
export function intentText(image: string): string {
  return `${JSON.stringify({ kind: 'ImagePullIntent', apiVersion: VERSION, image })}\n`;
}

/** Content of an `ImagePulledRecord` file, field by field as kubelet writes it. */
export function recordText({ lastUpdatedTime, imageRef, credentialMapping }: ImagePulledRecord): string {
  const names = Object.keys(credentialMapping).sort();
  const mapping = Object.fromEntries(names.map((name) => [name, ordered(credentialMapping[name] ?? {})]));
  const whole = {
    kind: 'ImagePulledRecord',
    apiVersion: VERSION,
    lastUpdatedTime,
    imageRef,
    ...(names.length > 0 && { credentialMapping: mapping }),
  };
  return `${JSON.stringify(whole)}\n`;
}

/** Reads an `ImagePullIntent`; gives its image. */
export function readIntent(text: string): ReadRecord<string> {
  const read = readKind(text, 'ImagePullIntent');
  if ('fault' in read) return read;
  const { image = '' } = read.value;
  if (typeof image !== 'string') return { fault: 'field "image" is no string' };
  return { value: image, outdated: read.outdated };
}

/** Reads an `ImagePulledRecord`. */
export function readRecord(text: string): ReadRecord<ImagePulledRecord> {
  const read = readKind(text, 'ImagePulledRecord');
  if ('fault' in read) return read;
  const { lastUpdatedTime, imageRef = '', credentialMapping } = read.value;
  if (typeof imageRef !== 'string') return { fault: 'field "imageRef" is no string' };
  const time = lastUpdatedTime ?? '0001-01-01T00:00:00Z';
  if (typeof time !== 'string') return { fault: 'field "lastUpdatedTime" is no string' };
  if (credentialMapping != null && !isObject(credentialMapping))
    return { fault: 'field "credentialMapping" is no object' };
  const mapping: Record<string, ImagePullCredentials> = {};
  for (const [name, value] of Object.entries(credentialMapping ?? {})) {
    const credentials = readCredentials(value);
    if (credentials === null) return { fault: `the credentials of "${name}" are malformed` };
    mapping[name] = credentials;
  }
  return { value: { lastUpdatedTime: time, imageRef, credentialMapping: mapping }, outdated: read.outdated };
}

/**
 * The text whose SHA-256 is a login's `credentialHash`: JSON of user, password and e-mail without empty ones, with the
 * characters escaped that Go's encoder escapes.
 */
export function loginText(login: { username: string; password: string; email?: string }): string {
  const { username, password, email = '' } = login;
  const text = JSON.stringify({
    ...(username !== '' && { username }),
    ...(password !== '' && { password }),
    ...(email !== '' && { email }),
  });
  return text.replace(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function ordered(credentials: ImagePullCredentials): ImagePullCredentials {
  const { kubernetesSecrets = [], kubernetesServiceAccounts = [], nodePodsAccessible = false } = credentials;
  return {
    ...(kubernetesSecrets.length > 0 && {
      kubernetesSecrets: kubernetesSecrets.map(({ uid, namespace, name, credentialHash }) => ({
        uid,
        namespace,
        name,
        credentialHash,
      })),
    }),
    ...(kubernetesServiceAccounts.length > 0 && {
      kubernetesServiceAccounts: kubernetesServiceAccounts.map(({ uid, namespace, name }) => ({
        uid,
        namespace,
        name,
      })),
    }),
    ...(nodePodsAccessible && { nodePodsAccessible }),
  };
}

function readCredentials(value: unknown): ImagePullCredentials | null {
  if (!isObject(value)) return null;
  const { kubernetesSecrets, kubernetesServiceAccounts, nodePodsAccessible } = value;
  const secrets = readList(kubernetesSecrets, ['uid', 'namespace', 'name', 'credentialHash']);
  const accounts = readList(kubernetesServiceAccounts, ['uid', 'namespace', 'name']);
  if (secrets === null || accounts === null) return null;
  if (nodePodsAccessible != null && typeof nodePodsAccessible !== 'boolean') return null;
  return {
    ...(secrets.length > 0 && { kubernetesSecrets: secrets }),
    ...(accounts.length > 0 && { kubernetesServiceAccounts: accounts }),
    ...(nodePodsAccessible === true && { nodePodsAccessible }),
  };
}

function readList<K extends string>(value: unknown, fields: readonly K[]): Record<K, string>[] | null {
  if (value == null) return [];
  if (!Array.isArray(value)) return null;
  const out: Record<K, string>[] = [];
  for (const entry of value as unknown[]) {
    if (!isObject(entry)) return null;
    const read = {} as Record<K, string>;
    for (const field of fields) {
      const text = entry[field] ?? '';
      if (typeof text !== 'string') return null;
      read[field] = text;
    }
    out.push(read);
  }
  return out;
}

function readKind(text: string, kind: string): ReadRecord<Record<string, unknown>> {
  const read = readObject(text);
  if ('fault' in read) return read;
  const { object } = read;
  if (object['kind'] !== kind) return { fault: `its kind is not ${kind}` };
  const version = object['apiVersion'];
  if (version !== VERSION && version !== OLD_VERSION) return { fault: `its apiVersion is not ${VERSION}` };
  return { value: object, outdated: version === OLD_VERSION };
}
