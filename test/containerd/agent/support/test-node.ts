import assert from 'node:assert/strict';
import { mkdir, readFile, readdir, readlink, rename, rm, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Container, PodSandbox } from '../../../../cri/generated/runtime/v1/api.ts';
import { cgroupHierarchies, removeEmptyCgroups } from '../../../../cri/private-containerd/container-remains.ts';
import { freePorts } from '../../../../bin/demo-steps/free-ports.ts';
import type { Pod } from '../../../../machines/protocol/api-types.ts';
import { startTestContainerd } from '../../support/with-containerd.ts';
import type { TestContainerd, TestContainerdOptions } from '../../support/with-containerd.ts';
import { AgentProcess } from './agent-process.ts';
import { waitFor } from '../../../tools/wait-for.ts';

/** Labels by which the runtime's objects belong to pods. */
const LABEL = {
  uid: 'io.kubernetes.pod.uid',
  pod: 'io.kubernetes.pod.name',
  container: 'io.kubernetes.container.name',
};
/** Folder of container log links; it is the machine's, not the test's. */
const CONTAINER_LOGS = '/var/log/containers';
/** Name the node goes by: the end of every static pod's name. */
export const NODE_NAME = 'realnode';

/** A container as the runtime lists it, as far as tests look at it. */
export interface RuntimeContainer {
  id: string;
  pod: string;
  podUid: string;
  name: string;
  running: boolean;
  attempt: number;
}

/** One line of the agent's JSON log. */
export type LogLine = Readonly<Record<string, unknown>>;

/** A real node: a containerd of its own and the daemon, with folders, ports and cgroups that nobody else uses. */
export class TestNode {
  readonly containerd: TestContainerd;
  readonly manifests: string;
  readonly podLogs: string;
  readonly cgroupRoot: string;
  readonly ports: { healthzPort: number; readOnlyPort: number; port: number };
  private readonly flags: readonly string[];
  private readonly configMore: Record<string, unknown>;
  private current: AgentProcess | null = null;
  private lives = 0;

  private constructor(containerd: TestContainerd, ports: TestNode['ports'], options: TestNodeOptions) {
    this.containerd = containerd;
    this.ports = ports;
    this.flags = options.flags ?? [];
    this.configMore = options.config ?? {};
    this.manifests = join(containerd.rootDir, 'manifests');
    this.podLogs = join(containerd.rootDir, 'pod-logs');
    this.cgroupRoot = `/actorlet-agent-${containerd.rootDir.split('-').at(-1)}`;
  }

  /** Starts containerd and makes the folders; the agent is started by {@link startAgent}. */
  static async make(options: TestNodeOptions = {}): Promise<TestNode> {
    const containerd = await startTestContainerd(options.containerd);
    try {
      const [healthzPort = 0, readOnlyPort = 0, port = 0] = await freePorts(3);
      const node = new TestNode(containerd, { healthzPort, readOnlyPort, port }, options);
      await mkdir(node.manifests);
      await mkdir(node.podLogs);
      for (const dir of await cgroupHierarchies()) await mkdir(join(dir, node.cgroupRoot), { recursive: true });
      await writeFile(join(node.rootDir, 'config.json'), JSON.stringify(node.config(), null, 2));
      return node;
    } catch (error) {
      await containerd.stop();
      throw error;
    }
  }

  get rootDir(): string {
    return this.containerd.rootDir;
  }

  get journalDir(): string {
    return join(this.rootDir, 'journal');
  }

  get agent(): AgentProcess {
    if (this.current === null) throw new Error('no agent was started');
    return this.current;
  }

  /** The configuration file's content. */
  config(): Record<string, unknown> {
    return {
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      kind: 'KubeletConfiguration',
      address: '127.0.0.1',
      healthzBindAddress: '127.0.0.1',
      ...this.ports,
      authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
      authorization: { mode: 'AlwaysAllow' },
      cgroupDriver: 'cgroupfs',
      cgroupRoot: this.cgroupRoot,
      failCgroupV1: false,
      failSwapOn: false,
      makeIPTablesUtilChains: false,
      fileCheckFrequency: '1s',
      podLogsDir: this.podLogs,
      logging: { format: 'json' },
      ...this.configMore,
    };
  }

