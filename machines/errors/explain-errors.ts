import { defineErrors } from './define.ts';

/** Errors of `actorlet explain`. */
export const explainErrors = defineErrors('EXP', {
  unknownPod: [
    1,
    'The pod {pod} is not in the journal {journal}.',
    'Name it as NAMESPACE/NAME, NAME or UID (`actorlet pods` lists them), or give its journal with --journal.',
  ],
  severalPods: [2, '{pod} is the name of several pods: {found}.', 'Say which one: NAMESPACE/NAME or its UID.'],
  badTime: [3, '--at {value}: not a time.', 'Write it as 2026-01-31T12:00:00Z or as milliseconds since the epoch.'],
  tooEarly: [
    4,
    'The pod {pod} is in the journal {journal}, but not yet at {time}.',
    'Give a later time, or earlier segments of the journal.',
  ],
  noAgent: [
    5,
    'There is no journal in {dir}: no agent with this --root-dir has run here, or it ran with --no-journal.',
    "Start actorlet, or name the agent's folder with --root-dir, or a journal's files with --journal.",
  ],
});
