import { readFile, readdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { sendSignal } from './processes.ts';

/** Where every containerd's shims listen. */
const SHIM_SOCKETS = '/run/containerd/s';

/** What the bundle of one container (or sandbox) in containerd's state folder says about it. */
export interface Bundle {
  id: string;
  initPid: number | null;
  /** As in the OCI spec: `/kubepods/.../<id>`; the systemd form (`slice:prefix:id`) is left to systemd. */
  cgroupPath: string | null;
  shimSocket: string | null;
}

/** All bundles below `<state>/io.containerd.runtime.v2.task/`. */
export async function readBundles(stateDir: string): Promise<Bundle[]> {
  const base = join(stateDir, 'io.containerd.runtime.v2.task');
  const out: Bundle[] = [];
  for (const namespace of await names(base)) {
    for (const id of await names(join(base, namespace))) out.push(await readBundle(join(base, namespace, id), id));
  }
  return out;
}

async function readBundle(dir: string, id: string): Promise<Bundle> {
  const read = (name: string) => readFile(join(dir, name), 'utf8').catch(() => '');
  const [pid, spec, address, bootstrap] = await Promise.all(
    ['init.pid', 'config.json', 'address', 'bootstrap.json'].map(read),
  );
  const cgroupPath = /"cgroupsPath":\s*"([^"]+)"/.exec(spec ?? '')?.[1];
  const initPid = Number(pid?.trim());
  // containerd 1.x notes the socket in `address`, 2.x in `bootstrap.json`
  const shim = /unix:\/\/([^"\s]+)/.exec(`${address} ${bootstrap}`)?.[1];
  return {
    id,
    initPid: Number.isInteger(initPid) && initPid > 1 ? initPid : null,
    cgroupPath: cgroupPath !== undefined && cgroupPath.startsWith('/') ? cgroupPath : null,
    shimSocket: shim ?? null,
  };
}

/**
 * Kills every process of these cgroups (that of a container holds all its processes, also those that left its pid
 * namespace) and removes them. `paths` are cgroup names; returns those that could not be removed.
 */
export async function removeCgroups(paths: readonly string[]): Promise<string[]> {
  const hierarchies = await cgroupHierarchies();
  const left: string[] = [];
  for (const path of paths) {
    for (const hierarchy of hierarchies) {
      if (!(await removeCgroup(join(hierarchy, path)))) left.push(join(hierarchy, path));
    }
  }
  return left;
}

/** Removes these cgroups and those below them as far as they hold no process: nothing is killed. */
export async function removeEmptyCgroups(paths: readonly string[]): Promise<void> {
  const remove = async (dir: string): Promise<void> => {
    for (const child of await folders(dir)) await remove(join(dir, child));
    await rmdir(dir).catch(() => {}); // in use, or gone already
  };
  for (const hierarchy of await cgroupHierarchies()) for (const path of paths) await remove(join(hierarchy, path));
}

/** Mount points of all cgroup hierarchies: one for each controller on v1, one on v2. */
export async function cgroupHierarchies(): Promise<string[]> {
  const lines = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n');
  return lines.flatMap((line) => {
    const [mount, rest] = line.split(' - ');
    const type = rest?.split(' ')[0];
    const point = mount?.split(' ')[4];
    return (type === 'cgroup' || type === 'cgroup2') && point !== undefined ? [point] : [];
  });
}

async function removeCgroup(dir: string): Promise<boolean> {
  for (let attempt = 0; attempt < 40; attempt++) {
    for (const child of await folders(dir)) await removeCgroup(join(dir, child));
    const procs = await readFile(join(dir, 'cgroup.procs'), 'utf8').catch(() => '');
    for (const pid of procs.split('\n')) if (pid !== '') sendSignal(Number(pid), 'SIGKILL');
    try {
      await rmdir(dir);
      return true;
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return true;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }
  return false;
}

/** True when the process is in the cgroup of that container: a pid on disk may be another process's by now. */
export async function runsIn(pid: number, containerId: string): Promise<boolean> {
  return (await readFile(`/proc/${pid}/cgroup`, 'utf8').catch(() => '')).includes(containerId);
}

/**
 * Removes the sockets that killed shims left in `/run/containerd/s`, a folder containerd has no option for: those of
 * the bundles, and those that no process listens on any more. The latter belong to shims whose bundle was removed
 * while their containerd was killed; a living shim of another containerd is in the kernel's list and is left alone.
 */
export async function removeShimSockets(bundles: readonly Bundle[]): Promise<void> {
  for (const { shimSocket } of bundles) if (shimSocket !== null) await rm(shimSocket, { force: true });
  const listening = await readFile('/proc/net/unix', 'utf8').catch(() => null);
  for (const name of listening === null ? [] : await names(SHIM_SOCKETS)) {
    const path = join(SHIM_SOCKETS, name);
    if (listening?.includes(path) === false) await rm(path, { force: true });
  }
  for (const dir of [SHIM_SOCKETS, '/run/containerd/fifo', '/run/containerd']) {
    await rmdir(dir).catch(() => {}); // in use by another containerd, or not there
  }
}

async function names(dir: string): Promise<string[]> {
  return readdir(dir).catch(() => []);
}

async function folders(dir: string): Promise<string[]> {
  const entries = await readdir(dir, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
}
