import { claimsStateName, claimsWhy, stepClaims } from '../../../machines/claims/claim-machine.ts';
import type { ClaimMessage, ClaimOrder } from '../../../machines/claims/claim-messages.ts';
import type { ClaimState } from '../../../machines/claims/claim-state.ts';
import { journaled } from './journaled-machine.ts';

/** Which ResourceClaims the node's pods use, and what drivers are asked for them. */
export const claims = journaled<ClaimState, ClaimMessage, ClaimOrder>({
  name: 'claims',
  step: (state, message) => stepClaims(state, message),
  stateName: claimsStateName,
  why: claimsWhy,
});
