import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { IdRange } from './id-blocks.ts';
import { trimmed } from '../../../machines/values/trim.ts';

const USER = 'kubelet';

/** Where the range comes from; tests give other answers. */
export interface IdSources {
  passwd: () => Promise<string>;
  /** Output of `getsubids [-g] kubelet`; null when there is no such program. */
  subIds: (groups: boolean) => Promise<string | null>;
}

const SYSTEM: IdSources = {
  passwd: () => readFile('/etc/passwd', 'utf8'),
  subIds: async (groups) => {
    try {
      return (await promisify(execFile)('getsubids', groups ? ['-g', USER] : [USER])).stdout;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw new Error(`error retrieving additional ${groups ? 'gids' : 'uids'} for user "${USER}"`, { cause: error });
    }
  },
};

/**
 * Ids that pods may be mapped to: those that `getsubids` names for user `kubelet`, where that user exists; else all after
 * the first block. Rejects with kubelet's texts.
 */
export async function nodeIdRange(blockLength: number, sources: IdSources = SYSTEM): Promise<IdRange> {
  const all = { first: blockLength, length: 2 ** 32 - blockLength };
  const passwd = await sources.passwd().catch(() => '');
  // eslint-disable-next-line no-restricted-syntax -- a constant name
  if (!new RegExp(`^${USER}:`, 'm').test(passwd)) return all;
  const uids = await sources.subIds(false);
  if (uids === null) return all;
  if ((await sources.subIds(true)) !== uids) throw new Error(`mismatched subuids and subgids for user "${USER}"`);
  const lines = trimmed(uids, '\n').split('\n');
  if (lines.length !== 1) throw new Error(`error parsing line ${JSON.stringify(uids)}: it must contain only one line`);
  // "0: kubelet 65536 2147483648"
  const [, first, length] = /^\s*\S+\s+\S+\s+(\d+)\s+(\d+)\s*$/.exec(lines[0] ?? '') ?? [];
  if (first === undefined || length === undefined) throw new Error(`invalid line ${JSON.stringify(uids)}`);
  return { first: Number(first), length: Number(length) };
}
