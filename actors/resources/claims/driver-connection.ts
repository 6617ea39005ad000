import { connectivityState, credentials } from '@grpc/grpc-js';
import type { ClientOptions, ServiceError } from '@grpc/grpc-js';
import { DRAPluginClient } from '../../../cri/generated/dra/v1/api.ts';
import type {
  NodePrepareResourcesResponse,
  NodeUnprepareResourcesResponse,
} from '../../../cri/generated/dra/v1/api.ts';
import { DRAPluginClient as BetaClient } from '../../../cri/generated/dra/v1beta1/api.ts';
import type { NodePrepareResourcesResponse as BetaPrepared } from '../../../cri/generated/dra/v1beta1/api.ts';
import type { AskedClaim, ClaimResult } from '../../../machines/claims/claim-messages.ts';
import { DRAResourceHealthClient } from '../../../cri/generated/drahealth/v1alpha1/api.ts';
import { HealthStream } from './health-stream.ts';
import type { HealthHears } from './health-stream.ts';
import { callPlugin, goCode, PLUGIN_CHANNEL, PLUGIN_MESSAGE_BYTES } from '../plugins/plugin-channel.ts';
import type { BeginCall } from '../plugins/plugin-channel.ts';

/** Services of drivers that the node speaks, by the names under which they register. */
export const SERVICES = ['v1.DRAPlugin', 'v1beta1.DRAPlugin'] as const;
export type DriverService = (typeof SERVICES)[number];

/** Time that a driver has for any call, ms (kubelet: defaultClientCallTimeout). */
const CALL_MS = 45_000;

const OPTIONS: ClientOptions = {
  ...PLUGIN_CHANNEL,
  'grpc.max_receive_message_length': PLUGIN_MESSAGE_BYTES,
  // A driver that is restarted is found again long before its ResourceSlices go.
  'grpc.initial_reconnect_backoff_ms': 500,
  'grpc.max_reconnect_backoff_ms': 5_000,
};

/** Who hears of a connection. */
export interface ConnectionHears {
  connected: (is: boolean) => void;
  /** Seconds that a call took, by its path and how it ended. */
  called: (method: string, code: string, seconds: number) => void;
  /** Of its devices' health; absent where nobody wants to. */
  health?: HealthHears;
}

/** A connection to one plugin of a driver; it is kept up as long as it is not closed. */
export class DriverConnection {
  readonly endpoint: string;
  private readonly service: DriverService;
  private readonly client: DRAPluginClient;
  private readonly beta: BetaClient;
  private readonly hears: ConnectionHears;
  private readonly limitMs: number;
  private readonly healthStream: HealthStream | null;
  private closed = false;
  private is = false;

  constructor(endpoint: string, service: DriverService, hears: ConnectionHears, limitMs = CALL_MS) {
    this.endpoint = endpoint;
    this.service = service;
    this.hears = hears;
    this.limitMs = limitMs;
    this.client = new DRAPluginClient(`unix:${endpoint}`, credentials.createInsecure(), OPTIONS);
    this.beta = new BetaClient(`unix:${endpoint}`, credentials.createInsecure(), {
      ...OPTIONS,
      channelOverride: this.client.getChannel(),
    });
    this.healthStream = hears.health === undefined ? null : new HealthStream(this.healthClient(), hears.health);
    this.watch();
  }

  /** It says how its devices are. */
  get tellsHealth(): boolean {
    return this.healthStream?.tells === true;
  }

  get connected(): boolean {
    return this.is;
  }

  async prepare(claims: AskedClaim[]): Promise<ClaimResult[]> {
    const answer =
      this.service === 'v1.DRAPlugin'
        ? await this.call<NodePrepareResourcesResponse>('NodePrepareResources', (...rest) =>
            this.client.nodePrepareResources({ claims }, ...rest),
          )
        : await this.call<BetaPrepared>('NodePrepareResources', (...rest) =>
            this.beta.nodePrepareResources({ claims }, ...rest),
          );
    return Object.entries(answer.claims).map(([uid, { error, devices }]) => ({
      uid,
      error,
      devices: devices.map((device) => ({
        pool: device.poolName,
        device: device.deviceName,
        share: (device as { shareId?: string }).shareId ?? null,
        requests: device.requestNames,
        cdi: device.cdiDeviceIds,
      })),
    }));
  }

  async unprepare(claims: AskedClaim[]): Promise<ClaimResult[]> {
    const client = this.service === 'v1.DRAPlugin' ? this.client : this.beta;
    const answer = await this.call<NodeUnprepareResourcesResponse>('NodeUnprepareResources', (...rest) =>
      client.nodeUnprepareResources({ claims }, ...rest),
    );
    return Object.entries(answer.claims).map(([uid, result]) => ({
      ...{ uid, devices: [] },
      // An entry may stand there without anything in it.
      error: (result as { error: string } | undefined)?.error ?? '',
    }));
  }

  close(): void {
    this.closed = true;
    this.healthStream?.close();
    this.client.close();
  }

  private healthClient(): DRAResourceHealthClient {
    const channelOverride = this.client.getChannel();
    return new DRAResourceHealthClient(`unix:${this.endpoint}`, credentials.createInsecure(), {
      ...OPTIONS,
      channelOverride,
    });
  }

  /** Follows the connection, and asks for another one whenever it has ended. */
  private watch(): void {
    if (this.closed) return;
    const channel = this.client.getChannel();
    const state = channel.getConnectivityState(true);
    if (state === connectivityState.SHUTDOWN) return;
    const is = state === connectivityState.READY;
    if (is !== this.is) {
      this.is = is;
      this.hears.connected(is);
    }
    channel.watchConnectivityState(state, Infinity, () => this.watch());
  }

  /** One call, as a promise; a failure's message is as Go prints it. */
  private async call<R>(method: string, begin: BeginCall<R>): Promise<R> {
    const began = performance.now();
    const over = (code: string): void => {
      const path = `/k8s.io.kubelet.pkg.apis.dra.${this.service}/${method}`;
      this.hears.called(path, code, (performance.now() - began) / 1000);
    };
    try {
      const response = await callPlugin(this.limitMs, begin);
      over('OK');
      return response;
    } catch (error) {
      const failure = error as ServiceError;
      const code = goCode(failure);
      over(code);
      const details = code === 'DeadlineExceeded' ? 'context deadline exceeded' : failure.details;
      throw new Error(`${method}: rpc error: code = ${code} desc = ${details}`, { cause: error });
    }
  }
}
