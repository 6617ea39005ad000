import { candidateFrom, partsOf } from '../eviction/candidates.ts';
import type { Candidate } from '../eviction/candidates.ts';
import type { EvictionContext, EvictionStateName, Victim } from '../eviction/eviction-context.ts';
import type { Observation } from '../eviction/observations.ts';
import { ranked } from '../eviction/ranking.ts';
import type { Reclaimable } from '../eviction/reclaim-plan.ts';
import { reclaimPlan } from '../eviction/reclaim-plan.ts';
import { SIGNALS, pressureOf, resourceOf } from '../eviction/signals.ts';
import type { Pressure, Signal, StarvedResource } from '../eviction/signals.ts';
import { leftOf, speedOf } from '../eviction/soundings.ts';
import type { Sounding, Spare } from '../eviction/soundings.ts';
import { amountText, isHard } from '../eviction/thresholds.ts';
import type { Threshold } from '../eviction/thresholds.ts';

/** One threshold of a signal, as far away as it is now. */
export interface ThresholdReport {
  kind: 'hard' | 'soft';
  /** For how long it must be met, ms; 0 of a hard one. */
  graceMs: number;
  /** As kubelet writes it: `100Mi`; a share as `10%` where it is not known of how much. */
  quantity: string;
  /** How much more than it must be there before it is over, the same way; '' for none. */
  minReclaim: string;
  /** Bytes or counts until it is met; negative: so much is missing. */
  left: number;
  /** At the present speed it is met in so many ms; null: not at all, or it is. */
  untilMs: number | null;
  /** Since when it is met, ms since the epoch; null: it is not. */
  metSince: number | null;
}

/** One signal. */
export interface SignalReport {
  signal: Signal;
  resource: StarvedResource;
  /** Condition of the node that follows. */
  condition: Pressure;
  /** Null: it was not seen; a signal without a value is never met. */
  observed: Observation | null;
  /** What it was before, oldest first. */
  history: { at: number; available: number }[];
  /** How fast it moves, a second; negative: there is less and less. Null: not known. */
  speed: number | null;
  thresholds: ThresholdReport[];
  /** What the node would give back before a pod goes. */
  reclaim: Reclaimable[];
}

/** The order in which pods would go for some signals, for which it is the same. */
export interface RankingReport {
  signals: Signal[];
  resource: StarvedResource;
  pods: Candidate[];
}

/** How near a node is to evictions, and who would go; plain JSON. Times are ms since the epoch, amounts bytes or counts. */
export interface PressureReport {
  /** The moment that it tells of. */
  at: number;
  /** When the node was looked at last, as far as something had moved; null: not yet. */
  seenAt: number | null;
  state: EvictionStateName;
  conditions: Pressure[];
  signals: SignalReport[];
  /** When the pods were measured; null: not yet, and there is no ranking. */
  podsAt: number | null;
  rankings: RankingReport[];
  spare: Spare | null;
  /** Pods that were evicted and whose end is waited for. */
  victims: Victim[];
}

/** What a node's eviction machine tells of pressure to come. @param at ms since the epoch, not before what it was told last */
export function pressureReport(context: EvictionContext, at: number): PressureReport {
  const { soundings, focus, conditions, victims } = context;
  const known = SIGNALS.filter(
    (signal) =>
      context.thresholds.some((each) => each.signal === signal && canBeMet(each)) ||
      soundings.last.some(({ seen }) => seen[signal] !== undefined),
  );
  return {
    at,
    seenAt: soundings.last.at(-1)?.at ?? null,
    ...{ state: focus, conditions },
    signals: known.map((signal) => signalReport(context, signal)),
    podsAt: soundings.podsAt,
    rankings: rankingsOf(context),
    ...{ spare: soundings.spare, victims },
  };
}

function signalReport(context: EvictionContext, signal: Signal): SignalReport {
  const { thresholds, metSince, disks, soundings } = context;
  const observed = soundings.last.at(-1)?.seen[signal] ?? null;
  const speed = speedOf(soundings.last, signal);
  return {
    signal,
    resource: resourceOf(signal),
    condition: pressureOf(signal),
    observed,
    history: historyOf(soundings.last, signal),
    speed,
    thresholds: thresholds.flatMap((threshold, place): ThresholdReport[] => {
      if (threshold.signal !== signal || !canBeMet(threshold)) return [];
      const { value, minReclaim, graceMs } = threshold;
      const capacity = observed?.capacity ?? 0;
      const left = observed === null ? 0 : leftOf(threshold, observed);
      return [
        {
          ...{ kind: isHard(threshold) ? 'hard' : 'soft', graceMs },
          quantity:
            observed === null && 'share' in value
              ? `${Math.round(value.share * 1000) / 10}%`
              : amountText(value, capacity),
          minReclaim: minReclaim === undefined ? '' : amountText(minReclaim, capacity),
          left,
          untilMs: left > 0 && speed !== null && speed < 0 ? (left / -speed) * 1000 : null,
          metSince: metSince[place] ?? null,
        },
      ];
    }),
    reclaim: disks === null ? [] : reclaimPlan(signal, disks),
  };
}

/** Those of containerfs that are made where nothing is configured never are. */
function canBeMet({ value }: Threshold): boolean {
  return !('share' in value) || value.share > 0;
}

function historyOf(last: readonly Sounding[], signal: Signal): SignalReport['history'] {
  return last.flatMap(({ at, seen }) => {
    const observed = seen[signal];
    return observed === undefined ? [] : [{ at, available: observed.available }];
  });
}

/** Signals that count the same of pods share a ranking. */
function rankingsOf({ thresholds, disks, soundings }: EvictionContext): RankingReport[] {
  if (disks === null || soundings.podsAt === null) return [];
  const found = new Map<string, RankingReport>();
  for (const signal of new Set(thresholds.filter(canBeMet).map((each) => each.signal))) {
    const resource = resourceOf(signal);
    const onDisk = resource === 'inodes' || resource === 'ephemeral-storage';
    const parts = onDisk ? partsOf(signal, disks) : [];
    if (onDisk && parts.length === 0) continue;
    const key = [resource, ...parts].join();
    const known = found.get(key);
    if (known !== undefined) known.signals.push(signal);
    else {
      const pods = ranked(
        signal,
        soundings.pods.map((use) => candidateFrom(use, signal, disks)),
      );
      found.set(key, { signals: [signal], resource, pods });
    }
  }
  return [...found.values()];
}
