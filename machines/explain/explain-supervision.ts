import type { Explanation } from './explanation.ts';
import { moment, span } from '../values/spoken-time.ts';

/** State of a pod that the supervisor knows and that has no actor yet. */
const WAITING_FOR_PREDECESSOR = 'waitingForPredecessor';

const UNSPOKEN = 'not every source has spoken yet: until then nothing is removed from the node';

/** What the supervisor's journal says of a pod. */
export interface Supervised {
  pod: { namespace: string; name: string; uid: string };
  source: string;
  /** Where it was read from, '' when not known. */
  place: string;
  /** When its source named it first; ms since the epoch. */
  since: number;
  /** All sources had spoken by then. */
  sourcesReady: boolean;
  /** UID of the pod of the same full name whose actor still lives, '' when none is known. */
  predecessor: string;
  /** Its source gave it up before its actor was started: when. */
  forgottenAt: number;
}

/** Why a pod that only the supervisor knows has no actor. */
export function explainSupervised(known: Supervised, now: number): Explanation {
  const { pod, source, place, since, predecessor, forgottenAt } = known;
  const from = source === 'api' ? 'the API server' : `${source}${place === '' ? '' : ` ${place}`}`;
  const gone = forgottenAt > 0;
  const why = gone
    ? 'its source gave it up before anything was made of it'
    : predecessor === ''
      ? 'the runtime is asked what it holds of the pod, before its machine starts'
      : `another pod of the same name (uid ${predecessor}) must end first`;
  const causes = [
    { at: gone ? forgottenAt : since, text: why, kind: 'source' as const },
    ...(known.sourcesReady || gone ? [] : [{ at: 0, text: UNSPOKEN, kind: 'source' as const }]),
    { at: since, text: `spec came from ${from}`, kind: 'source' as const },
  ];
  return {
    pod,
    state: WAITING_FOR_PREDECESSOR,
    since,
    sinceAtLeast: false,
    now,
    gone,
    summary: `${gone ? 'gone' : 'waiting'} since ${span(now - (gone ? forgottenAt : since))}: ${why}; spec came from ${from} at ${moment(since)}`,
    causes,
  };
}
