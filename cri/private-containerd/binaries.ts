import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { ActorletError } from '../../machines/errors/define.ts';
import { runtimeErrors } from '../../machines/errors/runtime-errors.ts';
import { runCommand, systemPath } from './run-command.ts';

/** Folders searched for CNI plugins: upstream's and Debian's. */
const CNI_BIN_DIRS = ['/opt/cni/bin', '/usr/lib/cni', '/usr/libexec/cni'] as const;
/** Plugins that the pod network needs. */
const CNI_PLUGINS = ['bridge', 'host-local', 'loopback', 'portmap'] as const;

/** Programs a private containerd needs, each with the Debian package that brings it. */
const RUNTIME_PROGRAMS: Readonly<Record<string, string>> = {
  containerd: 'containerd',
  'containerd-shim-runc-v2': 'containerd',
  ctr: 'containerd',
  runc: 'runc',
  ip: 'iproute2',
  iptables: 'iptables',
  umount: 'mount',
};

/** What was found on this machine to run containers with. */
export interface RuntimeBinaries {
  containerd: string;
  ctr: string;
  version: ContainerdVersion;
  cniBinDir: string;
  /** `PATH` for containerd: its own folder first, so that shim and daemon match. */
  path: string;
}

/** Version of containerd as numbers. */
export interface ContainerdVersion {
  major: number;
  minor: number;
  patch: number;
}

/** Full path of a program, or null. */
export async function findProgram(name: string, path: string = systemPath()): Promise<string | null> {
  for (const dir of path.split(':')) {
    const file = join(dir, name);
    try {
      await access(file, constants.X_OK);
      return file;
    } catch {
      // next folder
    }
  }
  return null;
}

/** Names of the programs in `names` that are missing. */
async function missingPrograms(names: readonly string[], path?: string): Promise<string[]> {
  const found = await Promise.all(names.map((name) => findProgram(name, path)));
  return names.filter((_, i) => found[i] === null);
}

/** First folder that holds all plugins the pod network needs, or null. */
async function findCniBinDir(dirs: readonly string[] = CNI_BIN_DIRS): Promise<string | null> {
  for (const dir of dirs) {
    if ((await missingPrograms(CNI_PLUGINS, dir)).length === 0) return dir;
  }
  return null;
}

/** Reads `containerd --version`: `containerd github.com/containerd/containerd 1.6.20~ds1 ...` (v2 says `.../v2 v2.1.0`). */
export function parseContainerdVersion(output: string): ContainerdVersion {
  const match = /^containerd\s+\S+\s+v?(\d+)\.(\d+)\.(\d+)/m.exec(output);
  if (match === null) {
    throw new ActorletError(runtimeErrors.unknownContainerdVersion, { output: output.trim().slice(0, 200) });
  }
  return { major: Number(match[1]), minor: Number(match[2]), patch: Number(match[3]) };
}

/**
 * Finds all programs and plugins. `containerd` names the daemon to use instead of the one on PATH (then its folder
 * goes first). Throws RTM001/RTM002 naming the Debian packages, RTM004/RTM005 for its version.
 */
export async function findRuntimeBinaries(
  options: { containerd?: string; cniBinDirs?: readonly string[] } = {},
): Promise<RuntimeBinaries> {
  let path = systemPath();
  if (options.containerd !== undefined) path = `${options.containerd.replace(/\/[^/]*$/, '')}:${path}`;
  const missing = await missingPrograms(Object.keys(RUNTIME_PROGRAMS), path);
  if (missing.length > 0) {
    const packages = new Set(missing.map((name) => RUNTIME_PROGRAMS[name] ?? name));
    throw new ActorletError(runtimeErrors.missingBinaries, {
      binaries: missing.join(', '),
      packages: [...packages].join(' '),
    });
  }
  const dirs = options.cniBinDirs ?? CNI_BIN_DIRS;
  const cniBinDir = await findCniBinDir(dirs);
  if (cniBinDir === null) {
    throw new ActorletError(runtimeErrors.missingCniPlugins, {
      plugins: CNI_PLUGINS.join(', '),
      dirs: dirs.join(', '),
    });
  }
  const containerd = options.containerd ?? (await findProgram('containerd', path)) ?? 'containerd';
  const ctr = (await findProgram('ctr', path)) ?? 'ctr';
  const answer = await runCommand(containerd, ['--version']);
  const version = parseContainerdVersion(answer.stdout === '' ? answer.stderr : answer.stdout);
  if (version.major < 1 || (version.major === 1 && version.minor < 6)) {
    throw new ActorletError(runtimeErrors.containerdTooOld, { version: `${version.major}.${version.minor}` });
  }
  return { containerd, ctr, version, cniBinDir, path };
}
