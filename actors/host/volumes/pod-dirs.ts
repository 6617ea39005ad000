import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../../machines/values/message-of.ts';
import { POD_DIRS } from '../../../machines/volumes/pod-dirs.ts';
import { diskTrouble } from '../files/disk-trouble.ts';
import { HostFailure } from '../files/host-failure.ts';

/** Makes the pod's folders, in which kubelet has its volumes and what plugins note of them (`makePodDataDirs`). */
export async function makePodDirs(dir: string, rootDir: string): Promise<void> {
  for (const part of ['', 'volumes', 'plugins']) {
    const path = join(dir, part);
    try {
      await makeDir(path, 0o750);
    } catch (error) {
      const trouble = await diskTrouble(error, rootDir);
      throw new HostFailure(POD_DIRS, trouble === error ? goText(error, path) : messageOf(trouble), { cause: error });
    }
  }
}

/** Like `mkdir -p`, and free of the umask for the last folder if it is new. */
async function makeDir(path: string, mode: number): Promise<void> {
  if ((await mkdir(path, { recursive: true, mode })) !== undefined) await chmod(path, mode);
}

/** `ENOTDIR: not a directory, mkdir '/a'` in Go's words: `mkdir /a: not a directory`. */
function goText(error: unknown, path: string): string {
  const [, words, call] = /^[A-Z0-9]+: (.*), (\w+) '/s.exec(messageOf(error)) ?? [];
  return words === undefined || call === undefined ? messageOf(error) : `${call} ${path}: ${words}`;
}
