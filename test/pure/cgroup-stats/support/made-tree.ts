import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Runs `body` with a folder of these files (path below it -> text) and removes it. */
export async function withTree(
  files: Readonly<Record<string, string>>,
  body: (root: string, setTime: (path: string, ms: number) => Promise<void>) => void | Promise<void>,
): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'cgroups-'));
  try {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), text);
    }
    await body(root, (path, ms) => utimes(join(root, path), ms / 1000, ms / 1000));
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}
