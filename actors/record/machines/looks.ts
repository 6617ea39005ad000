import { stepLooks } from '../../../machines/supervisor/looks.ts';
import type { LookMessage, LookOrder, Looks } from '../../../machines/supervisor/looks.ts';
import { uidEntries } from '../../../machines/supervisor/uid-table.ts';
import { journaled } from './journaled-machine.ts';

const awaited = ({ waiting }: Looks): string[] => uidEntries(waiting).map(([uid]) => uid);

/** Which pods the supervisor waits to be looked at. Looks that change nothing are not told to it. */
export const looks = journaled<Looks, LookMessage, LookOrder>({
  name: 'looks',
  step: stepLooks,
  stateName: (state) => (awaited(state).length > 0 ? 'waiting' : 'idle'),
  why: (state) => (awaited(state).length > 0 ? `not looked at yet: ${awaited(state).join(', ')}` : ''),
});
