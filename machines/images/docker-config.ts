import { isObject, readObject } from '../values/json-object.ts';

/** User and password of one registry entry. */
export interface DockerLogin {
  username: string;
  password: string;
  /** Only there when it is not empty; no registry is told, but it counts in a login's hash. */
  email?: string;
}

/** Logins by registry location as written: `https://index.docker.io/v1/`, `gcr.io/project`, `*.example.com:5000`. */
export type DockerConfig = Record<string, DockerLogin>;

/** Secret types that hold logins, with the key of their one value. */
export const PULL_SECRET_KEYS: ReadonlyMap<string, string> = new Map([
  ['kubernetes.io/dockerconfigjson', '.dockerconfigjson'],
  ['kubernetes.io/dockercfg', '.dockercfg'],
]);

/**
 * Reads `~/.docker/config.json` (entries under `auths`) or, with `legacy`, `.dockercfg` (entries at the top).
 * An entry's `auth` (base64 of `user:password`, padded or not) wins over its `username` and `password`.
 * The error says what is wrong and never shows a value.
 */
export function parseDockerConfig(text: string, legacy: boolean): { logins: DockerConfig } | { fault: string } {
  const read = readObject(text);
  if ('fault' in read) return read;
  const { object } = read;
  const entries = legacy ? object : (object['auths'] ?? {});
  if (!isObject(entries)) return { fault: 'field "auths" is no JSON object' };
  const logins: DockerConfig = {};
  for (const [location, entry] of Object.entries(entries)) {
    const login = parseLogin(entry);
    if ('fault' in login) return { fault: `entry "${location}": ${login.fault}` };
    logins[location] = login;
  }
  return { logins };
}

function parseLogin(entry: unknown): DockerLogin | { fault: string } {
  if (!isObject(entry)) return { fault: 'it is no JSON object' };
  const text: Record<string, string> = {};
  for (const field of ['username', 'password', 'auth', 'email']) {
    const value = entry[field] ?? '';
    if (typeof value !== 'string') return { fault: `field "${field}" is no string` };
    text[field] = value;
  }
  const { auth = '', username = '', password = '' } = text;
  const email = text['email'] ? { email: text['email'] } : {};
  if (auth === '') return { username, password, ...email };
  const decoded = fromBase64(auth);
  if (decoded === null) return { fault: 'field "auth" is no base64' };
  const colon = decoded.indexOf(':');
  if (colon < 0) return { fault: 'unable to parse auth field, must be formatted as base64(username:password)' };
  return { username: decoded.slice(0, colon), password: decoded.slice(colon + 1), ...email };
}

function fromBase64(text: string): string | null {
  try {
    const bytes = Uint8Array.from(atob(text.trim()), (char) => char.charCodeAt(0));
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
