import type { ToldHealth } from '../../../machines/claims/claim-health.ts';
import type { AskedClaim, ClaimResult } from '../../../machines/claims/claim-messages.ts';

/** What drivers of dynamic resources tell the node. */
export interface DriverHears {
  /** `registered`: a plugin of the driver is; `connected`: one of them can be called. Told at each change. */
  told: (driver: string, state: { registered: boolean; connected: boolean }) => void;
  /** How a driver's devices are (gate ResourceHealthStatus). */
  health: (driver: string, devices: ToldHealth[]) => void;
  /** None of its plugins tells so any more. */
  healthLost: (driver: string) => void;
}

/** The way to the drivers of the node. Calls reject with an Error whose message is as kubelet tells it. */
export interface ClaimDrivers {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** `NodePrepareResources`. */
  prepare(driver: string, claims: AskedClaim[]): Promise<ClaimResult[]>;
  /** `NodeUnprepareResources`. */
  unprepare(driver: string, claims: AskedClaim[]): Promise<ClaimResult[]>;
}
