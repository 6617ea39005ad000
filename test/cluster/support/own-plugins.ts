import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Where kubelet has its device plugins, wherever its root directory is. */
const FIXED = '/var/lib/kubelet/device-plugins';

/**
 * A program that is kubelet with the device plugins and their checkpoint of its root directory: in a mount namespace of its own, which hears of
 * the machine's mounts, and whose own ones end with it.
 * @param dir the program is written there
 */
export async function withOwnPlugins(kubelet: string, dir: string, rootDir: string): Promise<string> {
  const folder = join(rootDir, 'device-plugins');
  await mkdir(folder, { recursive: true, mode: 0o750 });
  const program = join(dir, 'kubelet-with-own-plugins');
  const inside = `mkdir -p ${FIXED} && mount --bind "$0" ${FIXED} && exec "$@"`;
  const script = `#!/bin/sh\nexec unshare --mount --propagation slave sh -c '${inside}' '${folder}' '${kubelet}' "$@"\n`;
  await writeFile(program, script, { mode: 0o755 });
  return program;
}
