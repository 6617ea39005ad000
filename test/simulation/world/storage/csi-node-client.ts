import { CsiCallError } from '../../../../actors/resources/csi/csi-error.ts';
import type * as agents from '../../../../actors/resources/csi/node-client.ts';
import type { SimulatedDriver } from './csi-driver.ts';

/** How long one operation may take, ms, as the agent's own client has it. */
export const CSI_TIMEOUT_MS = 120_000;

type Stage = Parameters<agents.CsiNodeClient['stage']>[0];
type Publish = Parameters<agents.CsiNodeClient['publish']>[0];
type Expand = Parameters<agents.CsiNodeClient['expand']>[0];

let drivers: ReadonlyMap<string, SimulatedDriver> = new Map();

/** From now on these are the drivers of the node, by name. */
export function setDrivers(those: ReadonlyMap<string, SimulatedDriver>): void {
  drivers = those;
}

/** The agent's client of a driver, without gRPC: the loader gives it in the place of `actors/resources/csi/node-client.ts`. */
export class CsiNodeClient {
  readonly driver: string;
  private readonly options: agents.CsiClientOptions;
  private readonly until: number;

  constructor(options: agents.CsiClientOptions) {
    this.driver = options.driver;
    this.options = options;
    this.until = Date.now() + (options.timeoutMs ?? CSI_TIMEOUT_MS);
  }

  close(): void {
    // Nothing is open.
  }

  async can(what: agents.CsiCapability): Promise<boolean> {
    const { plan } = await this.answering();
    if (what === 'STAGE_UNSTAGE_VOLUME') return plan.stages;
    return what === 'SINGLE_NODE_MULTI_WRITER' || what === 'EXPAND_VOLUME';
  }

  async info(): ReturnType<agents.CsiNodeClient['info']> {
    await this.answering();
    return { nodeId: `node-of-${this.driver}`, maxVolumes: '0', topology: {} };
  }

  async stage(request: Stage): Promise<void> {
    const { volumeId: handle, stagingTargetPath: path, volumeCapability, publishContext, volumeContext } = request;
    const same = JSON.stringify({ volumeCapability, publishContext, volumeContext });
    const block = volumeCapability?.block !== undefined;
    await this.call({ call: 'NodeStageVolume', handle, path, staging: path, block, request: same });
  }

  async publish(request: Publish): Promise<void> {
    const {
      volumeId: handle,
      targetPath: path,
      stagingTargetPath,
      volumeCapability,
      publishContext,
      readonly,
    } = request;
    const { volumeContext } = request;
    const same = JSON.stringify({ stagingTargetPath, volumeCapability, publishContext, readonly, volumeContext });
    const block = volumeCapability?.block !== undefined;
    await this.call({ call: 'NodePublishVolume', handle, path, staging: stagingTargetPath, block, request: same });
  }

  async unpublish(handle: string, path: string): Promise<void> {
    await this.call({ call: 'NodeUnpublishVolume', handle, path, staging: '', block: false, request: '' });
  }

  async unstage(handle: string, path: string): Promise<void> {
    await this.call({ call: 'NodeUnstageVolume', handle, path, staging: path, block: false, request: '' });
  }

  async expand(request: Expand): Promise<number> {
    const { volumeId: handle, volumePath: path, stagingTargetPath: staging, capacityRange } = request;
    await this.call({ call: 'NodeExpandVolume', handle, path, staging, block: false, request: '' });
    return Number(capacityRange?.requiredBytes ?? 0);
  }

  private async call(request: Parameters<SimulatedDriver['call']>[1]): Promise<void> {
    const { signal, endpoint, onCall } = this.options;
    if (signal?.aborted === true)
      throw new CsiCallError('Canceled', 'rpc error: code = Canceled desc = context canceled');
    const method = `/csi.v1.Node/${request.call}`;
    try {
      await drivers.get(this.driver)?.call(endpoint, request, signal, this.until);
      onCall?.({ driver: this.driver, method, code: 'OK', seconds: 0 });
    } catch (error) {
      onCall?.({ driver: this.driver, method, code: (error as CsiCallError).code, seconds: 0 });
      throw error;
    }
  }

  /** What changes nothing is answered at once by a driver that is there. */
  private answering(): Promise<SimulatedDriver> {
    const { endpoint } = this.options;
    const driver = drivers.get(this.driver);
    if (driver !== undefined && driver.endpoint === endpoint) return Promise.resolve(driver);
    const text = `connection error: desc = "transport: Error while dialing: dial unix ${endpoint}"`;
    return Promise.reject(new CsiCallError('Unavailable', `rpc error: code = Unavailable desc = ${text}`));
  }
}
