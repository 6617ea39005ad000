import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../../../bin/demo-steps/free-ports.ts';
import { waitFor } from '../../tools/wait-for.ts';
import {
  adminKubeconfig,
  apiServerFlags,
  COMPONENT_ENVIRONMENT,
  controllerManagerFlags,
  etcdFlags,
  KUBELET_API_BINDING,
  schedulerFlags,
  serverOf,
} from '../../../bin/control-plane/component-flags.ts';
import type { ControlPlaneSite } from '../../../bin/control-plane/component-flags.ts';
import { AdminApi } from './admin-api.ts';
import { ClusterNetwork } from './cluster-network.ts';
import { clusterTool } from './cluster-tool.ts';
import type { ClusterTool } from './cluster-tool.ts';
import { DaemonProcess } from '../../../bin/control-plane/daemon-process.ts';
import { stopOnSignal } from './end-with-test.ts';
import { writeKubeconfig } from '../../../bin/control-plane/kubeconfig.ts';
import { Kubectl } from './kubectl.ts';
import { Pki } from '../../../bin/control-plane/pki.ts';

/** Settings of a control plane. */
export interface ControlPlaneOptions {
  /** Further flags of kube-apiserver. */
  apiServerFlags?: readonly string[];
  /** Further flags of kube-controller-manager. */
  controllerManagerFlags?: readonly string[];
  /** Further flags of kube-scheduler. */
  schedulerFlags?: readonly string[];
  /** Write what node users call to `audit.log` (level Metadata). */
  audit?: boolean;
}

const NODE_CALLS_ONLY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived', 'ResponseStarted'],
  rules: [{ level: 'Metadata', userGroups: ['system:nodes'] }, { level: 'None' }],
};

/** A real control plane of one test file: etcd, kube-apiserver, kube-controller-manager, kube-scheduler. */
export class ControlPlane {
  readonly dir: string;
  readonly pki: Pki;
  readonly network: ClusterNetwork;
  /** `https://ADDRESS:PORT`, reachable from the machine and from every node's namespace. */
  readonly server: string;
  readonly apiPort: number;
  readonly adminKubeconfig: string;
  readonly auditLog: string;
  readonly api: AdminApi;
  readonly kubectl: Kubectl;
  private readonly options: ControlPlaneOptions;
  private readonly site: ControlPlaneSite;
  private readonly running = new Map<ClusterTool, DaemonProcess>();
  private readonly forget: () => void;
  private stopping: Promise<void> | undefined;

  private constructor(parts: {
    dir: string;
    pki: Pki;
    network: ClusterNetwork;
    ports: readonly [number, number, number];
    api: AdminApi;
    kubectl: Kubectl;
    options: ControlPlaneOptions;
  }) {
    this.dir = parts.dir;
    this.pki = parts.pki;
    this.network = parts.network;
    this.apiPort = parts.ports[0];
    this.site = {
      ...{ dir: parts.dir, pki: parts.pki, address: parts.network.hostAddress, bindAddress: '0.0.0.0' },
      ...{ apiPort: this.apiPort, etcdPorts: [parts.ports[1], parts.ports[2]] },
    };
    this.server = serverOf(this.site);
    this.adminKubeconfig = parts.kubectl.kubeconfig;
    this.auditLog = join(parts.dir, 'audit.log');
    this.api = parts.api;
    this.kubectl = parts.kubectl;
    this.options = parts.options;
    this.forget = stopOnSignal(() => this.stop());
  }

  /** Starts all parts and waits until pods can be created. Takes about ten seconds; the caller stops it. */
  static async start(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
    const dir = await mkdtemp(join(tmpdir(), 'clu-'));
    let network: ClusterNetwork | undefined;
    let plane: ControlPlane | undefined;
    try {
      network = await ClusterNetwork.make();
      const [pki, ports] = await Promise.all([Pki.make(join(dir, 'pki')), freePorts(3)]);
      const [apiPort = 0, etcdPort = 0, peerPort = 0] = ports;
      const admin = await adminKubeconfig({ dir, pki, address: network.hostAddress, apiPort });
      plane = new ControlPlane({
        dir,
        pki,
        network,
        ports: [apiPort, etcdPort, peerPort],
        api: new AdminApi(network.hostAddress, apiPort, pki.ca.cert, { pair: admin }),
        kubectl: new Kubectl(await clusterTool('kubectl'), admin.file),
        options,
      });
      await plane.startAll();
      return plane;
    } catch (error) {
      if (plane !== undefined) await plane.stop();
      else {
        await network?.remove();
        await rm(dir, { recursive: true, force: true });
      }
      throw error;
    }
  }

