import type { AsideHarm } from '../supervisor/harm.ts';
import { ASIDE } from '../supervisor/harm.ts';
import { span, times } from '../values/spoken-time.ts';
import type { Explanation } from './explanation.ts';
import { nextText } from './explain-pod.ts';

/** Why a pod has no actor that had one; `before` says in which state its machine was left. */
export function explainAside(before: Explanation, harm: AsideHarm): Explanation {
  const { now, causes } = before;
  const why = `put aside, since ${harm.deaths} workers in a row died on it (the last one: ${harm.problem})`;
  const again =
    harm.asides > 1 ? [{ at: harm.at, text: `put aside ${times(harm.asides)}`, kind: 'agent' as const }] : [];
  const next = { at: harm.until, what: 'next try' };
  return {
    ...before,
    state: ASIDE,
    since: harm.at,
    sinceAtLeast: false,
    summary: `waiting since ${span(now - harm.at)}: ${why}; ${nextText(next.what, next.at, now)}`,
    causes: [
      { at: harm.at, text: why, kind: 'agent' },
      ...again,
      { at: before.since, text: `its machine was left in ${before.state}`, kind: 'agent' },
      ...causes,
    ],
    next,
  };
}
