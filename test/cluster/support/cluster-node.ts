import { chmod, mkdir, readFile, readdir, readlink, rename, rm, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePorts } from '../../../bin/demo-steps/free-ports.ts';
import { cgroupHierarchies, removeEmptyCgroups } from '../../../cri/private-containerd/container-remains.ts';
import { findProgram } from '../../../cri/private-containerd/binaries.ts';
import { endProcess } from '../../../cri/private-containerd/processes.ts';
import { silentLog } from '../../../cri/private-containerd/runtime-log.ts';
import { startPrivateContainerd } from '../../../cri/private-containerd/start-private-containerd.ts';
import type { PrivateContainerd } from '../../../cri/private-containerd/start-private-containerd.ts';
import type { RuntimeContainer } from '../../containerd/agent/support/test-node.ts';
import { waitFor } from '../../tools/wait-for.ts';
import { startTestContainerd } from '../../containerd/support/with-containerd.ts';
import type { TestContainerd, TestRuntime } from '../../containerd/support/with-containerd.ts';
import type { Node } from './api-objects.ts';
import { clusterTool } from './cluster-tool.ts';
import type { ControlPlane } from './control-plane.ts';
import { DaemonProcess } from '../../../bin/control-plane/daemon-process.ts';
import { stopOnSignal } from './end-with-test.ts';
import { nodeConfig } from './node-config.ts';
import type { AgentKind, NodePorts } from './node-config.ts';
import { withOwnPlugins } from './own-plugins.ts';
import { rememberMachine } from './reference-remains.ts';

/** The agent's program in this checkout. */
export const ACTORLET = fileURLToPath(new URL('../../../bin/actorlet', import.meta.url));
/** Folder of container log links; it is the machine's, not the test's. */
const CONTAINER_LOGS = '/var/log/containers';

/** What a node is made from. */
export interface ClusterNodeOptions {
  name: string;
  agent: AgentKind;
  /** A network namespace of its own. */
  netns?: boolean;
  /** Further fields of the KubeletConfiguration, or what makes them of the node's address. */
  config?: Record<string, unknown> | ((address: string) => Record<string, unknown>);
  /** Further flags of the agent. */
  flags?: readonly string[];
  /**
   * The reference's folder of device plugins is the one in its root directory, as the agent's is, in place of the machine's. What it mounts is
   * seen by nobody else then.
   */
  ownDevicePlugins?: true;
  /** Further variables of the agent's environment. */
  env?: NodeJS.ProcessEnv;
  /** A runtime that is there already and outlives the node: one agent after another on the same runtime. */
  containerd?: TestRuntime;
  /** Path of the agent's program; actorlet from this checkout, or the reference kubelet, without it. */
  program?: string;
}

/** A real node of a cluster: a containerd of its own, an agent, an address, a cgroup tree. */
export class ClusterNode {
  readonly name: string;
  readonly kind: AgentKind;
  readonly address: string;
  readonly cgroupRoot: string;
  readonly ports: NodePorts;
  readonly containerd: TestRuntime;
  readonly kubeconfig: string;
  private readonly plane: ControlPlane;
  private readonly netns: string | undefined;
  private readonly options: ClusterNodeOptions;
  private readonly putBack: () => Promise<void>;
  private readonly forget: () => void;
  private current: DaemonProcess | null = null;
  private restarted: PrivateContainerd | null = null;
  private lives = 0;
  private stopping: Promise<void> | undefined;

  private constructor(parts: {
    plane: ControlPlane;
    options: ClusterNodeOptions;
    address: string;
    netns: string | undefined;
    containerd: TestRuntime;
    kubeconfig: string;
    ports: NodePorts;
    putBack: () => Promise<void>;
  }) {
    this.plane = parts.plane;
    this.options = parts.options;
    this.name = parts.options.name;
    this.kind = parts.options.agent;
    this.address = parts.address;
    this.netns = parts.netns;
    this.containerd = parts.containerd;
    this.kubeconfig = parts.kubeconfig;
    this.ports = parts.ports;
    this.putBack = parts.putBack;
    this.cgroupRoot = `/${parts.plane.network.bridge}-${parts.options.name}`;
    this.forget = stopOnSignal(() => this.stop());
  }

