import type { StatusState } from '../../../machines/status-manager/status-entry.ts';
import { statusState, stepStatus } from '../../../machines/status-manager/status-machine.ts';
import type { StatusMessage, StatusOrder } from '../../../machines/status-manager/status-messages.ts';
import { journaled } from './journaled-machine.ts';

/**
 * What the API server is told of pods, and when. Statuses are not in its messages (each stands in its pod's log): a fingerprint
 * stands for a patch, and looks that find nothing new are not told to it.
 */
export const status = journaled<StatusState, StatusMessage, StatusOrder>({
  name: 'status',
  step: stepStatus,
  stateName: statusState,
});
