import { leaseState, stepLease } from '../../../machines/node-object/lease-machine.ts';
import type { LeaseMessage, LeaseOrder, LeaseState } from '../../../machines/node-object/lease-machine.ts';
import { journaled } from './journaled-machine.ts';

/** The node's heartbeat. */
export const lease = journaled<LeaseState, LeaseMessage, LeaseOrder>({
  name: 'lease',
  step: stepLease,
  stateName: leaseState,
});
