import { claimHealth } from '../../machines/claims/claim-health.ts';
import { deviceHealth } from '../../machines/devices/device-health.ts';
import type { Pod } from '../../machines/protocol/api-types.ts';
import type { PodMessage } from '../../machines/protocol/messages.ts';
import { joinedHealth } from '../../machines/protocol/resource-health.ts';
import type { PodHealth } from '../../machines/protocol/resource-health.ts';
import { uidEntries } from '../../machines/supervisor/uid-table.ts';
import type { ClaimManager } from '../resources/claims/claim-manager.ts';
import type { DeviceManager } from '../resources/devices/device-manager.ts';

/** Who knows of devices, and who is to hear of their health. */
export interface HealthTellerOptions {
  /** Gate ResourceHealthStatus. */
  enabled: boolean;
  /** Null where no device plugin can come. */
  devices: () => Pick<DeviceManager, 'state'> | null;
  /** Null where no driver can come. */
  claims: () => Pick<ClaimManager, 'state'> | null;
  podOf: (uid: string) => Pod | undefined;
  tell: (uid: string, message: PodMessage) => void;
  now: () => number;
}

/** Tells pods how the devices of their containers are, whenever that has changed. */
export class HealthTeller {
  private readonly options: HealthTellerOptions;
  /** What pods were told last, as text. */
  private readonly told = new Map<string, string>();

  constructor(options: HealthTellerOptions) {
    this.options = options;
  }

  /** What a pod that starts is told; undefined where nothing is. */
  start(uid: string): PodHealth | undefined {
    const health = this.of(uid);
    if (health === undefined) this.told.delete(uid);
    else this.told.set(uid, JSON.stringify(health));
    return health;
  }

  /** Devices or claims are others, or their health is: who has some hears of it. */
  changed(): void {
    if (!this.options.enabled) return;
    const having = [
      ...uidEntries(this.options.devices()?.state.grants ?? {}).map(([uid]) => uid),
      ...Object.values(this.options.claims()?.state.claims ?? {}).flatMap(({ pods }) => pods),
    ];
    for (const uid of new Set([...having, ...this.told.keys()])) {
      if (this.options.podOf(uid) === undefined) {
        this.told.delete(uid);
        continue;
      }
      const health = this.of(uid) ?? {};
      const text = JSON.stringify(health);
      if (text === (this.told.get(uid) ?? '{}')) continue;
      this.told.set(uid, text);
      this.options.tell(uid, { type: 'pod.health', at: this.options.now(), health });
    }
  }

  private of(uid: string): PodHealth | undefined {
    const { enabled, devices, claims, podOf } = this.options;
    const pod = podOf(uid);
    if (!enabled || pod === undefined) return undefined;
    const [its, state] = [devices()?.state, claims()?.state];
    const health = joinedHealth(its ? deviceHealth(its, uid) : {}, state ? claimHealth(state, pod) : {});
    return Object.keys(health).length === 0 ? undefined : health;
  }
}
