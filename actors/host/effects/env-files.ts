import type { FileHandle } from 'node:fs/promises';
import type { Logger } from 'pino';
import { EnvFileParser } from '../../../machines/container-config/env-file.ts';
import type { EnvFileContent } from '../../../machines/container-config/env-file.ts';
import { filesOf } from '../../../machines/container-config/resolve-env.ts';
import type { EnvFile } from '../../../machines/container-config/resolve-env.ts';
import type { EnvPlan } from '../../../machines/protocol/effects.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { joinInVolume, openRegular } from '../volumes/open-in-volume.ts';

/**
 * Bytes of an env file that are read. Kubelet has no limit, but more than this could not be passed on anyway: a message
 * to the runtime holds 16 MiB.
 */
export const MAX_ENV_FILE_BYTES = 16 * 1024 * 1024;

const CHUNK_BYTES = 64 * 1024;

/**
 * Reads the env files that a plan names (KEP-3721), each once and as it is now. What they say goes to the runtime and
 * nowhere else: the log names the file and the line.
 */
export async function readEnvFiles(plan: EnvPlan, log: Logger): Promise<Map<string, EnvFile | Error>> {
  const found = new Map<string, EnvFile | Error>();
  for (const [name, { volumePath, path, keys }] of filesOf(plan)) {
    try {
      const where = await joinInVolume(volumePath, path);
      const content = await contentOf(volumePath, where, keys);
      if (content.fault !== undefined) log.error({ file: where, err: content.fault }, 'Failed to parse env file');
      found.set(name, { ...content, path: where });
    } catch (error) {
      found.set(name, error instanceof Error ? error : new Error(String(error)));
    }
  }
  return found;
}

async function contentOf(volumePath: string, where: string, keys: readonly string[]): Promise<EnvFileContent> {
  const parser = new EnvFileParser(keys);
  let handle: FileHandle | undefined;
  try {
    handle = await openRegular(volumePath, where);
    const buffer = Buffer.alloc(CHUNK_BYTES);
    for (let read = 0; read < MAX_ENV_FILE_BYTES;) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, null);
      if (bytesRead === 0) return parser.end();
      if (!parser.push(buffer.toString('latin1', 0, bytesRead))) return parser.end();
      read += bytesRead;
    }
    return parser.end(`the file is longer than ${MAX_ENV_FILE_BYTES} bytes`);
  } catch (error) {
    return parser.end(messageOf(error));
  } finally {
    await handle?.close();
  }
}
