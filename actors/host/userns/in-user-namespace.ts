import { readFileSync } from 'node:fs';

/** Is this process in a user namespace that is not the machine's? The first one maps every id to itself. */
export function inUserNamespace(path = '/proc/self/uid_map'): boolean {
  let map: string;
  try {
    map = readFileSync(path, 'utf8');
  } catch {
    // A kernel without user namespaces.
    return false;
  }
  return map.trim().split(/\s+/).join(' ') !== '0 0 4294967295';
}
