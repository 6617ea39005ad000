import type { AdmissionOrder } from '../../../machines/admission/admission-messages.ts';
import type { AdmissionState } from '../../../machines/admission/admission-state.ts';
import type { Metrics } from '../../record/metrics/metrics-registry.ts';

/** The metrics of resizes. */
export type AdmissionMetrics = Pick<
  Metrics,
  'requestedResizes' | 'infeasibleResizes' | 'pendingResizes' | 'resizes' | 'acceptedResizes' | 'resizeDuration'
>;

/** Counts what an order tells of. */
export function measureOrder(metrics: AdmissionMetrics, order: AdmissionOrder): void {
  switch (order.type) {
    case 'resize.asked':
      for (const operation of order.operations) metrics.requestedResizes.inc({ ...operation });
      break;
    case 'resize.accepted':
      metrics.acceptedResizes.inc({ retry_trigger: order.trigger });
      break;
    case 'resize.infeasible':
      metrics.infeasibleResizes.inc({ reason_detail: order.detail });
      break;
    case 'resize.took':
      metrics.resizeDuration.observe({ success: String(order.success) }, order.ms);
      break;
    default:
      break;
  }
}

/**
 * How many resizes wait, and why; how many are under way. With each change of a pod only those of its bucket are counted anew: a node with
 * thousands of pods would count all of them for each report of one.
 */
export class ResizeCounts {
  readonly #metrics: AdmissionMetrics;
  readonly #reasons = new Map<string, number>();
  #under = 0;
  #pods: AdmissionState['pods'] = {};

  constructor(metrics: AdmissionMetrics) {
    this.#metrics = metrics;
  }

  /** These are the node's pods now. */
  count(pods: AdmissionState['pods']): void {
    const before = this.#pods;
    if (before === pods) return;
    this.#pods = pods;
    for (const key in before) if (before[key] !== pods[key]) this.#add(before[key], -1);
    for (const key in pods) if (before[key] !== pods[key]) this.#add(pods[key], 1);
    const { pendingResizes, resizes } = this.#metrics;
    pendingResizes.reset();
    for (const [reason, n] of this.#reasons) if (n > 0) pendingResizes.set({ reason }, n);
    resizes.set(this.#under);
  }

  #add(bucket: AdmissionState['pods'][string] = {}, times: 1 | -1): void {
    for (const uid in bucket) {
      const pod = bucket[uid];
      if (pod?.resizing === true) this.#under += times;
      const reason = pod?.pending?.reason.toLowerCase();
      if (reason !== undefined) this.#reasons.set(reason, (this.#reasons.get(reason) ?? 0) + times);
    }
  }
}
