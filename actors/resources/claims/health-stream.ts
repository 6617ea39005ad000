import type { ClientReadableStream } from '@grpc/grpc-js';
import { HealthStatus } from '../../../cri/generated/drahealth/v1alpha1/api.ts';
import type {
  DeviceHealth,
  DRAResourceHealthClient,
  NodeWatchResourcesResponse,
} from '../../../cri/generated/drahealth/v1alpha1/api.ts';
import { HEALTH_TIMEOUT_MS } from '../../../machines/claims/claim-health.ts';
import type { ToldHealth } from '../../../machines/claims/claim-health.ts';

/** Pause before a driver is asked again whose stream ended, or who has none, ms (kubelet: 5 s). */
const AGAIN_MS = 5_000;

/** Who hears of a driver's devices. */
export interface HealthHears {
  told: (devices: ToldHealth[]) => void;
  /** It tells nothing any more. */
  lost: () => void;
}

/** Follows what one plugin of a driver says of its devices' health (`DRAResourceHealth.NodeWatchResources`), as long as it is not closed. */
export class HealthStream {
  private readonly client: DRAResourceHealthClient;
  private readonly hears: HealthHears;
  private stream: ClientReadableStream<NodeWatchResourcesResponse> | undefined;
  private timer: NodeJS.Timeout | undefined;
  private closed = false;
  private telling = false;

  constructor(client: DRAResourceHealthClient, hears: HealthHears) {
    this.client = client;
    this.hears = hears;
    this.follow();
  }

  /** It has told something, and goes on. */
  get tells(): boolean {
    return this.telling;
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
    this.stream?.cancel();
    this.end();
  }

  private follow(): void {
    const stream = this.client.nodeWatchResources({});
    this.stream = stream;
    let over = false;
    const again = (): void => {
      if (over) return;
      over = true;
      if (this.closed) return;
      this.end();
      this.timer = setTimeout(() => this.follow(), AGAIN_MS).unref();
    };
    stream.on('data', ({ devices }: NodeWatchResourcesResponse) => {
      if (this.closed) return;
      this.telling = true;
      this.hears.told(devices.map(toldOf));
    });
    stream.on('error', again);
    stream.on('end', again);
  }

  private end(): void {
    if (!this.telling) return;
    this.telling = false;
    this.hears.lost();
  }
}

function toldOf({ device, health, healthCheckTimeoutSeconds }: DeviceHealth): ToldHealth {
  const seconds = Number(healthCheckTimeoutSeconds);
  return {
    pool: device?.poolName ?? '',
    device: device?.deviceName ?? '',
    health: health === HealthStatus.HEALTHY ? 'Healthy' : health === HealthStatus.UNHEALTHY ? 'Unhealthy' : 'Unknown',
    timeoutMs: seconds > 0 ? seconds * 1000 : HEALTH_TIMEOUT_MS,
  };
}