  /** Starts the daemon, or a kubelet in its place; with `wait` (the default) until it is healthy. */
  async startAgent({ wait = true, kubelet }: { wait?: boolean; kubelet?: string } = {}): Promise<AgentProcess> {
    if (this.current !== null && this.current.exit === null) throw new Error('an agent runs already');
    this.lives++;
    const flags = [
      ...['--config', join(this.rootDir, 'config.json')],
      ...['--root-dir', this.rootDir, '--cert-dir', join(this.rootDir, 'pki')],
      ...(kubelet === undefined ? ['--device-plugins-dir', join(this.rootDir, 'device-plugins')] : []),
      ...['--pod-manifest-path', this.manifests],
      ...['--hostname-override', NODE_NAME],
      ...['--container-runtime-endpoint', this.containerd.endpoint],
      ...this.flags,
    ];
    this.current = new AgentProcess(
      flags,
      join(this.rootDir, `agent-${String(this.lives).padStart(3, '0')}.log`),
      kubelet,
    );
    if (wait) await this.current.healthy(this.ports.healthzPort);
    return this.current;
  }

  /** Puts a manifest in the folder, in one piece: a value becomes JSON, a text is written as it is. */
  async write(file: string, manifest: string | object): Promise<void> {
    const text = typeof manifest === 'string' ? manifest : JSON.stringify(manifest);
    await writeFile(join(this.manifests, `.${file}`), text);
    await rename(join(this.manifests, `.${file}`), join(this.manifests, file));
  }

  async remove(file: string): Promise<void> {
    await rm(join(this.manifests, file), { force: true });
  }

  /** Everything on `/pods`. */
  async pods(): Promise<Pod[]> {
    const list = (await this.get('/pods')) as { items: Pod[] | null };
    return list.items ?? [];
  }

  /** A pod on `/pods` by the name in its manifest; undefined when there is none. */
  async pod(name: string): Promise<Pod | undefined> {
    return (await this.pods()).find((p) => p.metadata?.name === `${name}-${NODE_NAME}`);
  }

  /** Is a pod (by its whole name) in `/stats/summary` with what it takes of the disk? */
  async isMeasured(name: string): Promise<boolean> {
    const { pods } = (await this.get('/stats/summary')) as {
      pods: { podRef: { name: string }; 'ephemeral-storage'?: { inodesUsed?: number } }[];
    };
    return pods.some(
      ({ podRef, 'ephemeral-storage': storage }) => podRef.name === name && storage?.inodesUsed !== undefined,
    );
  }

  /** State of the pod's machine (`/actorlet/pods`), '' when it is not there. */
  async machineState(name: string): Promise<string> {
    const list = (await this.get('/actorlet/pods')) as { pods: { name: string; state: string }[] };
    return list.pods.find((p) => p.name === `${name}-${NODE_NAME}`)?.state ?? '';
  }

  /** Waits until the pod is as `fits` wants it. What `fits` throws counts as "not yet". */
  async waitPod(name: string, what: string, fits: (pod: Pod) => boolean): Promise<Pod> {
    return waitFor(
      `pod ${name}: ${what}`,
      async () => {
        const pod = await this.pod(name);
        return pod !== undefined && fits(pod) ? pod : undefined;
      },
      async () =>
        `${JSON.stringify((await this.pod(name).catch(() => undefined))?.status)}\n${await this.agent.tail()}`,
    );
  }

  /** Waits until neither agent nor runtime hold anything of these pods. */
  async waitGone(...names: string[]): Promise<void> {
    const full = names.map((name) => `${name}-${NODE_NAME}`);
    await waitFor(
      `the end of ${names.join(', ')}`,
      async () => {
        const [pods, sandboxes] = await Promise.all([this.pods(), this.sandboxes()]);
        const left = [...pods.map((p) => p.metadata?.name ?? ''), ...sandboxes.map((s) => s.metadata?.name ?? '')];
        return left.some((name) => full.includes(name)) ? undefined : true;
      },
      () => this.whatIsThere(),
    );
  }

  /** What agent and runtime hold, and the agent's last lines: for a wait in vain. */
  private async whatIsThere(): Promise<string> {
    const looks = [this.get('/actorlet/pods'), this.sandboxes(), this.containers()];
    const seen = await Promise.allSettled<unknown>(looks);
    const told = seen.map((look) => (look.status === 'fulfilled' ? JSON.stringify(look.value) : String(look.reason)));
    return `${told.join('\n')}\n${await this.agent.tail()}`;
  }

