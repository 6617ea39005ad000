import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ApiClient, ApiResource } from '../../actors/cluster/api/api-client.ts';
import { isAlreadyExists } from '../../actors/cluster/api/api-client.ts';
import { createApiClient } from '../../actors/cluster/api/create-api-client.ts';
import { pino } from 'pino';
import {
  adminKubeconfig,
  apiServerFlags,
  COMPONENT_ENVIRONMENT,
  controllerManagerFlags,
  etcdFlags,
  KUBELET_API_BINDING,
  schedulerFlags,
} from '../control-plane/component-flags.ts';
import type { ControlPlaneSite } from '../control-plane/component-flags.ts';
import { DaemonProcess } from '../control-plane/daemon-process.ts';
import { Pki } from '../control-plane/pki.ts';
import type { ControlPlaneProgram, FoundPrograms } from '../control-plane/programs.ts';
import { freePorts } from '../demo-steps/free-ports.ts';
import { DemoFailure, waitUntil } from '../demo-steps/wait-until.ts';
import type { StepLimits } from '../demo-steps/wait-until.ts';

const BINDINGS: ApiResource = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterrolebindings' };
const SERVICE_ACCOUNTS: ApiResource = { group: '', version: 'v1', resource: 'serviceaccounts', namespace: 'default' };

/** Parts end by SIGTERM; what takes longer is killed, ms. */
const GRACE_MS = 5_000;

/** A control plane of the demo's own, on this machine's own address: etcd, API server, controllers and scheduler. */
export class OwnControlPlane {
  readonly kubeconfig: string;
  readonly pki: Pki;
  readonly api: ApiClient;
  private readonly site: ControlPlaneSite;
  private readonly programs: FoundPrograms['paths'];
  private readonly running: DaemonProcess[] = [];

  private constructor(site: ControlPlaneSite, programs: FoundPrograms['paths'], kubeconfig: string) {
    this.site = site;
    this.pki = site.pki;
    this.programs = programs;
    this.kubeconfig = kubeconfig;
    this.api = createApiClient({ kubeconfig, userAgent: 'actorlet-nodes-demo', log: pino({ level: 'silent' }) });
  }

  /** Prepares it in a folder, which is there and empty; nothing runs yet. */
  static async prepare(dir: string, address: string, programs: FoundPrograms['paths']): Promise<OwnControlPlane> {
    const [pki, [apiPort = 0, client = 0, peer = 0]] = await Promise.all([Pki.make(join(dir, 'pki')), freePorts(3)]);
    const site: ControlPlaneSite = {
      ...{ dir, pki, address, bindAddress: address, apiPort },
      etcdPorts: [client, peer],
    };
    await mkdir(join(dir, 'logs'));
    return new OwnControlPlane(site, programs, (await adminKubeconfig(site)).file);
  }

  /** Starts its parts, and waits until pods can be made. */
  async start(limits: StepLimits): Promise<void> {
    this.spawn('etcd', etcdFlags(this.site));
    const server = this.spawn('kube-apiserver', await apiServerFlags(this.site));
    const allowed = { method: 'POST', on: BINDINGS, body: KUBELET_API_BINDING.object } as const;
    await this.answered(limits, server, () =>
      this.api.request(allowed).catch((error: unknown) => {
        if (!isAlreadyExists(error)) throw error;
      }),
    );
    const controllers = this.spawn('kube-controller-manager', await controllerManagerFlags(this.site));
    this.spawn('kube-scheduler', await schedulerFlags(this.site));
    await this.answered(limits, controllers, () =>
      this.api.request({ method: 'GET', on: SERVICE_ACCOUNTS, name: 'default' }),
    );
  }

  /** Throws {@link DemoFailure} with its last words when a part has ended by itself. */
  async mustRun(): Promise<void> {
    for (const part of this.running)
      await part.mustRun().catch((error: unknown) => {
        throw new DemoFailure(error instanceof Error ? error.message : String(error));
      });
  }

  /** Ends all parts, etcd last. */
  async stop(): Promise<void> {
    this.api.close();
    const [etcd, ...others] = this.running;
    await Promise.all(others.map((part) => part.terminate(GRACE_MS)));
    await etcd?.terminate(GRACE_MS);
  }

  private spawn(name: ControlPlaneProgram, args: readonly string[]): DaemonProcess {
    const program = this.programs.get(name) ?? name;
    const logFile = join(this.site.dir, 'logs', `${name}.log`);
    const part = new DaemonProcess({ name, program, args, logFile, env: COMPONENT_ENVIRONMENT, ownGroup: true });
    this.running.push(part);
    return part;
  }

  private async answered(limits: StepLimits, part: DaemonProcess, ask: () => Promise<unknown>): Promise<void> {
    let problem = '';
    const look = async (): Promise<true | null> => {
      await this.mustRun();
      try {
        await ask();
        return true;
      } catch (error) {
        problem = error instanceof Error ? error.message : String(error);
        return null;
      }
    };
    await waitUntil(look, { ...limits, what: () => `${part.name} is not ready: ${problem}; its log: ${part.logFile}` });
  }
}
