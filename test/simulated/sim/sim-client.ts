import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { credentials, Metadata } from '@grpc/grpc-js';
import type { CallOptions, ServiceError } from '@grpc/grpc-js';
import {
  ContainerConfig,
  ImageServiceClient,
  PodSandboxConfig,
  RuntimeServiceClient,
} from '../../../cri/generated/runtime/v1/api.ts';
import type { DeepPartial, ContainerEventResponse } from '../../../cri/generated/runtime/v1/api.ts';
import type { SimScript } from '../../../cri/sim/script.ts';
import { startSimulatedRuntime } from '../../../cri/sim/simulated-runtime.ts';
import type { SimulatedRuntime } from '../../../cri/sim/simulated-runtime.ts';

type Method<Q, R> = (
  request: Q,
  metadata: Metadata,
  options: Partial<CallOptions>,
  callback: (error: ServiceError | null, response: R) => void,
) => unknown;

/** Calls one unary method; rejects with the ServiceError. */
export function call<Q, R>(client: object, method: Method<Q, R>, request: Q, deadlineMs = 30_000): Promise<R> {
  return new Promise((resolve, reject) => {
    method.call(client, request, new Metadata(), { deadline: Date.now() + deadlineMs }, (error, response) => {
      if (error === null) resolve(response);
      else reject(error);
    });
  });
}

/** A simulated runtime with a client on it; both end with the test. */
export interface Bench {
  dir: string;
  sim: SimulatedRuntime;
  runtime: RuntimeServiceClient;
  images: ImageServiceClient;
  /** Runs a sandbox of this pod name; namespace `default`, uid `uid-<pod>`. */
  sandbox(pod: string, config?: DeepPartial<PodSandboxConfig>): Promise<string>;
  /** Creates a container of image `busybox` in it. */
  create(sandboxId: string, name: string, config?: DeepPartial<ContainerConfig>): Promise<string>;
  /** Creates and starts. */
  run(sandboxId: string, name: string, config?: DeepPartial<ContainerConfig>): Promise<string>;
  stop(containerId: string, graceSeconds: number, deadlineMs?: number): Promise<void>;
  status(containerId: string): ReturnType<typeof statusOf>;
}

/** Every image is present unless the script says otherwise. */
export async function bench(t: TestContext, script: SimScript = {}, seed = 1): Promise<Bench> {
  const dir = mkdtempSync(join(tmpdir(), 'sim-'));
  const socket = join(dir, 's.sock');
  const images = script.images ?? [{ image: '*', present: true }];
  let sim: SimulatedRuntime;
  try {
    sim = await startSimulatedRuntime({ socket, script: { ...script, images }, seed });
  } catch (error) {
    rmSync(dir, { recursive: true, force: true });
    throw error;
  }
  const options = {
    'grpc.max_receive_message_length': -1,
    'grpc.initial_reconnect_backoff_ms': 20,
    'grpc.max_reconnect_backoff_ms': 50,
    'grpc.use_local_subchannel_pool': 1,
  };
  const runtime = new RuntimeServiceClient(`unix:${socket}`, credentials.createInsecure(), options);
  const image = new ImageServiceClient(`unix:${socket}`, credentials.createInsecure(), options);
  t.after(async () => {
    runtime.close();
    image.close();
    await sim.stop();
    rmSync(dir, { recursive: true, force: true });
  });
  const self: Bench = {
    dir,
    sim,
    runtime,
    images: image,
    sandbox: async (pod, config = {}) => {
      const request = { config: sandboxConfig(pod, config), runtimeHandler: '' };
      return (await call(runtime, runtime.runPodSandbox, request)).podSandboxId;
    },
    create: async (podSandboxId, name, config = {}) => {
      const request = { podSandboxId, config: containerConfig(name, config), sandboxConfig: undefined };
      return (await call(runtime, runtime.createContainer, request)).containerId;
    },
    run: async (sandboxId, name, config = {}) => {
      const containerId = await self.create(sandboxId, name, config);
      await call(runtime, runtime.startContainer, { containerId });
      return containerId;
    },
    stop: async (containerId, graceSeconds, deadlineMs) => {
      await call(runtime, runtime.stopContainer, { containerId, timeout: String(graceSeconds) }, deadlineMs);
    },
    status: (containerId) => statusOf(runtime, containerId),
  };
  return self;
}

/** A sandbox config with the labels every kubelet sets. */
export function sandboxConfig(pod: string, config: DeepPartial<PodSandboxConfig> = {}): PodSandboxConfig {
  return PodSandboxConfig.fromPartial({
    metadata: { name: pod, namespace: 'default', uid: `uid-${pod}`, attempt: 0 },
    labels: { 'io.kubernetes.pod.uid': `uid-${pod}`, 'io.kubernetes.pod.name': pod },
    ...config,
  });
}

/** A container config with image `busybox`. */
export function containerConfig(name: string, config: DeepPartial<ContainerConfig> = {}): ContainerConfig {
  return ContainerConfig.fromPartial({
    metadata: { name, attempt: 0 },
    image: { image: 'busybox', userSpecifiedImage: 'busybox' },
    labels: { 'io.kubernetes.container.name': name },
    logPath: `${name}/0.log`,
    ...config,
  });
}

async function statusOf(runtime: RuntimeServiceClient, containerId: string) {
  const { status } = await call(runtime, runtime.containerStatus, { containerId, verbose: false });
  if (status === undefined) throw new Error('no status');
  return status;
}

/** Collects the events of a stream; `opened` once the server has answered, `error` when it has ended with one. */
export function listen(runtime: RuntimeServiceClient): {
  events: ContainerEventResponse[];
  opened: Promise<void>;
  error: Promise<ServiceError>;
  cancel(): void;
} {
  const events: ContainerEventResponse[] = [];
  const stream = runtime.getContainerEvents({});
  const opened = new Promise<void>((resolve) => stream.once('metadata', () => resolve()));
  const error = new Promise<ServiceError>((resolve) => stream.once('error', (cause) => resolve(cause as ServiceError)));
  stream.on('data', (event: ContainerEventResponse) => events.push(event));
  return { events, opened, error, cancel: () => stream.cancel() };
}
