import { credentials, Metadata } from '@grpc/grpc-js';
import { NodeClient, NodeServiceCapability_RPC_Type as Capability } from '../../../cri/generated/csi/v1/node.ts';
import type {
  NodeExpandVolumeRequest,
  NodeExpandVolumeResponse,
  NodeGetCapabilitiesResponse,
  NodeGetInfoResponse,
  NodeGetVolumeStatsResponse,
  NodePublishVolumeRequest,
  NodeStageVolumeRequest,
} from '../../../cri/generated/csi/v1/node.ts';
import type { DriverNodeInfo } from '../../../machines/csi/node-drivers.ts';
import { PLUGIN_CHANNEL } from '../plugins/plugin-channel.ts';
import type { BeginCall } from '../plugins/plugin-channel.ts';
import { csiCallError, CsiCallError } from './csi-error.ts';

/** How long one operation may take, all its calls together, ms (kubelet: csiTimeout). */
export const CSI_TIMEOUT_MS = 120_000;

/** One call as metrics tell it. `code` as Go spells gRPC's. */
export interface CsiCallReport {
  driver: string;
  /** With its service: `/csi.v1.Node/NodeStageVolume`. */
  method: string;
  code: string;
  seconds: number;
  /** For a volume of a cloud's own kind that the driver has taken over. */
  migrated?: true;
}

/** What a client works with. */
export interface CsiClientOptions {
  driver: string;
  /** Path of its socket. */
  endpoint: string;
  /** Breaks off what is under way. */
  signal?: AbortSignal;
  timeoutMs?: number;
  /** It is for such a volume. */
  migrated?: true;
  onCall?: (report: CsiCallReport) => void;
}

/** What the driver's node service can do; see the specification. */
export type CsiCapability = keyof typeof Capability;

/**
 * The node service of one CSI driver, for one operation: each has a connection of its own, as kubelet's, so a driver that comes back is met
 * at once. What it says of itself is asked once. To be closed. All calls reject with {@link CsiCallError}; no request is ever logged, for
 * they hold secrets.
 */
export class CsiNodeClient {
  readonly driver: string;
  private readonly options: CsiClientOptions;
  private readonly client: NodeClient;
  private readonly deadline: number;
  private asked: Promise<ReadonlySet<number>> | undefined;

  constructor(options: CsiClientOptions) {
    this.driver = options.driver;
    this.options = options;
    this.client = new NodeClient(`unix:${options.endpoint}`, credentials.createInsecure(), PLUGIN_CHANNEL);
    this.deadline = Date.now() + (options.timeoutMs ?? CSI_TIMEOUT_MS);
  }

  close(): void {
    this.client.close();
  }

  /** Has the node service this capability? */
  async can(what: CsiCapability): Promise<boolean> {
    this.asked ??= this.call<NodeGetCapabilitiesResponse>('NodeGetCapabilities', (...rest) =>
      this.client.nodeGetCapabilities({}, ...rest),
    ).then(({ capabilities }) => new Set(capabilities.flatMap(({ rpc }) => rpc?.type ?? [])));
    return (await this.asked).has(Capability[what]);
  }

  async info(): Promise<DriverNodeInfo> {
    const { nodeId, maxVolumesPerNode, accessibleTopology } = await this.call<NodeGetInfoResponse>(
      'NodeGetInfo',
      (...rest) => this.client.nodeGetInfo({}, ...rest),
    );
    return { nodeId, maxVolumes: maxVolumesPerNode, topology: { ...accessibleTopology?.segments } };
  }

  async stage(request: NodeStageVolumeRequest): Promise<void> {
    await this.call('NodeStageVolume', (...rest) => this.client.nodeStageVolume(request, ...rest));
  }

  async publish(request: NodePublishVolumeRequest): Promise<void> {
    await this.call('NodePublishVolume', (...rest) => this.client.nodePublishVolume(request, ...rest));
  }

  async unpublish(volumeId: string, targetPath: string): Promise<void> {
    await this.call('NodeUnpublishVolume', (...rest) =>
      this.client.nodeUnpublishVolume({ volumeId, targetPath }, ...rest),
    );
  }

  async unstage(volumeId: string, stagingTargetPath: string): Promise<void> {
    await this.call('NodeUnstageVolume', (...rest) =>
      this.client.nodeUnstageVolume({ volumeId, stagingTargetPath }, ...rest),
    );
  }

  /** Answers the size that the volume has now, bytes; 0 when the driver does not say. */
  async expand(request: NodeExpandVolumeRequest): Promise<number> {
    const { capacityBytes } = await this.call<NodeExpandVolumeResponse>('NodeExpandVolume', (...rest) =>
      this.client.nodeExpandVolume(request, ...rest),
    );
    return Number(capacityBytes);
  }

  async stats(volumeId: string, volumePath: string): Promise<NodeGetVolumeStatsResponse> {
    return this.call('NodeGetVolumeStats', (...rest) =>
      this.client.nodeGetVolumeStats({ volumeId, volumePath, stagingTargetPath: '' }, ...rest),
    );
  }

  private call<R>(method: string, begin: BeginCall<R>): Promise<R> {
    const { endpoint, signal, onCall, migrated } = this.options;
    const began = performance.now();
    const path = `/csi.v1.Node/${method}`;
    const tell = (code: string): void =>
      onCall?.({
        ...{ driver: this.driver, method: path, code, seconds: (performance.now() - began) / 1000 },
        ...(migrated && { migrated }),
      });
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true)
        return reject(new CsiCallError('Canceled', 'rpc error: code = Canceled desc = context canceled'));
      const cancel = (): void => call.cancel();
      const call = begin(new Metadata(), { deadline: this.deadline }, (error, response) => {
        signal?.removeEventListener('abort', cancel);
        if (error === null) {
          tell('OK');
          return resolve(response);
        }
        const failure = csiCallError(path, endpoint, error);
        tell(failure.code);
        reject(failure);
      });
      signal?.addEventListener('abort', cancel, { once: true });
    });
  }
}
