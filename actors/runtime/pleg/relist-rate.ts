/** How often everything is listed, and how long a list may be missing before PLEG is unhealthy. */
export interface RelistRate {
  periodMs: number;
  thresholdMs: number;
}

/** Without events (kubelet's genericPlegRelistPeriod and -Threshold). */
export const GENERIC_RATE: RelistRate = { periodMs: 1_000, thresholdMs: 180_000 };
/** Beside a stream of events (KEP-3386; kubelet's eventedPlegRelistPeriod and -Threshold). */
export const EVENTED_RATE: RelistRate = { periodMs: 300_000, thresholdMs: 600_000 };
