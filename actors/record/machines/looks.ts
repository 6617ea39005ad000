import { stepLooks } from '../../../machines/supervisor/looks.ts';
import type { LookMessage, LookOrder, Looks } from '../../../machines/supervisor/looks.ts';
import { journaled } from './journaled-machine.ts';

/** Which pods the supervisor waits to be looked at. Looks that change nothing are not told to it. */
export const looks = journaled<Looks, LookMessage, LookOrder>({
  name: 'looks',
  step: stepLooks,
  stateName: ({ waiting }) =>
    Object.values(waiting).some((pods) => Object.keys(pods).length > 0) ? 'waiting' : 'idle',
});