  /** The process of a part; throws when it was never started. */
  part(name: ClusterTool): DaemonProcess {
    const found = this.running.get(name);
    if (found === undefined) throw new Error(`${name} was not started`);
    return found;
  }

  /** A kubeconfig with a certificate of `system:node:NAME`, and a serving certificate for its address. */
  async nodeKubeconfig(name: string, address: string): Promise<{ kubeconfig: string; cert: string; key: string }> {
    const names = [`DNS:${name}`, `IP:${address}`];
    const pair = await this.pki.issue(`node-${name}-${address}`, `system:node:${name}`, 'system:nodes', names);
    const kubeconfig = join(this.dir, `node-${name}.kubeconfig`);
    await writeKubeconfig(kubeconfig, this.server, this.pki.ca.cert, pair);
    return { kubeconfig, ...pair };
  }

  /** An API client with a bearer token instead of the admin's certificate. */
  apiWithToken(token: string): AdminApi {
    return new AdminApi(this.network.hostAddress, this.apiPort, this.pki.ca.cert, { token });
  }

  /** Ends the API server; the rest of the control plane goes on and tries to reach it. */
  async stopApiServer(): Promise<void> {
    await this.part('kube-apiserver').terminate(5_000);
  }

  /** The API server takes requests and does not answer them, until {@link resumeApiServer}. */
  pauseApiServer(): void {
    this.part('kube-apiserver').pause();
  }

  resumeApiServer(): void {
    this.part('kube-apiserver').resume();
  }

  /** Starts the API server on the port it had, and waits until it is ready. */
  async startApiServer(): Promise<void> {
    const policy = join(this.dir, 'audit-policy.json');
    if (this.options.audit === true) await writeFile(policy, JSON.stringify(NODE_CALLS_ONLY));
    const audit = ['--audit-policy-file', policy, '--audit-log-path', this.auditLog];
    await this.spawn('kube-apiserver', [
      ...(await apiServerFlags(this.site)),
      ...(this.options.audit === true ? audit : []),
      ...(this.options.apiServerFlags ?? []),
    ]);
    await this.ready('kube-apiserver', async () => ((await this.api.text('/readyz')) === 'ok' ? true : undefined));
  }

  /** Ends everything and removes it; may be called twice. */
  stop(): Promise<void> {
    this.stopping ??= (async () => {
      this.api.close();
      try {
        const parts = [...this.running.values()];
        await Promise.all(parts.filter((part) => part.name !== 'etcd').map((part) => part.kill()));
        await this.running.get('etcd')?.kill();
      } finally {
        await this.network.remove();
        await rm(this.dir, { recursive: true, force: true });
        this.forget();
      }
    })();
    return this.stopping;
  }

  private async startAll(): Promise<void> {
    await mkdir(join(this.dir, 'logs'));
    await this.spawn('etcd', etcdFlags(this.site));
    await this.startApiServer();
    await this.api.post(KUBELET_API_BINDING.path, KUBELET_API_BINDING.object);
    await Promise.all([this.startControllerManager(), this.startScheduler()]);
    const sa = '/api/v1/namespaces/default/serviceaccounts/default';
    const priority = '/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical';
    for (const path of [sa, priority]) {
      await this.ready('kube-controller-manager', async () => this.api.find<object>(path));
    }
  }

  private async startControllerManager(): Promise<void> {
    await this.spawn('kube-controller-manager', [
      ...(await controllerManagerFlags(this.site)),
      ...(this.options.controllerManagerFlags ?? []),
    ]);
  }

  private async startScheduler(): Promise<void> {
    await this.spawn('kube-scheduler', [...(await schedulerFlags(this.site)), ...(this.options.schedulerFlags ?? [])]);
  }

  private async spawn(name: ClusterTool, args: readonly string[]): Promise<void> {
    const logFile = join(this.dir, 'logs', `${name}.log`);
    const program = await clusterTool(name);
    this.running.set(name, new DaemonProcess({ name, program, args, logFile, env: COMPONENT_ENVIRONMENT }));
  }

  private async ready<T>(name: ClusterTool, look: () => Promise<T | undefined>): Promise<T> {
    return waitFor(
      `${name} to be ready`,
      async () => (this.part(name).exit === null ? look() : undefined),
      () => this.part(name).tail(),
    );
  }

  /** Throws when a part has died without being asked to. */
  async mustRun(): Promise<void> {
    for (const part of this.running.values()) await part.mustRun();
  }
}
