import type { AdmissionOrder } from '../../../machines/admission/admission-messages.ts';
import type { AdmissionState } from '../../../machines/admission/admission-state.ts';
import { uidEntries } from '../../../machines/supervisor/uid-table.ts';
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

/** How many resizes wait, and why; how many are under way. */
export function countResizes({ pendingResizes, resizes }: AdmissionMetrics, pods: AdmissionState['pods']): void {
  const reasons = new Map<string, number>();
  let under = 0;
  for (const [, { pending, resizing }] of uidEntries(pods)) {
    if (resizing) under++;
    if (pending === null) continue;
    const reason = pending.reason.toLowerCase();
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  pendingResizes.reset();
  for (const [reason, n] of reasons) pendingResizes.set({ reason }, n);
  resizes.set(under);
}
