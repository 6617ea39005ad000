import { readFile, readlink } from 'node:fs/promises';
import { hasSysResource } from '../../../cri/private-containerd/host-facts.ts';
import { listProcesses } from '../../../cri/private-containerd/processes.ts';
import { fail, ok, warn } from './check.ts';
import type { CheckResult } from './check.ts';

/** The agent mounts, makes cgroups and starts containers: root only. */
export function checkRoot(uid: number = process.getuid?.() ?? 0): CheckResult {
  if (uid !== 0) return fail('root', `runs as user ${uid}`, 'Start it as root (sudo).');
  return ok('root', 'runs as root');
}

/** Without CAP_SYS_RESOURCE no oom_score_adj goes down. */
export async function checkCapabilities(): Promise<CheckResult> {
  if (await hasSysResource()) return ok('capabilities', 'CAP_SYS_RESOURCE is there');
  return warn(
    'capabilities',
    'no CAP_SYS_RESOURCE: oom_score_adj of agent and containers cannot be lowered',
    'Harmless for trying it out; give the agent the capability on a real node.',
  );
}

/** Node.js 24 strips the types of the sources and has what the dependencies need. */
export function checkNode(version: string = process.versions.node): CheckResult {
  const major = Number(version.split('.')[0]);
  if (major >= 24) return ok('node', `Node.js ${version}`);
  return fail(
    'node',
    `Node.js ${version}`,
    'Run npm ci (it brings Node 24), or set ACTORLET_NODE to a node of version 24.',
  );
}

/** Two agents on one node take each other's pods for orphans. */
export async function checkKubelet(): Promise<CheckResult> {
  const mine = await mountNamespace('self');
  let kubelet: { pid: number } | undefined;
  for (const candidate of await listProcesses()) {
    // one in a container (kind, minikube) has a machine of its own
    if (/(^|\/)kubelet$/.test(candidate.argv[0] ?? '') && (await mountNamespace(candidate.pid)) === mine) {
      kubelet = candidate;
    }
  }
  if (kubelet === undefined) return ok('kubelet', 'no kubelet is running');
  return fail(
    'kubelet',
    `a kubelet runs as process ${kubelet.pid}`,
    'Stop it first (systemctl stop kubelet), unless it has another --root-dir and another runtime.',
  );
}

/** As for kubelet: `failSwapOn` is true by default, so swap stops the agent unless the configuration allows it. */
export async function checkSwap(file = '/proc/swaps'): Promise<CheckResult> {
  const text = await readFile(file, 'utf8').catch(() => '');
  const devices = text
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split(/\s+/)[0] ?? '')
    .filter((device) => device !== '' && !/zram/.test(device));
  if (devices.length === 0) return ok('swap', 'no swap is on');
  return warn('swap', `swap is on: ${devices.join(', ')}`, 'Switch it off (swapoff -a), or set failSwapOn: false.');
}

async function mountNamespace(pid: number | 'self'): Promise<string> {
  return readlink(`/proc/${pid}/ns/mnt`).catch(() => '');
}
