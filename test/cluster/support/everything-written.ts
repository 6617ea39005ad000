import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';

/**
 * Files below a folder whose content, unpacked when it is gzip or zstd, holds one of these texts. Folders for which
 * `skip` says true are left out.
 */
export async function filesThatHold(
  dir: string,
  texts: readonly string[],
  skip: (path: string) => boolean = () => false,
): Promise<string[]> {
  const out: string[] = [];
  for (const entry of await readdir(dir, { withFileTypes: true }).catch(() => [])) {
    const path = join(dir, entry.name);
    if (skip(path)) continue;
    if (entry.isDirectory()) out.push(...(await filesThatHold(path, texts, skip)));
    if (!entry.isFile()) continue;
    const raw = await readFile(path).catch(() => Buffer.alloc(0));
    const plain = unpacked(raw);
    if (texts.some((text) => raw.includes(text) || plain.includes(text))) out.push(path);
  }
  return out;
}

function unpacked(raw: Buffer): Buffer {
  if (raw.length > 4 && raw.readUInt16BE(0) === 0x1f8b) return gunzipSync(raw);
  if (raw.length > 4 && raw.readUInt32LE(0) === 0xfd2fb528) return zstdDecompressSync(raw);
  return raw;
}
