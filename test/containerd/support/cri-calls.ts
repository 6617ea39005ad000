import { Client, credentials } from '@grpc/grpc-js';
import {
  ContainerConfig,
  ImageServiceService,
  PodSandboxConfig,
  RuntimeServiceService,
} from '../../../cri/generated/runtime/v1/api.ts';
import type { Container, Image, PodSandbox } from '../../../cri/generated/runtime/v1/api.ts';
import { BUSYBOX_IMAGE } from '../../../cri/private-containerd/own-images.ts';

/** One unary RPC as the generated code describes it, e.g. `RuntimeServiceService.listContainers`. */
export interface UnaryMethod<Q, R> {
  path: string;
  requestSerialize: (request: Q) => Buffer;
  responseDeserialize: (reply: Buffer) => R;
}

/** What a test asks of a sandbox; the rest is filled in. */
export interface SandboxWish {
  name: string;
  namespace?: string;
  uid?: string;
  /** Cgroup of the pod, `/actorlet-test/<uid>` when not given. */
  cgroupParent?: string;
  logDirectory?: string;
  labels?: Record<string, string>;
  portMappings?: { protocol: 0 | 1 | 2; containerPort: number; hostPort: number; hostIp: string }[];
}

/** Calls to a runtime, straight by the generated code and past the agent: what crictl is to a person. */
export class CriCalls {
  readonly endpoint: string;
  readonly #client: Client;

  constructor(endpoint: string) {
    this.endpoint = endpoint;
    this.#client = new Client(endpoint, credentials.createInsecure(), {
      'grpc.max_receive_message_length': 64 * 1024 * 1024,
      'grpc.use_local_subchannel_pool': 1,
    });
  }

  /** One RPC; rejects with grpc-js's `ServiceError`. */
  call<Q, R>(method: UnaryMethod<Q, R>, request: Q, timeoutMs = 60_000): Promise<R> {
    return new Promise((resolve, reject) => {
      this.#client.makeUnaryRequest(
        method.path,
        method.requestSerialize,
        method.responseDeserialize,
        request,
        { deadline: Date.now() + timeoutMs },
        (error, reply) =>
          error !== null || reply === undefined ? reject(error ?? new Error('no reply')) : resolve(reply),
      );
    });
  }

  close(): void {
    this.#client.close();
  }

  async pods(): Promise<PodSandbox[]> {
    return (await this.call(RuntimeServiceService.listPodSandbox, {})).items;
  }

  async containers(): Promise<Container[]> {
    return (await this.call(RuntimeServiceService.listContainers, {})).containers;
  }

  async images(): Promise<Image[]> {
    return (await this.call(ImageServiceService.listImages, {})).images;
  }

  /** Runs a sandbox and returns its id with the config that made it (CreateContainer wants it too). */
  async runSandbox(wish: SandboxWish): Promise<{ id: string; config: PodSandboxConfig }> {
    const uid = wish.uid ?? `uid-${wish.name}`;
    const config = PodSandboxConfig.fromPartial({
      metadata: { name: wish.name, namespace: wish.namespace ?? 'default', uid, attempt: 0 },
      hostname: wish.name,
      logDirectory: wish.logDirectory ?? '',
      labels: wish.labels ?? {},
      portMappings: wish.portMappings ?? [],
      linux: {
        cgroupParent: wish.cgroupParent ?? `/actorlet-test/${uid}`,
        securityContext: { namespaceOptions: { network: 0, pid: 1, ipc: 0 } },
      },
    });
    const reply = await this.call(RuntimeServiceService.runPodSandbox, { config, runtimeHandler: '' });
    return { id: reply.podSandboxId, config };
  }

  /** Creates and starts a busybox container in the sandbox; `command` replaces the image's. Returns its id. */
  async runContainer(
    sandbox: { id: string; config: PodSandboxConfig },
    name: string,
    command: string[],
    logPath = '',
  ): Promise<string> {
    const config = ContainerConfig.fromPartial({
      metadata: { name, attempt: 0 },
      image: { image: BUSYBOX_IMAGE },
      command,
      logPath,
      linux: { resources: {}, securityContext: { namespaceOptions: { network: 0, pid: 1, ipc: 0 } } },
    });
    const created = await this.call(RuntimeServiceService.createContainer, {
      podSandboxId: sandbox.id,
      config,
      sandboxConfig: sandbox.config,
    });
    await this.call(RuntimeServiceService.startContainer, { containerId: created.containerId });
    return created.containerId;
  }

  /** Runs a command in a container: exit code and output as text. */
  async exec(containerId: string, cmd: string[], timeoutSeconds = 20): Promise<{ code: number; out: string }> {
    const reply = await this.call(RuntimeServiceService.execSync, {
      containerId,
      cmd,
      timeout: String(timeoutSeconds),
    });
    return { code: reply.exitCode, out: Buffer.concat([reply.stdout, reply.stderr]).toString('utf8') };
  }

  /** Kills a container without grace: what an operator's `crictl stop -t 0` does. */
  async stopContainer(containerId: string): Promise<void> {
    await this.call(RuntimeServiceService.stopContainer, { containerId, timeout: '0' });
  }

  /** Stops and removes a sandbox with its containers. */
  async removeSandbox(podSandboxId: string): Promise<void> {
    await this.call(RuntimeServiceService.stopPodSandbox, { podSandboxId });
    await this.call(RuntimeServiceService.removePodSandbox, { podSandboxId });
  }
}
