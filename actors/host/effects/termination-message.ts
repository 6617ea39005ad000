import { join } from 'node:path';
import type { EffectCatalog } from '../../../machines/protocol/effects.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { codeOf } from '../files/host-failure.ts';
import type { HostSettings } from '../files/host-settings.ts';
import { readAt, readTail, withFile } from '../files/read-tail.ts';
import { untilQuiet } from '../logs/quiet-log.ts';
import { strangeFiles } from '../strange/strange-files.ts';

/** Most bytes of a message that stands in for the file: the log's tail. The file itself may give `maxBytes`. */
const MAX_LOG_BYTES = 2048;
const BLOCK = 16 * 1024;

/**
 * `host.ReadTerminationMessage`: the last `maxBytes` of the file, or, when it is empty or not there and
 * `fallbackLogPath` is given, the last `maxLines` lines of the log, at most 2048 bytes. What cannot be read gives a
 * message that says so, as with the kubelet; the effect itself does not fail.
 */
export async function readTerminationMessage(
  params: EffectCatalog['host.ReadTerminationMessage']['params'],
  { rootDir }: HostSettings,
): Promise<EffectCatalog['host.ReadTerminationMessage']['result']> {
  const { path, fallbackLogPath, maxBytes, maxLines } = params;
  let message = '';
  if (path !== '') {
    try {
      // The runtime names what is mounted there: the file that was made for it, or whatever the pod has mounted over it.
      message = isOwn(path, rootDir)
        ? (await readTail(path, maxBytes)).toString('utf8')
        : (await strangeFiles.call({ do: 'tail', path, maxBytes })).text;
    } catch (error) {
      if (codeOf(error) !== 'ENOENT')
        return { message: `Error on reading termination log ${path}: ${messageOf(error)}` };
    }
  }
  if (message !== '' || fallbackLogPath === undefined) return { message };
  try {
    await untilQuiet(fallbackLogPath);
    const text = parseCriLog(await readLastLines(fallbackLogPath, maxLines));
    return { message: text.subarray(Math.max(0, text.length - Math.min(maxBytes, MAX_LOG_BYTES))).toString('utf8') };
  } catch (error) {
    return { message: `Error on reading termination message from logs: ${unread(fallbackLogPath, error)}` };
  }
}

/** Why a log cannot be read; that it is not there in kubelet's words, which follows links first. */
function unread(path: string, error: unknown): string {
  if (codeOf(error) !== 'ENOENT') return messageOf(error);
  return `failed to try resolving symlinks in path ${JSON.stringify(path)}: lstat ${path}: no such file or directory`;
}

/** `<rootDir>/pods/<uid>/containers/...`: on the agent's own disk. What a subPath leads to lies beside it. */
function isOwn(path: string, rootDir: string): boolean {
  const pods = join(rootDir, 'pods', '/');
  return path.startsWith(pods) && path.slice(pods.length).split('/')[1] === 'containers';
}

/**
 * The output in lines of the CRI log format (`<time> <stream> <tags> <text>`): tag `P` marks a part of a line that
 * goes on in the next entry, `F` its end. Lines in another format are passed over.
 */
export function parseCriLog(log: Buffer): Buffer {
  const out: Buffer[] = [];
  for (let start = 0; start < log.length;) {
    const newline = log.indexOf(10, start);
    const end = newline < 0 ? log.length : newline;
    const line = log.subarray(start, end);
    start = end + 1;
    const spaces = [line.indexOf(32)];
    for (let i = 0; i < 2; i++) spaces.push(line.indexOf(32, (spaces[i] ?? 0) + 1));
    const [first = -1, second = -1, third = -1] = spaces;
    if (first < 1 || second <= first || third <= second) continue;
    const stream = line.toString('latin1', first + 1, second);
    if (stream !== 'stdout' && stream !== 'stderr') continue;
    const partial = line.toString('latin1', second + 1, third).split(':')[0] === 'P';
    out.push(line.subarray(third + 1));
    if (!partial) out.push(Buffer.from('\n'));
  }
  return Buffer.concat(out);
}

/** The last `maxLines` lines, read from the end in blocks. */
async function readLastLines(path: string, maxLines: number): Promise<Buffer> {
  return withFile(path, async (file, size) => {
    let text: Buffer = Buffer.alloc(0);
    for (let start = size; start > 0;) {
      const from = Math.max(0, start - BLOCK);
      text = Buffer.concat([await readAt(file, from, start - from), text]);
      start = from;
      const cut = startOfLastLines(text, maxLines);
      if (cut > 0) return text.subarray(cut);
    }
    return maxLines > 0 ? text : text.subarray(text.length);
  });
}

/** Where the last `maxLines` lines begin; 0 when there are no more than that. */
function startOfLastLines(text: Buffer, maxLines: number): number {
  // The newline that ends the last line does not begin another one.
  let at = text.at(-1) === 10 ? text.length - 1 : text.length;
  for (let line = 0; line < maxLines; line++) {
    if (at === 0) return 0;
    at = text.lastIndexOf(10, at - 1);
    if (at < 0) return 0;
  }
  return at + 1;
}
