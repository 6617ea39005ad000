import { defineErrors } from './define.ts';

/** Errors of the node as a whole: shards, runtime connection. */
export const nodeErrors = defineErrors('NOD', {
  shardSilent: [
    1,
    'Shard {shard} gave no sign of life for {ms} ms.',
    'It is ended and its pods are taken over by a new worker; look for a loop in the last messages of its journal.',
  ],
  shardEnded: [2, 'Shard {shard} ended unexpectedly: {problem}.', 'Its pods are taken over by a new worker.'],
  stepFailed: [
    3,
    'The machine of pod {pod} failed on a message: {problem}.',
    'The pod keeps its last state and the next message is tried anew; replay its journal to see the step.',
  ],
});
