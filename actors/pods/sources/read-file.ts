import type { BigIntStats } from 'node:fs';
import { constants, open, stat } from 'node:fs/promises';
import { ActorletError } from '../../../machines/errors/define.ts';
import { sourceErrors } from '../../../machines/errors/source-errors.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { MAX_MANIFEST_BYTES } from './parse-manifest.ts';

/** What looking at one file gave. `same`: not read, because nothing about it changed. */
export type FileLook =
  | { kind: 'text'; text: string; signature: string; identity: string }
  | { kind: 'same' }
  | { kind: 'gone' }
  | { kind: 'failed'; error: ActorletError; signature: string; identity: string };

/** errno name of a system error, e.g. `ENOENT`. */
export function errnoOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : '';
}

/** Inode and time of birth of a file: of two files of one name, are they the same one? '' when there is none. */
export async function identityOf(path: string): Promise<string> {
  const found = await stat(path, { bigint: true }).catch(() => null);
  return found === null ? '' : identityIn(found);
}

function identityIn({ dev, ino, birthtimeNs }: BigIntStats): string {
  return `${dev}/${ino}/${birthtimeNs}`;
}

/** Reads a manifest unless its size, times and inode are those of `known`. Never blocks on a pipe or a device. */
export async function lookAtFile(path: string, known: string | undefined): Promise<FileLook> {
  try {
    const found = await stat(path, { bigint: true });
    const signature = `${found.dev}/${found.ino}/${found.size}/${found.mtimeNs}/${found.ctimeNs}`;
    if (signature === known) return { kind: 'same' };
    const identity = identityIn(found);
    if (!found.isFile()) {
      const kind = found.isDirectory() ? 'a folder' : 'a special file';
      return {
        kind: 'failed',
        signature,
        identity,
        error: new ActorletError(sourceErrors.notAFile, { place: path, kind }),
      };
    }
    if (found.size >= BigInt(MAX_MANIFEST_BYTES)) return tooLarge(path, signature, identity);
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const bytes = await file.readFile();
      if (bytes.length >= MAX_MANIFEST_BYTES) return tooLarge(path, signature, identity);
      return { kind: 'text', text: bytes.toString('utf8'), signature, identity };
    } finally {
      await file.close();
    }
  } catch (error) {
    const code = errnoOf(error);
    // A link that leads nowhere counts as gone too: there is nothing to read.
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'gone' };
    const problem = code || messageOf(error);
    return {
      kind: 'failed',
      signature: '',
      identity: '',
      error: new ActorletError(sourceErrors.unreadableFile, { place: path, problem }, { cause: error }),
    };
  }
}

function tooLarge(path: string, signature: string, identity: string): FileLook {
  const error = new ActorletError(sourceErrors.tooLarge, { place: path, limit: MAX_MANIFEST_BYTES });
  return { kind: 'failed', signature, identity, error };
}
