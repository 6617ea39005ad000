import { mkdtemp, rmdir } from 'node:fs/promises';
import { release } from 'node:os';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { messageOf } from '../../../machines/values/message-of.ts';
import { mount, unmount } from '../files/mounts.ts';
import { inUserNamespace } from '../userns/in-user-namespace.ts';

/** How a kernel is asked. */
export interface NoswapProbe {
  /** `uname -r`. */
  release: string;
  userNamespace: boolean;
  mount: typeof mount;
  unmount: typeof unmount;
}

let known: Promise<boolean> | undefined;

/** May a tmpfs be kept from being swapped (`noswap`)? Asked once in each thread. @param rootDir where one is mounted to find out */
export function tmpfsNoswap(rootDir: string, log: Logger): Promise<boolean> {
  known ??= probeNoswap(rootDir, log, { release: release(), userNamespace: inUserNamespace(), mount, unmount });
  return known;
}

/**
 * Linux has it since 6.4, and grants it outside of user namespaces only. Some distributions' older kernels have it, too: there one is mounted
 * (kubelet: IsTmpfsNoswapOptionSupported). Never rejects.
 */
export async function probeNoswap(rootDir: string, log: Logger, probe: NoswapProbe): Promise<boolean> {
  if (probe.userNamespace) return false;
  const [major = 0, minor = 0] = probe.release.split('.').map((part) => parseInt(part, 10));
  if (major > 6 || (major === 6 && minor >= 4)) return true;
  let dir: string;
  try {
    dir = await mkdtemp(join(rootDir, 'tmpfs-noswap-test-'));
  } catch (error) {
    log.info(
      { err: error, path: rootDir },
      'Error creating dir to test if tmpfs noswap is enabled. Assuming not supported',
    );
    return false;
  }
  try {
    await probe.mount('tmpfs', dir, 'tmpfs', ['noswap']);
  } catch (error) {
    log.info({ problem: messageOf(error) }, 'Error mounting tmpfs with the noswap option. Assuming not supported');
    await rmdir(dir);
    return false;
  }
  try {
    await probe.unmount(dir);
    await rmdir(dir);
  } catch (error) {
    log.error({ err: error, path: dir }, 'Error unmounting test tmpfs dir');
  }
  return true;
}
