import { defineErrors } from './define.ts';

/** Errors of `actorlet pressure`. */
export const pressureErrors = defineErrors('PRS', {
  noAgent: [
    1,
    'There is no journal in {dir}: no agent with this --root-dir has run here, or it ran with --no-journal.',
    "Start actorlet, or name the agent's folder with --root-dir, or a journal's files with --journal.",
  ],
  nothingRecorded: [
    2,
    'The journal {journal} says nothing of eviction{until}.',
    'Name the journal of an agent that had thresholds (evictionHard, evictionSoft), or a later time.',
  ],
  badThreshold: [
    3,
    '--dry-run {value}: {problem}.',
    'Write FIELD.SIGNAL=VALUE, e.g. evictionHard.memory.available=500Mi (fields: evictionHard, evictionSoft, evictionSoftGracePeriod, evictionMinimumReclaim), evictionPressureTransitionPeriod=1m or evictionMaxPodGracePeriod=30.',
  ],
});
