import { lstat, stat, statfs } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { messageOf } from '../../../machines/values/message-of.ts';
import { codeOf, ignoring } from '../files/host-failure.ts';
import { readTail } from '../files/read-tail.ts';
import { checkHostPath } from './host-path.ts';
import { openWithin } from './open-within.ts';

/** Sizes that statfs(2) tells. */
export interface StatfsSizes {
  bsize: number;
  blocks: number;
  bfree: number;
  bavail: number;
  files: number;
  ffree: number;
}

/** What is done on file systems of others, with params and results as plain JSON. */
export interface StrangeCatalog {
  /** See `checkHostPath`. */
  hostPath: { params: { path: string; type: string }; result: object };
  /** What is at the path, links followed. */
  kind: { params: { path: string }; result: { kind: 'directory' | 'block' | 'other' | 'none' } };
  /** Group that owns what is at the path, links followed. */
  owner: { params: { path: string }; result: { gid: number } };
  statfs: { params: { path: string }; result: StatfsSizes };
  /** The last bytes of a regular file as text. */
  tail: { params: { path: string; maxBytes: number }; result: { text: string } };
  /** Device and inode of what is at the path. */
  identity: { params: { path: string }; result: { identity: string } };
  /** Opens a `subPath` of the volume `path`, see `openWithin`; `fd` stays open until `close`. */
  open: { params: { path: string; subPath: string }; result: { fd: number; directory: boolean; identity: string } };
}

/** One call, `do` names it. */
export type StrangeCall<T extends keyof StrangeCatalog = keyof StrangeCatalog> = {
  [K in T]: { do: K } & StrangeCatalog[K]['params'];
}[T];

/** To the helper process. */
export type ToHelper = { id: number; call: StrangeCall } | { close: number };
/** From it. */
export type FromHelper =
  | { id: number; result: StrangeCatalog[keyof StrangeCatalog]['result'] }
  | { id: number; failure: { code: string; message: string } };

const handles = new Map<number, FileHandle>();

/** Closes what an `open` left open. */
export async function closeOpened(fd: number): Promise<void> {
  const handle = handles.get(fd);
  handles.delete(fd);
  await handle?.close();
}

/** Carries out a call and answers it; never rejects. */
export async function answerTo(id: number, call: StrangeCall): Promise<FromHelper> {
  try {
    return { id, result: await perform(call) };
  } catch (error) {
    return { id, failure: { code: codeOf(error), message: messageOf(error) } };
  }
}

async function perform(call: StrangeCall): Promise<StrangeCatalog[keyof StrangeCatalog]['result']> {
  switch (call.do) {
    case 'hostPath':
      await checkHostPath(call.path, call.type);
      return {};
    case 'kind': {
      const info = await ignoring(stat(call.path), 'ENOENT');
      if (info === undefined) return { kind: 'none' };
      return { kind: info.isDirectory() ? 'directory' : info.isBlockDevice() ? 'block' : 'other' };
    }
    case 'owner':
      return { gid: (await stat(call.path)).gid };
    case 'statfs': {
      const { bsize, blocks, bfree, bavail, files, ffree } = await statfs(call.path);
      return { bsize, blocks, bfree, bavail, files, ffree };
    }
    case 'tail':
      return { text: (await readTail(call.path, call.maxBytes)).toString('utf8') };
    case 'identity':
      return { identity: identityOf(await lstat(call.path)) };
    case 'open': {
      const handle = await openWithin(call.path, call.subPath);
      handles.set(handle.fd, handle);
      const found = await handle.stat();
      return { fd: handle.fd, directory: found.isDirectory(), identity: identityOf(found) };
    }
  }
}

function identityOf({ dev, ino }: { dev: number; ino: number }): string {
  return `${dev}:${ino}`;
}
