import type { DockerLogin } from './docker-config.ts';
import { locationKey, matcherFor } from './registry-match.ts';

const DEFAULT_REGISTRY = 'index.docker.io';

/**
 * All logins of `configs` that may open `repository` (see {@link repositoryOf}), the most special location first;
 * logins of one location in the order of `configs`. When none matches, an image of Docker Hub gets the logins of
 * `index.docker.io`. Several logins are possible: they are tried one after the other, so that they can be rotated.
 */
export function lookUpLogins<L extends DockerLogin>(
  configs: readonly Readonly<Record<string, L>>[],
  repository: string,
): L[] {
  const byKey = new Map<string, L[]>();
  for (const config of configs) {
    for (const [location, login] of Object.entries(config)) {
      const key = locationKey(location);
      const list = byKey.get(key);
      if (list === undefined) byKey.set(key, [login]);
      else list.push(login);
    }
  }
  const matching = [...byKey.keys()].filter(matcherFor(repository)).sort().reverse();
  if (matching.length > 0) return matching.flatMap((key) => byKey.get(key) ?? []);
  return isDefaultRegistry(repository) ? (byKey.get(DEFAULT_REGISTRY) ?? []) : [];
}

/**
 * The image's repository with its registry, without tag and digest: `nginx:1` -> `docker.io/library/nginx`,
 * `index.docker.io/a/b` -> `docker.io/a/b`. The image was checked before.
 */
export function repositoryOf(image: string): string {
  const at = image.indexOf('@');
  let name = at < 0 ? image : image.slice(0, at);
  const colon = name.lastIndexOf(':');
  if (colon > name.lastIndexOf('/')) name = name.slice(0, colon);
  const slash = name.indexOf('/');
  const first = slash < 0 ? '' : name.slice(0, slash);
  const isHost = /[.:]/.test(first) || first === 'localhost' || first.toLowerCase() !== first;
  let host = isHost ? first : 'docker.io';
  let path = isHost ? name.slice(slash + 1) : name;
  if (host === DEFAULT_REGISTRY) host = 'docker.io';
  if (host === 'docker.io' && !path.includes('/')) path = `library/${path}`;
  return `${host}/${path}`;
}

function isDefaultRegistry(repository: string): boolean {
  const slash = repository.indexOf('/');
  if (slash < 0) return repository !== '';
  const first = repository.slice(0, slash);
  if (first === '') return false;
  return first === 'docker.io' || first === DEFAULT_REGISTRY || !/[.:]/.test(first);
}
