import { objectState, stepObject } from '../../../machines/node-object/object-machine.ts';
import type { ObjectState } from '../../../machines/node-object/object-machine.ts';
import type { ObjectMessage, ObjectOrder } from '../../../machines/node-object/object-messages.ts';
import { journaled } from './journaled-machine.ts';

/**
 * What is written of the node's own object, and when. The object is not in its messages: a fingerprint stands for a patch, and
 * regular looks that find nothing to write are not told to it.
 */
export const nodeObject = journaled<ObjectState, ObjectMessage, ObjectOrder>({
  name: 'node-object',
  // Readers take letters and dots for a kind.
  prefix: 'nodeobject',
  step: stepObject,
  stateName: objectState,
});
