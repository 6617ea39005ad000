import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Kubernetes release whose node agent this is compatible with. */
export const KUBERNETES_VERSION = 'v1.35.4';

/** `v1.35.4-actorlet.0.1.0`: the release, then actorlet's own version out of the nearest package.json. */
export function agentVersion(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (folder !== '/') {
    const file = join(folder, 'package.json');
    if (existsSync(file)) {
      const { name, version } = JSON.parse(readFileSync(file, 'utf8')) as { name?: string; version?: string };
      if (name === 'actorlet' && version !== undefined) return `${KUBERNETES_VERSION}-actorlet.${version}`;
    }
    folder = dirname(folder);
  }
  return `${KUBERNETES_VERSION}-actorlet.0.0.0`;
}
