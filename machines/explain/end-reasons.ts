import { PREEMPTING, TERMINATED } from '../status/node-endings.ts';
import { span } from '../values/spoken-time.ts';
import { evictionCauses } from './eviction-reasons.ts';
import type { Cause } from './explanation.ts';
import { endText } from './view.ts';
import type { View } from './view.ts';
import { short } from './words.ts';

/** Why the pod ends or has ended, with what its containers came to. */
export function endOf(view: View): Cause[] {
  const { termination } = view.context;
  const evicted = termination?.reason === 'Evicted' && view.evicted ? evictionCauses(view.evicted) : [];
  const ends = view.specs.flatMap((s) => {
    const end = endText(view, s.container.name);
    return end === null ? [] : [{ ...end, kind: 'container' as const }];
  });
  if (termination === null) return ends;
  return [{ at: termination.since, text: terminationText(view), kind: kindOfEnd(termination) }, ...evicted, ...ends];
}

function terminationText({ context, mask }: View): string {
  const { reason = '', message = '' } = context.termination ?? {};
  const told = message === '' ? '' : `: ${short(mask(message))}`;
  switch (reason) {
    case 'Completed':
      return 'all its containers have done their part: nothing is left to run';
    case 'Deleted':
      return 'it was deleted in the API';
    case 'Removed':
      return `it was removed from its source (${context.source})`;
    case 'Orphaned':
      return 'no source names it (it was found in the runtime), so it is stopped and removed';
    case 'DeadlineExceeded':
      return `its activeDeadlineSeconds of ${span((context.pod.spec?.activeDeadlineSeconds ?? 0) * 1000)} is over`;
    case 'Evicted':
      return `it was evicted${told}`;
    case TERMINATED:
      return `its node shuts down${told}`;
    case PREEMPTING:
      return `it gave way to a critical pod${told}`;
    default:
      return message.startsWith('Pod was rejected: ')
        ? `the node did not admit it (${reason}): ${short(mask(message.slice('Pod was rejected: '.length)))}`
        : `it was told to end (${reason})${told}`;
  }
}

function kindOfEnd({ message }: { message: string }): 'admission' | 'termination' {
  return message.startsWith('Pod was rejected: ') ? 'admission' : 'termination';
}
