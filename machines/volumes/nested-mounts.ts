import type { Pod } from '../protocol/api-types.ts';
import { allContainers } from './pod-containers.ts';

/**
 * Folders that must exist in a volume which containers cannot write to, because another volume is mounted there:
 * with this volume at `/a` and another one at `/a/b/c`, the folder `b/c`. Only the outermost ones.
 */
export function nestedMounts(pod: Pod, volume: string): { folders: string[] } | { fault: string } {
  const folders = new Set<string>();
  for (const { volumeMounts = [] } of allContainers(pod)) {
    const all = volumeMounts.map((mount) => clean(mount.mountPath)).sort();
    for (const own of volumeMounts.filter(({ name }) => name === volume).map((mount) => clean(mount.mountPath))) {
      if (own.startsWith('../')) return { fault: `invalid container mount point ${own}` };
      const base = `${own}/`;
      const outer: string[] = [];
      for (const path of all) {
        if (!path.startsWith(base) || outer.some((prefix) => path.startsWith(prefix))) continue;
        outer.push(`${path}/`);
        folders.add(path.slice(base.length));
      }
    }
  }
  return { folders: [...folders] };
}

/** The path without `.`, empty parts and, where a part stands before it, `..`. */
function clean(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.length > 0 && parts.at(-1) !== '..') parts.pop();
    else if (!path.startsWith('/')) parts.push('..');
  }
  return `${path.startsWith('/') ? '/' : ''}${parts.join('/')}`;
}
