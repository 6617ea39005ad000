import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const BUILDER = join(import.meta.dirname, '../../../../bin/build-page.ts');

/** The page as `bin/build-page.ts` makes it: contents by file name. */
export async function pageBundle(): Promise<Map<string, Buffer>> {
  const folder = await mkdtemp(join(tmpdir(), 'inspector-page-'));
  try {
    await promisify(execFile)(process.execPath, [BUILDER, folder]);
    const names = ['index.html', 'app.js', 'app.css'];
    return new Map(await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name))] as const)));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
