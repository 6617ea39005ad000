import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Server, ServerCredentials, status } from '@grpc/grpc-js';
import type { sendUnaryData, ServerUnaryCall } from '@grpc/grpc-js';
import { PodResourcesListerService } from '../../../cri/generated/podresources/v1/api.ts';
import type { PodResourcesListerServer } from '../../../cri/generated/podresources/v1/api.ts';
import { PodResourcesListerService as AlphaService } from '../../../cri/generated/podresources/v1alpha1/api.ts';
import type { PodResourcesListerServer as AlphaServer } from '../../../cri/generated/podresources/v1alpha1/api.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import {
  allocatableResources,
  alphaPodResources,
  podResources,
} from '../../../machines/pod-resources-api/pod-resources.ts';
import type { PodResourcesFacts } from '../../../machines/pod-resources-api/pod-resources.ts';
import type { Metrics } from '../../record/metrics/metrics-registry.ts';
import { TokenBucket } from '../../runtime/flow-control/token-bucket.ts';

/** Kubelet's DefaultQPS and DefaultBurstTokens: who asks more often is refused. */
const QPS = 100;
const BURST = 10;

/** What the pod-resources API answers from. */
export interface PodResourcesOptions {
  /** `pod-resources` in the root directory; the socket in it is `kubelet.sock`. */
  folder: string;
  /** Pods that have not ended. */
  active: () => readonly Pod[];
  /** All pods of the node (gate KubeletPodResourcesListUseActivePods off). */
  pods: () => readonly Pod[];
  podNamed: (namespace: string, name: string) => Pod | undefined;
  facts: () => PodResourcesFacts;
  gates: { get: boolean; listActive: boolean };
  metrics: Pick<
    Metrics,
    | 'podResourcesRequests'
    | 'podResourcesLists'
    | 'podResourcesAllocatables'
    | 'podResourcesGets'
    | 'podResourcesGetErrors'
  >;
}

/** The pod-resources API, versions v1 and v1alpha1 (KEP-606, KEP-2043): who has which devices, CPUs and memory, for agents that watch over them. */
export class PodResourcesServer {
  private readonly options: PodResourcesOptions;
  private readonly bucket = new TokenBucket(QPS, BURST);
  private server: Server | undefined;

  constructor(options: PodResourcesOptions) {
    this.options = options;
  }

  get socket(): string {
    return join(this.options.folder, 'kubelet.sock');
  }

  /** Rejects when the socket cannot be made. */
  async start(): Promise<void> {
    await mkdir(this.options.folder, { recursive: true, mode: 0o750 });
    await rm(this.socket, { force: true });
    const server = new Server();
    server.addService(PodResourcesListerService, this.calls());
    server.addService(AlphaService, this.alphaCalls());
    this.server = server;
    await new Promise<void>((resolve, reject) =>
      server.bindAsync(`unix:${this.socket}`, ServerCredentials.createInsecure(), (error) =>
        error === null ? resolve() : reject(error),
      ),
    );
  }

  async stop(): Promise<void> {
    if (this.server === undefined) return;
    this.server.forceShutdown();
    this.server = undefined;
    await rm(this.socket, { force: true });
  }

  /** The first version of the API; kubelet limits it by the same rate. */
  private alphaCalls(): AlphaServer {
    const { pods, facts, metrics } = this.options;
    return {
      list: (_call, done) => {
        if (!this.bucket.tryTake()) return done({ code: status.RESOURCE_EXHAUSTED, details: 'rejected by rate limit' });
        metrics.podResourcesRequests.inc({ server_api_version: 'v1alpha1' });
        const now = facts();
        done(null, { podResources: pods().map((pod) => alphaPodResources(pod, now)) });
      },
    };
  }

  private calls(): PodResourcesListerServer {
    const { active, pods, podNamed, facts, gates, metrics } = this.options;
    const version = { server_api_version: 'v1' };
    const limited =
      <Req, Res>(answer: (request: Req) => Res) =>
      ({ request }: ServerUnaryCall<Req, Res>, done: sendUnaryData<Res>): void => {
        if (!this.bucket.tryTake()) return done({ code: status.RESOURCE_EXHAUSTED, details: 'rejected by rate limit' });
        metrics.podResourcesRequests.inc(version);
        try {
          done(null, answer(request));
        } catch (error) {
          done({ code: status.UNKNOWN, details: error instanceof Error ? error.message : String(error) });
        }
      };
    return {
      list: limited(() => {
        metrics.podResourcesLists.inc(version);
        const now = facts();
        return { podResources: (gates.listActive ? active() : pods()).map((pod) => podResources(pod, now)) };
      }),
      getAllocatableResources: limited(() => {
        metrics.podResourcesAllocatables.inc(version);
        return allocatableResources(facts());
      }),
      get: limited(({ podName, podNamespace }: { podName: string; podNamespace: string }) => {
        metrics.podResourcesGets.inc(version);
        const pod = podNamed(podNamespace, podName);
        if (gates.get && pod !== undefined) return { podResources: podResources(pod, facts()) };
        metrics.podResourcesGetErrors.inc(version);
        throw new Error(
          gates.get ? `pod ${podName} in namespace ${podNamespace} not found` : 'PodResources API Get method disabled',
        );
      }),
    };
  }
}