  async sandboxes(): Promise<PodSandbox[]> {
    return this.containerd.cri.pods();
  }

  /** Containers of the runtime, of one pod (its manifest's name) or of all, newest first. */
  async containers(pod?: string): Promise<RuntimeContainer[]> {
    const all = await this.containerd.cri.containers();
    return all
      .sort((a, b) => (BigInt(a.createdAt) < BigInt(b.createdAt) ? 1 : -1))
      .map(runtimeContainer)
      .filter((c) => pod === undefined || c.pod === `${pod}-${NODE_NAME}`);
  }

  /** Ids of the running containers of a pod by container name; throws when a name runs twice. */
  async running(pod: string): Promise<Record<string, string>> {
    const out: Record<string, string> = {};
    for (const c of await this.containers(pod)) {
      if (!c.running) continue;
      assert.equal(out[c.name], undefined, `container ${c.name} of ${pod} runs twice`);
      out[c.name] = c.id;
    }
    return out;
  }

  /** What a container of a pod (its manifest's name, or its whole name) wrote to its log so far: the text of its lines, of attempt `attempt`. */
  async log(pod: string, container: string, attempt = 0): Promise<string[]> {
    const folders = await readdir(this.podLogs);
    const folder = folders.find((f) => [`${pod}-${NODE_NAME}`, pod].some((name) => f.startsWith(`default_${name}_`)));
    if (folder === undefined) throw new Error(`no log folder of ${pod} in ${folders.join(', ')}`);
    const text = await readFile(join(this.podLogs, folder, container, `${attempt}.log`), 'utf8');
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split(' ').slice(3).join(' '));
  }

  /** Lines of all the agents' logs so far (what is not JSON is left out). */
  async agentLog(): Promise<LogLine[]> {
    const files = (await readdir(this.rootDir)).filter((f) => /^agent-\d+\.log$/.test(f)).sort();
    const texts = await Promise.all(files.map((f) => readFile(join(this.rootDir, f), 'utf8')));
    return texts
      .join('\n')
      .split('\n')
      .flatMap((line) => (line.startsWith('{') && line.endsWith('}') ? [JSON.parse(line) as LogLine] : []));
  }

  /** Kubernetes events about a pod, in order: `reason: message`. */
  async events(pod: string): Promise<string[]> {
    return (await this.agentLog()).flatMap((line) => {
      if (line['reason'] === undefined || !JSON.stringify(line).includes(`${pod}-${NODE_NAME}`)) return [];
      return [`${String(line['reason'])}: ${String(line['message'])}`];
    });
  }

  /** Names of the links in /var/log/containers that belong to this node. */
  async logLinks(): Promise<string[]> {
    const out: string[] = [];
    for (const name of await readdir(CONTAINER_LOGS).catch(() => [])) {
      const target = await readlink(join(CONTAINER_LOGS, name)).catch(() => '');
      if (target.startsWith(`${this.podLogs}/`)) out.push(name);
    }
    return out;
  }

  /** Ends agent and containerd and takes away what the test node put on the machine. */
  async stop(): Promise<void> {
    try {
      if (this.current !== null && this.current.exit === null) await this.current.kill();
    } finally {
      await this.containerd.stop();
      await removeEmptyCgroups([this.cgroupRoot]);
      for (const name of await this.logLinks()) await unlink(join(CONTAINER_LOGS, name)).catch(() => undefined);
    }
  }

  private async get(path: string): Promise<unknown> {
    const reply = await fetch(`http://127.0.0.1:${this.ports.readOnlyPort}${path}`, {
      signal: AbortSignal.timeout(5_000),
    });
    if (!reply.ok) throw new Error(`${path}: ${reply.status}`);
    return reply.json();
  }
}

/** What a test node is made from. */
export interface TestNodeOptions {
  /** Further flags of the daemon. */
  flags?: readonly string[];
  /** Further fields of the configuration file. */
  config?: Record<string, unknown>;
  containerd?: TestContainerdOptions;
}

function runtimeContainer(c: Container): RuntimeContainer {
  return {
    id: c.id,
    pod: c.labels[LABEL.pod] ?? '',
    podUid: c.labels[LABEL.uid] ?? '',
    name: c.labels[LABEL.container] ?? '',
    running: c.state === 1,
    attempt: c.metadata?.attempt ?? 0,
  };
}
