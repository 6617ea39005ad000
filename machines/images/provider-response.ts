import type { DockerConfig } from './docker-config.ts';
import { isObject, readObject } from '../values/json-object.ts';

/** For what a plugin's answer holds: this repository, all of its registry, or every image. */
export type CacheKeyType = 'Image' | 'Registry' | 'Global';

/** What a credential provider plugin wrote to stdout. */
export interface ProviderResponse {
  cacheKeyType: CacheKeyType;
  /** Duration as Go writes it; undefined = the configured default, `0s` = not to be kept. */
  cacheDuration: string | undefined;
  logins: DockerConfig;
}

/**
 * Reads a `CredentialProviderResponse` (credentialprovider.kubelet.k8s.io). The fault, in kubelet's words where it has
 * some, never shows what was written: it may hold passwords.
 */
export function parseProviderResponse(text: string, apiVersion: string): ProviderResponse | { fault: string } {
  const read = readObject(text);
  if ('fault' in read) return { fault: 'error decoding credential provider plugin response from stdout' };
  const { apiVersion: given, kind, cacheKeyType, cacheDuration, auth } = read.object;
  if (given !== apiVersion) {
    const actual = typeof given === 'string' ? given : '';
    return {
      fault: `apiVersion from credential plugin response did not match expected apiVersion:${apiVersion}, actual apiVersion:${actual}`,
    };
  }
  const logins = loginsOf(auth ?? {});
  const durationFits = cacheDuration == null || typeof cacheDuration === 'string';
  if (kind !== 'CredentialProviderResponse' || logins === null || !durationFits)
    return { fault: 'error decoding credential provider plugin response from stdout' };
  if (cacheKeyType !== 'Image' && cacheKeyType !== 'Registry' && cacheKeyType !== 'Global') {
    const shown = typeof cacheKeyType === 'string' ? cacheKeyType : '';
    return { fault: `credential provider plugin did not return a valid cacheKeyType: ${shown}` };
  }
  return { cacheKeyType, cacheDuration: cacheDuration ?? undefined, logins };
}

function loginsOf(auth: unknown): DockerConfig | null {
  if (!isObject(auth)) return null;
  const logins: DockerConfig = {};
  for (const [location, entry] of Object.entries(auth)) {
    if (!isObject(entry)) return null;
    const { username = '', password = '' } = entry;
    if (typeof username !== 'string' || typeof password !== 'string') return null;
    logins[location] = { username, password };
  }
  return logins;
}
