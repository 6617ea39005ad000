import { readFile, readdir, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cgroupHierarchies, removeEmptyCgroups } from '../../cri/private-containerd/container-remains.ts';
import { mountsBelow } from '../../cri/private-containerd/mount-points.ts';

const POD_LOGS = '/var/log/pods';
const LOG_LINKS = '/var/log/containers';
const SHARED_FOLDERS = [POD_LOGS, LOG_LINKS, '/var/lib/cni/results', '/var/lib/cni', '/run/netns'];
const IP_FORWARD = '/proc/sys/net/ipv4/ip_forward';

/** What the machine had before the demo, as far as the demo or the agent may add to it. */
export interface MachineBefore {
  folders: string[];
  kubepods: boolean;
  forwarding: string;
}

/** Notes it, before anything is started. */
export async function lookBefore(): Promise<MachineBefore> {
  const folders: string[] = [];
  for (const dir of SHARED_FOLDERS) if ((await names(dir)) !== null) folders.push(dir);
  return {
    folders,
    kubepods: (await podCgroups('')).some((path) => path.endsWith('/kubepods')),
    forwarding: await readFile(IP_FORWARD, 'utf8').catch(() => ''),
  };
}

/** Folder of the pod's logs: `/var/log/pods/<namespace>_<name>_<uid>`. */
export function podLogDir(podName: string, uid: string): string {
  return join(POD_LOGS, `default_${podName}_${uid}`);
}

/** What there still is of a pod on the host: volumes, mounts, cgroups, logs and their links; each as a path. */
export async function podRemains(podName: string, uid: string, rootDir: string): Promise<string[]> {
  const logs = ((await names(POD_LOGS)) ?? []).filter((name) => name.startsWith(`default_${podName}_`));
  const links = ((await names(LOG_LINKS)) ?? []).filter((name) => name.startsWith(`${podName}_default_`));
  const folders = uid === '' ? [] : ((await names(join(rootDir, 'pods'))) ?? []).filter((name) => name === uid);
  return [
    ...logs.map((name) => join(POD_LOGS, name)),
    ...links.map((name) => join(LOG_LINKS, name)),
    ...folders.map((name) => join(rootDir, 'pods', name)),
    ...(await mountsBelow(join(rootDir, 'pods'))),
    ...(uid === '' ? [] : (await podCgroups(uid)).filter((path) => !path.endsWith('/kubepods'))),
  ];
}

/** Removes logs, links, empty cgroups and folders that the agent did not get to, and sets forwarding back. */
export async function removePodRemains(podName: string, before: MachineBefore): Promise<void> {
  for (const name of (await names(POD_LOGS)) ?? []) {
    if (name.startsWith(`default_${podName}-`)) await rm(join(POD_LOGS, name), { recursive: true, force: true });
  }
  for (const name of (await names(LOG_LINKS)) ?? []) {
    if (name.startsWith(`${podName}-`)) await rm(join(LOG_LINKS, name), { force: true });
  }
  if (!before.kubepods) await removeEmptyCgroups(['/kubepods']);
  if (before.forwarding.trim() === '0') await writeFile(IP_FORWARD, '0').catch(() => {});
  for (const dir of SHARED_FOLDERS) if (!before.folders.includes(dir)) await rmdir(dir).catch(() => {}); // not empty
}

/** All cgroups below (and with) `kubepods` whose name holds `uid`, in any hierarchy; all of `kubepods` for ''. */
async function podCgroups(uid: string): Promise<string[]> {
  const out: string[] = [];
  const walk = async (dir: string, depth: number): Promise<void> => {
    for (const name of (await names(dir)) ?? []) {
      if (name.includes('.')) continue;
      if (uid !== '' && name.includes(uid)) out.push(join(dir, name));
      if (depth < 2) await walk(join(dir, name), depth + 1);
    }
  };
  for (const hierarchy of new Set(await cgroupHierarchies())) {
    const kubepods = join(hierarchy, 'kubepods');
    if ((await names(kubepods)) === null) continue;
    out.push(kubepods);
    await walk(kubepods, 0);
  }
  return out;
}

async function names(dir: string): Promise<string[] | null> {
  return readdir(dir).catch(() => null);
}
