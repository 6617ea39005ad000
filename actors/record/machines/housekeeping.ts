import { orphansStateName, orphansWhy, stepOrphans } from '../../../machines/housekeeping/orphans-machine.ts';
import type { OrphanMessage, OrphanOrder, Orphans } from '../../../machines/housekeeping/orphans-machine.ts';
import { journaled } from './journaled-machine.ts';

/** What is left of pods that nobody owns. Rounds of which nothing follows are not told to it. */
export const housekeeping = journaled<Orphans, OrphanMessage, OrphanOrder>({
  name: 'housekeeping',
  step: stepOrphans,
  stateName: orphansStateName,
  why: orphansWhy,
});
