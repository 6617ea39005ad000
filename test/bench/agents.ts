import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { createWriteStream, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { referenceTool } from '../tools/reference-tool.ts';

/** An agent under measurement. */
export interface Agent {
  name: 'actorlet' | 'kubelet';
  pid: number;
  /** `performance.timeOrigin`-based ms since the epoch when it was spawned. */
  spawnedAt: number;
  manifests: string;
  /** CPU ms used so far and resident MiB, of the agent alone. */
  usage(): { cpuMs: number; rssMiB: number };
  stop(): Promise<void>;
}

/** Where an agent is to work. */
export interface Place {
  endpoint: string;
  dir: string;
}

/** The same configuration for both agents; only ports are apart from what a standalone kubelet has. */
async function prepare({ endpoint, dir }: Place, name: Agent['name']) {
  const root = join(dir, name);
  const manifests = join(root, 'manifests');
  await mkdir(manifests, { recursive: true });
  const config = {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    cgroupDriver: 'cgroupfs',
    failCgroupV1: false,
    failSwapOn: false,
    makeIPTablesUtilChains: false,
    containerRuntimeEndpoint: endpoint,
    staticPodPath: manifests,
    authentication: { anonymous: { enabled: false }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
    evictionHard: { 'memory.available': '1Mi' },
    readOnlyPort: 10_355,
    healthzPort: 10_348,
    port: 10_350,
    maxPods: 500,
    registryPullQPS: 0,
    featureGates: name === 'kubelet' ? { KubeletInUserNamespace: true } : {},
  };
  const configFile = join(root, 'config.json');
  await writeFile(configFile, JSON.stringify(config));
  return { root, manifests, configFile };
}

/** Starts an agent on its own manifest folder; its output goes to `<dir>/<name>.log`. */
export async function startAgent(name: Agent['name'], place: Place): Promise<Agent> {
  const { root, manifests, configFile } = await prepare(place, name);
  const program = name === 'kubelet' ? await referenceTool('kubelet') : join(import.meta.dirname, '../../bin/actorlet');
  const args = [
    '--config',
    configFile,
    '--root-dir',
    join(root, 'root'),
    '--hostname-override',
    'bench',
    '--node-ip',
    '127.0.0.1',
  ];
  args.push('--cert-dir', join(root, 'pki'));
  if (name === 'kubelet') args.push('--node-ip', '0.0.0.0');
  else args.push('--device-plugins-dir', join(root, 'device-plugins'));
  const out = createWriteStream(join(place.dir, `${name}.log`));
  const spawnedAt = performance.timeOrigin + performance.now();
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  child.stdout.pipe(out);
  child.stderr.pipe(out);
  const pid = child.pid ?? 0;
  return { name, pid, spawnedAt, manifests, usage: () => usageOf(pid), stop: () => stop(child) };
}

function usageOf(pid: number): { cpuMs: number; rssMiB: number } {
  const fields = (readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1] ?? '').split(' ');
  const rss = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return { cpuMs: (Number(fields[11]) + Number(fields[12])) * 10, rssMiB: Math.round(Number(rss) / 1024) };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), 15_000);
  await ended;
  clearTimeout(late);
}
