import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { referenceTool } from './reference-tool.ts';

/** What the kubelet's read-only `/pods` says of one pod, as far as tests look. */
export interface ReportedPod {
  metadata: { name: string; namespace: string; uid: string };
  status: {
    phase?: string;
    podIP?: string;
    conditions?: { type: string; status: string }[];
    initContainerStatuses?: ReportedContainer[];
    containerStatuses?: ReportedContainer[];
  };
}

/** One entry of a pod's container statuses. */
export interface ReportedContainer {
  name: string;
  ready: boolean;
  restartCount: number;
  containerID?: string;
  state: Record<string, { reason?: string; exitCode?: number } | undefined>;
}

/** A running reference kubelet. */
export interface ReferenceKubelet {
  /** Folder of the static pods' manifests. */
  manifests: string;
  pods(): Promise<ReportedPod[]>;
  /** Body of one path of its read-only server, e.g. `/metrics`. */
  get(path: string): Promise<string>;
  /** Its log so far. */
  log(): Promise<string>;
  stop(): Promise<void>;
}

/**
 * Starts kubelet v1.35.4 without a cluster on a runtime's socket, so that it leaves nothing behind: everything
 * under `folder`, own mounts (what it puts in /var/log and /var/lib goes with it, kernel settings stay), no
 * cgroups, no iptables chains, free ports, and it dies with the test.
 */
export async function startReferenceKubelet(options: {
  folder: string;
  socket: string;
  featureGates?: Record<string, boolean>;
}): Promise<ReferenceKubelet> {
  const { folder, socket } = options;
  const binary = await referenceTool('kubelet');
  const manifests = join(folder, 'manifests');
  const logFile = join(folder, 'kubelet.log');
  await mkdir(manifests, { recursive: true });
  const [port, readOnlyPort] = await freePorts(2);
  const config = {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    containerRuntimeEndpoint: `unix://${socket}`,
    staticPodPath: manifests,
    podLogsDir: join(folder, 'pods-logs'),
    volumePluginDir: join(folder, 'plugins'),
    port,
    readOnlyPort,
    healthzPort: 0,
    address: '127.0.0.1',
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
    cgroupDriver: 'cgroupfs',
    cgroupsPerQOS: false,
    enforceNodeAllocatable: [],
    failCgroupV1: false,
    failSwapOn: false,
    makeIPTablesUtilChains: false,
    evictionHard: { 'memory.available': '1Mi' },
    imageGCHighThresholdPercent: 100,
    fileCheckFrequency: '1s',
    // No privilege is asked for that a container of a build machine lacks.
    featureGates: { KubeletInUserNamespace: true, ...options.featureGates },
  };
  const configFile = join(folder, 'kubelet.json');
  await writeFile(configFile, JSON.stringify(config));
  // It wants these kernel settings and would set them for the whole machine; here it finds them set.
  const sysctls = { 'vm/overcommit_memory': 1, 'vm/panic_on_oom': 0, 'kernel/panic': 10, 'kernel/panic_on_oops': 1 };
  const keys = { 'kernel/keys/root_maxkeys': 1_000_000, 'kernel/keys/root_maxbytes': 25_000_000 };
  const mounts = ['mount -t tmpfs none /var/log', 'mount -t tmpfs none /var/lib'];
  for (const [name, value] of Object.entries({ ...sysctls, ...keys })) {
    const file = join(folder, `sysctl-${name.replaceAll('/', '-')}`);
    await writeFile(file, `${String(value)}\n`);
    mounts.push(`mount --bind ${file} /proc/sys/${name}`);
  }
  const prepare = `${mounts.join(' && ')} && exec "$@" > "$LOG" 2>&1`;
  const kubelet = [
    binary,
    '--config',
    configFile,
    '--root-dir',
    join(folder, 'root'),
    '--cert-dir',
    join(folder, 'pki'),
  ];
  const child = spawn(
    'unshare',
    [
      '--mount',
      'setpriv',
      '--pdeathsig',
      'KILL',
      'sh',
      '-c',
      prepare,
      'kubelet',
      ...kubelet,
      '--hostname-override=ref',
    ],
    { stdio: ['ignore', 'ignore', 'inherit'], env: { PATH: process.env.PATH, HOME: folder, LOG: logFile } },
  );
  const log = () => readFile(logFile, 'utf8').catch(() => '');
  return {
    manifests,
    log,
    get: async (path) => (await fetch(`http://127.0.0.1:${String(readOnlyPort)}${path}`)).text(),
    pods: async () => {
      if (child.exitCode !== null)
        throw new Error(`kubelet exited with ${String(child.exitCode)}:\n${(await log()).slice(-4000)}`);
      const response = await fetch(`http://127.0.0.1:${String(readOnlyPort)}/pods`);
      return ((await response.json()) as { items: ReportedPod[] | null }).items ?? [];
    },
    stop: () => stop(child),
  };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, 'close');
  child.kill('SIGTERM');
  const patience = new AbortController();
  const kill = sleep(10_000, undefined, { signal: patience.signal }).then(
    () => child.kill('SIGKILL'),
    () => false,
  );
  await closed;
  patience.abort();
  await kill;
}

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports: number[] = [];
  // All at once, or one port could be given twice.
  for (const server of servers) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (typeof address === 'object' && address !== null) ports.push(address.port);
  }
  for (const server of servers) {
    server.close();
    await once(server, 'close');
  }
  return ports;
}
