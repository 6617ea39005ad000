import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { fileURLToPath } from 'node:url';
import { pack } from 'tar-stream';
import type { Pack } from 'tar-stream';

const ROOT_FS = fileURLToPath(new URL('debian-root.sh', import.meta.url));
/** What files of layers have in common. */
export const OWNER = { uid: 0, gid: 0, mtime: new Date(0) };

/** Path of the tar of a Debian userland, made when the cache does not have it (minutes, needs root and debootstrap). */
export async function debianRoot(): Promise<string> {
  const { stdout } = await promisify(execFile)(ROOT_FS);
  return stdout.trim();
}

/** Commands that a Debian userland has, for which busybox need not step in. */
export async function commandsOf(tar: string): Promise<Map<string, string>> {
  const { stdout } = await promisify(execFile)('tar', ['-tf', tar], { maxBuffer: 64 << 20 });
  const found = new Map<string, string>();
  for (const line of stdout.split('\n')) {
    const match = /^\.\/usr\/(s?bin)\/([^/]+)$/.exec(line);
    // some are in both, one a link to the other: `bin` is where they are
    if (match?.[2] !== undefined && found.get(match[2]) !== 'bin') found.set(match[2], match[1] ?? '');
  }
  return found;
}

/** Prints the time of day as `%3t` of busybox's own does: containers that change their image ask for it in either. */
const NMETER = '#!/bin/sh\ndate -u +%T.%3N\n';

/** What a busybox is in the eyes of a layer: its program and what it can be called. */
export interface Busybox {
  program: string;
  applets: readonly string[];
}

/** Where busybox comes first: procps' `top` ends at once without a terminal. */
const OF_BUSYBOX: ReadonlySet<string> = new Set(['top']);

/**
 * The suite's busybox on top of Debian: bash is the shell, since Debian's busybox drops variables whose names have a
 * dash, GNU's tools come first, and busybox does the rest.
 */
export async function shellLayer(busybox: Busybox, commands: ReadonlyMap<string, string>): Promise<Buffer> {
  return layer(async (tar) => {
    link(tar, 'usr/bin/sh', 'bash');
    tar.entry({ ...OWNER, name: 'usr/bin/busybox', mode: 0o755 }, await readFile(busybox.program));
    for (const applet of busybox.applets) {
      if (!/^[\w.-]+$/.test(applet) || applet === 'busybox') continue;
      const first = OF_BUSYBOX.has(applet);
      if (!first && commands.get(applet) === 'bin') continue;
      link(tar, `usr/bin/${applet}`, !first && commands.has(applet) ? `../sbin/${applet}` : 'busybox');
    }
    tar.entry({ ...OWNER, name: 'usr/bin/nmeter', mode: 0o755 }, NMETER);
  });
}

/**
 * agnhost as its own image has it: the program, its second name, its certificate, its user and group, and a shell that knows `[[`, as Alpine's does: a
 * probe of a DaemonSet's pods is written so, and Debian's dash does not.
 */
export async function agnhostLayer(parts: {
  agnhost: string;
  busybox: string;
  /** Folder of `localhost.crt` and `localhost.key`, which `netexec --tls` serves with. */
  porter: string;
  passwd: string;
  group: string;
}): Promise<Buffer> {
  return layer(async (tar) => {
    const file = (name: string, mode: number, content: Buffer | string) => tar.entry({ ...OWNER, name, mode }, content);
    file('agnhost', 0o755, await readFile(parts.agnhost));
    link(tar, 'agnhost-2', 'agnhost');
    link(tar, 'usr/bin/sh', 'bash');
    file('localhost.crt', 0o644, await readFile(join(parts.porter, 'localhost.crt')));
    file('localhost.key', 0o644, await readFile(join(parts.porter, 'localhost.key')));
    file('usr/bin/busybox', 0o755, await readFile(parts.busybox));
    for (const command of ['netstat', 'wget']) link(tar, `usr/bin/${command}`, 'busybox');
    file('usr/bin/nmeter', 0o755, NMETER);
    tar.entry({ ...OWNER, name: 'uploads/', mode: 0o755, type: 'directory' });
    file('etc/passwd', 0o644, `${parts.passwd.trimEnd()}\nuser-defined-in-image:x:1000:1000::/:/bin/sh\n`);
    file(
      'etc/group',
      0o644,
      `${parts.group.trimEnd()}\nuser-defined-in-image:x:1000:\ngroup-defined-in-image:x:50000:user-defined-in-image\n`,
    );
  });
}

/** What specs read of images with a page: its data, and, where one is mounted as a volume, which system it says it is of. */
export async function pageLayer(html: string): Promise<Buffer> {
  return layer(async (tar) => {
    tar.entry({ ...OWNER, name: 'data.json', mode: 0o644 }, await readFile(join(html, 'data.json')));
    tar.entry({ ...OWNER, name: 'etc/os-release', mode: 0o644 }, 'NAME="Alpine Linux"\n');
  });
}

/** A layer with one more program, owned by root. */
export async function programLayer(path: string, program: string, mode: number): Promise<Buffer> {
  return layer(async (tar) => {
    tar.entry({ ...OWNER, name: path, mode }, await readFile(program));
  });
}

/** Text of a file inside a tar. */
export async function fileIn(tar: string, path: string): Promise<string> {
  return (await promisify(execFile)('tar', ['-xOf', tar, path])).stdout;
}

/** A layer of what `fill` puts into it. */
export async function layer(fill: (tar: Pack) => Promise<void> | void): Promise<Buffer> {
  const tar = pack();
  const done = buffer(tar);
  await fill(tar);
  tar.finalize();
  return done;
}

function link(tar: Pack, name: string, linkname: string): void {
  tar.entry({ ...OWNER, name, mode: 0o777, type: 'symlink', linkname });
}
