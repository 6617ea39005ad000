import { access, open, readFile } from 'node:fs/promises';
import { pack } from 'tar-stream';
import { buffer } from 'node:stream/consumers';
import { ActorletError } from '../../machines/errors/define.ts';
import { runtimeErrors } from '../../machines/errors/runtime-errors.ts';

/** Where a static busybox may be on this machine. */
const BUSYBOX_PATHS = ['/bin/busybox', '/usr/bin/busybox', '/bin/busybox-static'] as const;

/** Path of a statically linked busybox. Throws RTM008 naming the Debian package. */
export async function findStaticBusybox(paths: readonly string[] = BUSYBOX_PATHS): Promise<string> {
  for (const path of paths) {
    try {
      await access(path);
      if (await isStatic(path)) return path;
    } catch {
      // next path
    }
  }
  throw new ActorletError(runtimeErrors.noStaticBusybox, { paths: paths.join(', ') });
}

/**
 * True for a 64-bit little-endian ELF program without an interpreter (PT_INTERP): one that needs no library.
 * Debian's package `busybox` installs a dynamic one at the same path as `busybox-static`.
 */
export async function isStatic(path: string): Promise<boolean> {
  const handle = await open(path, 'r');
  try {
    const head = Buffer.alloc(4096);
    const { bytesRead } = await handle.read(head, 0, head.length, 0);
    if (bytesRead < 64 || head.toString('latin1', 0, 4) !== '\u007fELF' || head[4] !== 2 || head[5] !== 1) return false;
    const table = Number(head.readBigUInt64LE(32));
    const entrySize = head.readUInt16LE(54);
    const entries = head.readUInt16LE(56);
    for (let i = 0; i < entries; i++) {
      const at = table + i * entrySize;
      if (at + 4 > bytesRead) return false;
      if (head.readUInt32LE(at) === 3) return false;
    }
    return true;
  } finally {
    await handle.close();
  }
}

// mode bits of the folders that a program may expect
const FOLDERS: readonly [string, number][] = [
  ['bin', 0o755],
  ['dev', 0o755],
  ['etc', 0o755],
  ['home', 0o755],
  ['proc', 0o755],
  ['root', 0o700],
  ['sbin', 0o755],
  ['sys', 0o755],
  ['tmp', 0o1777],
  ['usr', 0o755],
  ['usr/bin', 0o755],
  ['usr/sbin', 0o755],
  ['var', 0o755],
  ['var/run', 0o755],
];

const PASSWD = [
  'root:x:0:0:root:/root:/bin/sh',
  'daemon:x:1:1:daemon:/usr/sbin:/bin/false',
  'nobody:x:65534:65534:nobody:/home:/bin/false',
];
const GROUP = ['root:x:0:', 'daemon:x:1:', 'nogroup:x:65534:'];

/** One file more in an image: path without a leading slash. */
export interface ExtraFile {
  path: string;
  content: Buffer | string;
  mode: number;
}

/**
 * The layer (uncompressed tar) of the busybox image: the program at `bin/busybox`, a link for each of `applets`,
 * passwd, group and `extra` files. The same input gives the same bytes: all times are 0 and the owner is root.
 */
export async function busyboxLayer(
  program: string,
  applets: readonly string[],
  extra: readonly ExtraFile[] = [],
): Promise<Buffer> {
  const tar = pack();
  const owner = { uid: 0, gid: 0, mtime: new Date(0) };
  const file = (name: string, mode: number, content: Buffer | string) => tar.entry({ ...owner, name, mode }, content);
  const done = buffer(tar);
  for (const [name, mode] of FOLDERS) tar.entry({ ...owner, name: `${name}/`, mode, type: 'directory' });
  file('bin/busybox', 0o755, await readFile(program));
  for (const applet of [...new Set(applets)].sort()) {
    if (!/^[\w.[-]+$/.test(applet) || applet === 'busybox') continue;
    tar.entry({ ...owner, name: `bin/${applet}`, mode: 0o777, type: 'symlink', linkname: 'busybox' });
  }
  file('etc/passwd', 0o644, `${PASSWD.join('\n')}\n`);
  file('etc/group', 0o644, `${GROUP.join('\n')}\n`);
  for (const { path, content, mode } of extra) file(path, mode, content);
  tar.finalize();
  return done;
}
