import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

/** Folders of the root dir that hold no journal, and may be large. */
const ELSEWHERE = new Set(['containerd', 'pods', 'manifests']);

/**
 * Puts all journal segments (`*.jsonl`, `*.jsonl.gz`) below `rootDir` together in one file, in the order of their
 * names, and returns how many lines that are.
 */
export async function collectJournal(rootDir: string, file: string): Promise<number> {
  const segments = await segmentsBelow(rootDir, 0);
  const parts: Buffer[] = [];
  for (const path of segments) {
    const content = await readFile(path);
    const plain = path.endsWith('.gz') ? gunzipSync(content) : content;
    // a last line without its end (the agent was killed) must not run into the next segment
    parts.push(plain.length > 0 && plain[plain.length - 1] !== 10 ? Buffer.concat([plain, Buffer.from('\n')]) : plain);
  }
  const all = Buffer.concat(parts);
  await writeFile(file, all);
  return all.reduce((lines, byte) => lines + (byte === 10 ? 1 : 0), 0);
}

async function segmentsBelow(dir: string, depth: number): Promise<string[]> {
  const entries = await readdir(dir, { withFileTypes: true }).catch(() => []);
  const out: string[] = [];
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(dir, entry.name);
    if (entry.isFile() && /\.jsonl(\.gz)?$/.test(entry.name)) out.push(path);
    if (entry.isDirectory() && depth < 4 && !(depth === 0 && ELSEWHERE.has(entry.name))) {
      out.push(...(await segmentsBelow(path, depth + 1)));
    }
  }
  return out;
}
