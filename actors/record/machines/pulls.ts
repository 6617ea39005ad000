import { pullsState, stepPulls } from '../../../machines/images/pull-machine.ts';
import type { PullMessage, PullQueueOrder, PullState } from '../../../machines/images/pull-machine.ts';
import { journaled } from './journaled-machine.ts';

/** The node's queue of image pulls. Logins are not in its messages: a number stands for what a pull is made with. */
export const pulls = journaled<PullState, PullMessage, PullQueueOrder>({
  name: 'pulls',
  step: stepPulls,
  stateName: pullsState,
  why: ({ queue: { underWay, waiting } }) =>
    waiting.length === 0 ? '' : `${waiting.length} wait, behind ${underWay.map(({ image }) => image).join(', ')}`,
});