  /** Makes the node and starts its agent; resolves when pods can be scheduled to it. The caller stops it. */
  static async start(plane: ControlPlane, options: ClusterNodeOptions): Promise<ClusterNode> {
    const node = await ClusterNode.make(plane, options);
    try {
      await node.startAgent();
      await node.waitSchedulable();
      return node;
    } catch (error) {
      await node.stop();
      throw error;
    }
  }

  /** Makes the node without starting its agent. */
  static async make(plane: ControlPlane, options: ClusterNodeOptions): Promise<ClusterNode> {
    const { network } = plane;
    const inside = options.netns === true ? await network.addNamespace(options.name) : undefined;
    const address = inside?.address ?? (await network.addAddress());
    let containerd: TestRuntime | undefined;
    try {
      const putBack = options.agent === 'kubelet' ? await rememberMachine() : () => Promise.resolve();
      const own = inside === undefined ? {} : { containerd: await wrapped(plane, options.name, inside.path) };
      containerd = options.containerd ?? (await startTestContainerd(own));
      const { kubeconfig, cert, key } = await plane.nodeKubeconfig(options.name, address);
      const [port = 0, readOnlyPort = 0, healthzPort = 0] = await freePorts(3);
      const ports = { port, readOnlyPort, healthzPort };
      const node = new ClusterNode({
        ...{ plane, options, address, netns: inside?.path },
        ...{ containerd, kubeconfig, ports, putBack },
      });
      await mkdir(node.manifests, { recursive: true });
      await node.makeCgroups();
      const { endpoint } = containerd;
      const more = typeof options.config === 'function' ? options.config(address) : (options.config ?? {});
      const config = nodeConfig({
        ...{ agent: options.agent, endpoint, rootDir: node.dir, cgroupRoot: node.cgroupRoot },
        ...{ caFile: plane.pki.ca.cert, cert, key, ports, more },
      });
      await writeFile(join(node.dir, 'config.json'), JSON.stringify(config, null, 1));
      return node;
    } catch (error) {
      if (options.containerd === undefined) await containerd?.stop();
      if (inside !== undefined) await network.removeNamespace(options.name);
      throw error;
    }
  }

  /** Folder of all that belongs to the node. */
  get dir(): string {
    const { rootDir } = this.containerd;
    return this.options.containerd === undefined ? rootDir : join(rootDir, this.name);
  }

  /** The agent's `--root-dir`. */
  get agentRoot(): string {
    return join(this.dir, this.kind);
  }

  /** Folder of static pods. */
  get manifests(): string {
    return join(this.dir, 'manifests');
  }

  get agent(): DaemonProcess {
    if (this.current === null) throw new Error(`no agent was started on ${this.name}`);
    return this.current;
  }

