import { spawnSync } from 'node:child_process';
import { readFileSync, realpathSync } from 'node:fs';
import type { Entry } from './layer-tar.ts';

/** A Debian package that files of an image are from. */
export interface LibraryPackage {
  /** `libc6`. */
  name: string;
  version: string;
  /** What dpkg knows of it, as lines of `Field: value`. */
  stanza: string;
}

/** Fields that say where a file is from, and by which scanners find what is known of its faults. */
const FIELDS = ['Package', 'Version', 'Architecture', 'Source', 'Maintainer', 'Homepage'];

/**
 * The shared libraries that a program needs, theirs, and its loader: as the loader of this machine finds them, at the same paths, each out of a
 * Debian package. Throws when one is missing, or belongs to no package: nobody could say what it is.
 */
export function sharedLibraries(program: string): { files: Entry[]; packages: LibraryPackage[] } {
  const paths = neededBy(program);
  const owners = new Set(paths.map(ownerOf));
  const packages = [...owners].sort().map(packageNamed);
  const files = paths.map((path) => ({ path: path.slice(1), content: readFileSync(path), mode: 0o755 }));
  return { files, packages };
}

/** Absolute paths. What the kernel brings (`linux-vdso.so.1`) has none. */
function neededBy(program: string): string[] {
  // "\tlibm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x...)", "\t/lib64/ld-linux-x86-64.so.2 (0x...)", "\tlibm.so.6 => not found"
  const lines = run('ldd', program)
    .split('\n')
    .filter((line) => line.startsWith('\t'));
  const missing = lines.filter((line) => line.includes('not found'));
  if (missing.length > 0) throw new Error(`${program} lacks libraries here: ${missing.join(' ').trim()}`);
  const found = lines.map((line) => line.replace(/^.*=>/, '').trim().split(' ')[0] ?? '');
  return found.filter((path) => path.startsWith('/')).sort();
}

/** The package as `libc6:amd64`. dpkg knows files by the paths that its packages have, and /lib is a link to /usr/lib. */
function ownerOf(path: string): string {
  for (const known of new Set([path, `/usr${path}`, path.replace(/^\/usr/, ''), realpathSync(path)])) {
    const asked = spawnSync('dpkg-query', ['--search', known], { encoding: 'utf8', env: environment });
    const owner = /^([^\s,]+): /.exec(asked.stdout)?.[1];
    if (asked.status === 0 && owner !== undefined) return owner;
  }
  throw new Error(`${path} is of no Debian package`);
}

function packageNamed(owner: string): LibraryPackage {
  const show = (format: string) => run('dpkg-query', '--show', '--showformat', format, owner);
  const [name = '', version = ''] = show('${Package} ${Version}').split(' ');
  const fields = show(FIELDS.map((field) => `${field}: \${${field}}\n`).join(''));
  const stanza = fields.split('\n').filter((line) => /^[A-Z][a-z]+: ./.test(line));
  return { name, version, stanza: `${stanza.join('\n')}\n` };
}

/** Libraries that somebody put in the loader's way (LD_LIBRARY_PATH, LD_PRELOAD) are not the machine's. */
const environment = { PATH: process.env['PATH'] ?? '', LC_ALL: 'C' };

function run(command: string, ...args: string[]): string {
  const done = spawnSync(command, args, { encoding: 'utf8', env: environment });
  if (done.status !== 0) throw new Error(`${command} ${args.join(' ')}: ${done.error?.message ?? done.stderr.trim()}`);
  return done.stdout;
}
