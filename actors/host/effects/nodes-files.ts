import { readFile, stat } from 'node:fs/promises';
import type { EffectCatalog } from '../../../machines/protocol/effects.ts';
import type { HostResolver } from '../../../machines/protocol/node-settings.ts';
import { parseResolvConf } from '../../../machines/sandbox-config/resolv-conf.ts';
import { ERRNO_WORDS } from '../files/errno-words.ts';
import { codeOf, HostFailure } from '../files/host-failure.ts';

/** Most that is read of a resolver file, bytes (kubelet: maxResolvConfLength). */
const MOST = 10 << 20;

/** `host.ReadResolver`. Rejects with kubelet's words when the file cannot be read or parsed. */
export async function readResolver({ path }: EffectCatalog['host.ReadResolver']['params']): Promise<HostResolver> {
  const { size } = await stat(path).catch((error: unknown) => refuse(path, error));
  const parsed = size > MOST ? { error: 'the read limit is reached' } : parseResolvConf(await nodesFile(path));
  if ('error' in parsed) throw new HostFailure('EINVAL', parsed.error);
  return parsed;
}

/** A file of the node that pods get theirs from. Rejects as Go words it, since that becomes an event. */
export async function nodesFile(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((error: unknown) => refuse(path, error));
}

function refuse(path: string, error: unknown): never {
  const code = codeOf(error);
  const what = code === 'EISDIR' ? 'read' : 'open';
  throw new HostFailure(code, `${what} ${path}: ${ERRNO_WORDS[code] ?? String(error)}`, { cause: error });
}