  /** Starts the agent's process; it may not run already. @param as the other agent takes the node over, with all its folders */
  async startAgent(as: AgentKind = this.kind): Promise<DaemonProcess> {
    if (this.current !== null && this.current.exit === null) throw new Error(`an agent runs already on ${this.name}`);
    this.lives++;
    const program = this.options.program ?? (as === 'kubelet' ? await this.kubelet() : ACTORLET);
    this.current = new DaemonProcess({
      name: `${as} on ${this.name}`,
      program,
      args: [
        ...['--config', join(this.dir, 'config.json'), '--kubeconfig', this.kubeconfig],
        ...['--hostname-override', this.name, '--node-ip', this.address],
        ...['--root-dir', this.agentRoot, '--cert-dir', join(this.agentRoot, 'pki')],
        ...(as === 'kubelet' ? [] : ['--device-plugins-dir', join(this.agentRoot, 'device-plugins')]),
        // its cadvisor asks the runtime itself for the names of containers, at a socket of its own choice; the newest knows no such flag
        ...(as === 'kubelet' && !program.includes('kubelet-newest')
          ? ['--containerd', this.containerd.endpoint.replace(/^unix:\/\//, '')]
          : []),
        ...(this.options.flags ?? []),
      ],
      logFile: join(this.dir, `agent-${String(this.lives).padStart(3, '0')}.log`),
      netns: this.netns,
      ...(this.options.env !== undefined && { env: this.options.env }),
    });
    return this.current;
  }

  private async kubelet(): Promise<string> {
    const kubelet = await clusterTool('kubelet');
    return this.options.ownDevicePlugins === true ? withOwnPlugins(kubelet, this.dir, this.agentRoot) : kubelet;
  }

  /** `kill -9` of the agent; containers run on. */
  async kill9(): Promise<void> {
    await this.agent.kill();
  }

  /** Ends the agent with SIGTERM and starts it again. */
  async restart(): Promise<void> {
    await this.agent.terminate();
    await this.startAgent();
  }

  /** Waits for the condition Ready of the node object to have this status, renewed by this agent. */
  async waitReady(status: 'True' | 'False' | 'Unknown' = 'True', patienceMs?: number): Promise<Node> {
    return waitFor(
      `node ${this.name} to have Ready=${status}`,
      async () => {
        if (status === 'True') await this.agent.mustRun();
        const node = await this.object();
        return node?.status?.conditions?.find((c) => c.type === 'Ready')?.status === status ? node : undefined;
      },
      () => this.explain(),
      patienceMs,
    );
  }

  /** Waits for the node to be Ready and free of the taints that the node lifecycle controller takes away after that. */
  async waitSchedulable(): Promise<void> {
    await this.waitReady();
    await waitFor(
      `node ${this.name} to be free of taints`,
      async () => {
        const taints = (await this.object())?.spec?.taints ?? [];
        return taints.some((t) => t.key.startsWith('node.kubernetes.io/')) ? undefined : true;
      },
      () => this.explain(),
    );
  }

  /** The node object. */
  object(): Promise<Node | undefined> {
    return this.plane.api.find<Node>(`/api/v1/nodes/${this.name}`);
  }

  /** The last words of the agent and the node's conditions, for the message of a failure. */
  async explain(): Promise<string> {
    const node = await this.object().catch(() => undefined);
    const tail = this.current === null ? 'no agent' : await this.current.tail();
    return `${this.name}: ${JSON.stringify(node?.status?.conditions)}\n${tail}`;
  }

  /** What the runtime has, and the agent's last words: which of the two is wrong about a container? */
  async lastWords(): Promise<string> {
    const all = await this.containers().catch(() => []);
    const has = all.map(
      (c) => `${c.pod}/${c.name}.${c.attempt} ${c.running ? 'runs' : 'does not run'} ${c.id.slice(0, 12)}`,
    );
    return `the runtime of ${this.name} has:\n${has.join('\n')}\n${await this.agent.tail(60)}`;
  }

  /** Ends containerd; containers run on. */
  async stopContainerd(): Promise<void> {
    const running = this.restarted ?? (this.containerd as Partial<TestContainerd>).containerd;
    if (running === undefined) throw new Error(`${this.name} has no containerd of its own`);
    running.detach();
    const { pid } = running;
    if (!(await endProcess(pid, 30_000))) throw new Error(`containerd ${pid} does not end`);
  }

  /** Starts containerd again on the same folder. */
  async startContainerd(): Promise<void> {
    const own = this.netns === undefined ? {} : { containerd: wrapperPath(this.plane, this.name) };
    this.restarted = await startPrivateContainerd({ rootDir: this.dir, log: silentLog, ...own });
  }

  /** Containers of the runtime, of the pods with these UIDs or of all. */
  async containers(...uids: readonly string[]): Promise<RuntimeContainer[]> {
    const all = await this.containerd.cri.containers();
    const out = all.map((c) => ({
      id: c.id,
      pod: c.labels['io.kubernetes.pod.name'] ?? '',
      podUid: c.labels['io.kubernetes.pod.uid'] ?? '',
      name: c.labels['io.kubernetes.container.name'] ?? '',
      running: c.state === 1,
      attempt: c.metadata?.attempt ?? 0,
    }));
    return uids.length === 0 ? out : out.filter((c) => uids.includes(c.podUid));
  }

  /** Id of the running container of a pod; throws unless exactly one runs. */
  async containerId(uid: string, name: string): Promise<string> {
    const found = (await this.containers(uid)).filter((c) => c.name === name && c.running);
    if (found.length !== 1) throw new Error(`${found.length} running containers ${name} of pod ${uid}`);
    return found[0]?.id ?? '';
  }

  /** Runs a shell script in a container and returns its output; throws when it fails. */
  async sh(uid: string, container: string, script: string): Promise<string> {
    const { code, out } = await this.containerd.cri.exec(await this.containerId(uid, container), ['sh', '-c', script]);
    if (code !== 0) throw new Error(`exit code ${code} of: ${script}\n${out}`);
    return out;
  }

  /** Pods whose containers run twice at the same time: must be empty at any time. */
  async doubles(): Promise<string[]> {
    const seen = new Map<string, number>();
    for (const c of await this.containers()) {
      if (c.running) seen.set(`${c.pod}/${c.name}`, (seen.get(`${c.pod}/${c.name}`) ?? 0) + 1);
    }
    return [...seen].filter(([, count]) => count > 1).map(([key]) => key);
  }

  /** Waits until the runtime holds no sandbox of these pods that is ready and no running container. */
  async waitNothingRuns(...uids: string[]): Promise<void> {
    await waitFor(`nothing of ${uids.length} pods to run on ${this.name}`, async () => {
      const containers = (await this.containers(...uids)).filter((c) => c.running);
      const sandboxes = (await this.containerd.cri.pods()).filter(
        (s) => s.state === 0 && uids.includes(s.labels['io.kubernetes.pod.uid'] ?? ''),
      );
      return containers.length + sandboxes.length === 0 ? true : undefined;
    });
  }

  /** Puts a static pod in place, in one piece. */
  async writeManifest(file: string, manifest: object): Promise<void> {
    await writeFile(join(this.manifests, `.${file}`), JSON.stringify(manifest));
    await rename(join(this.manifests, `.${file}`), join(this.manifests, file));
  }

  async removeManifest(file: string): Promise<void> {
    await rm(join(this.manifests, file), { force: true });
  }

  /** Body of a path of the agent's read-only server. */
  async readOnly(path: string): Promise<string> {
    const url = `http://${this.address}:${this.ports.readOnlyPort}${path}`;
    const reply = await fetch(url, { signal: AbortSignal.timeout(30_000) });
    if (!reply.ok) throw new Error(`${url}: ${reply.status}`);
    return reply.text();
  }

  /** Text of all the agents' logs so far. */
  async agentLogs(): Promise<string> {
    const files = (await readdir(this.dir)).filter((f) => /^agent-\d+\.log$/.test(f)).sort();
    return (await Promise.all(files.map((f) => readFile(join(this.dir, f), 'utf8')))).join('\n');
  }

  /** Ends agent, containers and containerd and takes away what the node put on the machine; may be called twice. */
  stop(): Promise<void> {
    this.stopping ??= this.end();
    return this.stopping;
  }

  private async end(): Promise<void> {
    try {
      if (this.current !== null && this.current.exit === null) await this.current.kill();
      this.restarted?.detach();
    } finally {
      try {
        await this.removeLogLinks();
        if (this.options.containerd === undefined) await this.containerd.stop();
      } finally {
        await removeEmptyCgroups([this.cgroupRoot]);
        if (this.netns !== undefined) await this.plane.network.removeNamespace(this.name);
        else await this.plane.network.removeAddress(this.address);
        await this.putBack();
        this.forget();
      }
    }
  }

  private async removeLogLinks(): Promise<void> {
    for (const name of await readdir(CONTAINER_LOGS).catch(() => [])) {
      const target = await readlink(join(CONTAINER_LOGS, name)).catch(() => '');
      if (target.startsWith(`${this.dir}/`)) await unlink(join(CONTAINER_LOGS, name)).catch(() => undefined);
    }
  }

  /** Either agent wants its cgroup root to exist in every hierarchy. */
  private async makeCgroups(): Promise<void> {
    for (const dir of await cgroupHierarchies()) await mkdir(join(dir, this.cgroupRoot), { recursive: true });
  }
}

function wrapperPath(plane: ControlPlane, node: string): string {
  return join(plane.dir, `netns-${node}`, 'containerd');
}

/** A containerd that starts in a network namespace: its shims, CNI plugins and containers come out of it, too. */
async function wrapped(plane: ControlPlane, node: string, netns: string): Promise<string> {
  const file = wrapperPath(plane, node);
  const real = (await findProgram('containerd')) ?? 'containerd';
  await mkdir(join(plane.dir, `netns-${node}`));
  await writeFile(file, `#!/bin/sh\nexec nsenter --net=${netns} ${real} "$@"\n`);
  await chmod(file, 0o755);
  return file;
}
