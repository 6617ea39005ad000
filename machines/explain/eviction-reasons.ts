import { bytesText } from '../values/quantity.ts';
import type { EvictionContext, EvictionMessage, Round } from '../eviction/eviction-context.ts';
import { isGoing } from '../eviction/going-pods.ts';
import type { Offender } from '../eviction/local-storage.ts';
import type { Observation } from '../eviction/observations.ts';
import { signalText } from '../eviction/observations.ts';
import { amountText, isHard } from '../eviction/thresholds.ts';
import type { StarvedResource } from '../eviction/signals.ts';
import { candidateText } from '../pressure/amount-words.ts';
import { span } from '../values/spoken-time.ts';
import type { Cause } from './explanation.ts';
import { short } from './words.ts';

/** Why a pod was evicted: by a round of its node, or for a limit of its own. */
export type EvictionEvidence = { at: number; uid: string } & ({ round: Round; since: number } | { offender: Offender });

/** What a step of the eviction machine has to say of the pods that it evicted. */
export function evidenceOf(
  before: EvictionContext,
  after: EvictionContext,
  message: EvictionMessage,
): EvictionEvidence[] {
  if (before.focus.startsWith('ending.') || !after.focus.startsWith('ending.')) return [];
  const { at } = message;
  return after.victims.flatMap(({ uid }): EvictionEvidence[] => {
    // It was evicted before, and is waited for once more.
    if (isGoing(before, uid)) return [];
    if (message.type === 'eviction.looked') {
      const offender = message.offenders.find((each) => each.uid === uid);
      return offender === undefined ? [] : [{ at, uid, offender }];
    }
    const { round } = after;
    if (round === null) return [];
    const place = after.thresholds.findIndex((each) => JSON.stringify(each) === JSON.stringify(round.threshold));
    return [{ at, uid, round, since: after.metSince[place] ?? round.at }];
  });
}

/** The chain from the pod's eviction to the signal: its rank among all others, what was tried before, what ran short. */
export function evictionCauses(evidence: EvictionEvidence): Cause[] {
  if ('offender' in evidence) {
    const { limit, used } = evidence.offender;
    return [
      { at: evidence.at, text: `it was seen to use ${bytesText(used)} of local storage (${limit})`, kind: 'node' },
    ];
  }
  const { at, uid, round, since } = evidence;
  return [
    { at, text: rankText(round, uid), kind: 'node' },
    ...reclaimCauses(round),
    { at: since, text: signalWords(round, since), kind: 'node' },
  ];
}

function rankText({ ranking, resource }: Round, uid: string): string {
  const own = ranking.findIndex((each) => each.uid === uid);
  const all = ranking.map(
    (each, i) => `${i + 1}. ${candidateText(each, resource, exactly(resource))}${i === own ? ' - this one' : ''}`,
  );
  return `of ${ranking.length} pods it was the first in the order of eviction that may go: ${all.join('; ')}`;
}

function exactly(resource: StarvedResource): (n: number) => string {
  const count = resource === 'inodes' || resource === 'pids';
  return (n) => (count ? String(n) : bytesText(n));
}

function reclaimCauses({ at, threshold: { signal }, reclaim }: Round): Cause[] {
  if (reclaim === null) return [];
  const words = { containers: 'ended containers', images: 'unused images' };
  const tried = reclaim.tried.map((what) => words[what]).join(' and ');
  const failed = reclaim.failures.length === 0 ? '' : ` (${short(reclaim.failures.join('; '))})`;
  const { after } = reclaim;
  const then = after === null ? 'what there was then is not known' : `then ${of(signal, after)}, too little`;
  return [{ at, text: `first ${tried} were to be removed${failed}; ${then}`, kind: 'node' }];
}

function signalWords({ at, threshold, observed }: Round, since: number): string {
  const { signal, value, graceMs, minReclaim } = threshold;
  const limit = amountText(value, observed.capacity);
  const kind = isHard(threshold) ? 'hard' : `soft, of ${span(graceMs)}, met for ${span(at - since)}`;
  const more = minReclaim === undefined ? '' : `, ${amountText(minReclaim, observed.capacity)} more to be reclaimed`;
  return `the node ran short: ${signal} ${of(signal, observed)}, less than the threshold ${limit} (${kind}${more})`;
}

function of(signal: Round['threshold']['signal'], { available, capacity }: Observation): string {
  return `was ${signalText(signal, available)} of ${signalText(signal, capacity)}`;
}
