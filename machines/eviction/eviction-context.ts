import type { Candidate } from './candidates.ts';
import type { Disks } from './container-fs-thresholds.ts';
import type { LocalLimit, Offender } from './local-storage.ts';
import type { Observation, Observations } from './observations.ts';
import type { Reclaimable } from './reclaim-plan.ts';
import type { Pressure, Signal, StarvedResource } from './signals.ts';
import { NO_SOUNDINGS } from './soundings.ts';
import type { PodsMeasured, Soundings } from './soundings.ts';
import type { Threshold } from './thresholds.ts';

/** How eviction is configured. */
export interface EvictionSettings {
  /** As configured, hard ones first. */
  thresholds: Threshold[];
  /** `evictionPressureTransitionPeriod`, ms: for so long a condition stays after it was observed last. */
  transitionMs: number;
  /** `evictionMaxPodGracePeriod`, s: the longest grace period of a pod that goes for a soft threshold. */
  maxPodGraceSeconds: number;
  /**
   * A condition that has ended comes back only when it is observed again, whatever the clock does (kubelet's clock is one that nobody sets).
   * Absent in journals of before, which replay as they were.
   */
  endsForGood?: boolean;
  /** A pod that was evicted and still ends is not evicted again. Absent in journals of before. */
  evictsOnce?: boolean;
}

/** One try to get a resource back: why, what was tried, and who was there to choose from. */
export interface Round {
  /** When the threshold was found to be met, ms since the epoch. */
  at: number;
  threshold: Threshold;
  resource: StarvedResource;
  observed: Observation;
  /** All that were acted on in this round; the first is `threshold`. */
  thresholds: Threshold[];
  /** What the node tried to give back first, and what of it failed. */
  reclaim: { tried: Reclaimable[]; failures: string[]; after: Observation | null } | null;
  /** The pods in the order in which they would go. */
  ranking: Candidate[];
}

/** A pod that was evicted and has not ended yet. */
export interface Victim {
  uid: string;
  namespace: string;
  name: string;
  /** What it goes for. */
  signal: Signal | LocalLimit;
  /** Until when its containers should have ended, ms since the epoch. */
  killBy: number;
  /** Its containers have ended, or were waited for long enough. */
  killed: boolean;
}

/** The eviction machine's memory; plain JSON. */
export interface EvictionContext {
  settings: EvictionSettings;
  /** How the node's disks lie; null before that is known. */
  disks: Disks | null;
  /** All thresholds, with those of containerfs. */
  thresholds: Threshold[];
  /** Thresholds that are met, and since when, ms since the epoch; by their place in `thresholds`. */
  metSince: Record<number, number>;
  /** Those of them that have been met for their grace period, and go on until the minimum was reclaimed; places, ascending. */
  acted: number[];
  /** When a condition was observed last; with `endsForGood` of those that hold alone. */
  observedAt: Partial<Record<Pressure, number>>;
  /** Conditions of the node, in the order of {@link Pressure}. */
  conditions: Pressure[];
  /** What was seen last. */
  seen: Observations;
  /** What is remembered of looks, for people. */
  soundings: Soundings;
  /** The try under way, else the last one; null before the first. */
  round: Round | null;
  /** Pods whose end is waited for. */
  victims: Victim[];
  /** How often the end of pods was waited for in vain, by uid; missing: of none. */
  going?: Record<string, number>;
  /** When the wait is over, ms since the epoch; null: nothing is waited for. */
  deadline: number | null;
  focus: EvictionStateName;
}

/** A round waits for an answer: what can be given back, or who uses how much. */
export function roundWaits({ focus }: Pick<EvictionContext, 'focus'>): boolean {
  return focus === 'reclaiming' || focus === 'measuring';
}

/** States of the chart, as dotted paths. What may follow what: eviction-moves.ts. */
export type EvictionStateName =
  'starting' | 'watching.calm' | 'watching.pressed' | 'reclaiming' | 'measuring' | 'ending.killing' | 'ending.cleaning';

/** What reaches the machine. `at`: ms since the epoch, its only clock. */
export type EvictionMessage =
  | { type: 'eviction.start'; at: number; settings: EvictionSettings }
  /** The clock was set by so many ms (negative: back); `at` is the new time. */
  | { type: 'eviction.clock'; at: number; byMs: number }
  /** How the disks lie. */
  | ({ type: 'eviction.disks'; at: number } & Disks)
  /** A look at the node, also while a round waits; `offenders`: pods that break a limit on local storage, in the order of the pods. */
  | { type: 'eviction.looked'; at: number; seen: Observations; offenders: Offender[] }
  /** A look by which nothing is short, but which tells people something; `pods`: when they were measured, too. */
  | { type: 'eviction.sounded'; at: number; seen: Observations; pods: PodsMeasured | null }
  /** The node has given back what it could; `seen`: what there is now, null when that is not known. */
  | { type: 'eviction.reclaimed'; at: number; failures: string[]; seen: Observations | null }
  /** The active pods with their figures for the signal that was asked for; null when these cannot be had. */
  | { type: 'eviction.measured'; at: number; candidates: Candidate[] | null }
  /** All containers of a pod that was evicted have ended. */
  | { type: 'eviction.killed'; at: number; uid: string }
  /** Nothing of it is left that others could stumble over: volumes, cgroup. */
  | { type: 'eviction.cleaned'; at: number; uid: string }
  /** `deadline` has come. */
  | { type: 'timer'; at: number };

/** What the machine has its host do. */
export type EvictionOrder =
  /** A condition of the node changed. */
  | { type: 'status.post' }
  /** An event about the node. */
  | { type: 'node.event'; reason: string; message: string }
  /** Give back what can be without a pod, then look again. */
  | { type: 'node.reclaim'; what: Reclaimable[] }
  /** Tell the figures of all active pods for this signal. */
  | { type: 'pods.measure'; signal: Signal }
  /** The stats that a threshold was found to be met by are this old (metric). */
  | { type: 'stats.age'; signal: Signal; seconds: number }
  /** End a pod: with an event, as Failed. `disrupts`: with condition DisruptionTarget. */
  | {
      type: 'pod.evict';
      uid: string;
      namespace: string;
      name: string;
      signal: Signal | LocalLimit;
      message: string;
      annotations: Record<string, string>;
      graceSeconds: number;
      disrupts: boolean;
    }
  /** An event about a pod that has not ended in time. */
  | { type: 'pod.event'; uid: string; namespace: string; name: string; reason: string; message: string }
  /** A line for the log. */
  | { type: 'log'; text: string; about: Record<string, string> };

/** The context before anything happened. */
export function initialEviction(): EvictionContext {
  return {
    settings: { thresholds: [], transitionMs: 0, maxPodGraceSeconds: 0 },
    disks: null,
    thresholds: [],
    metSince: {},
    acted: [],
    observedAt: {},
    conditions: [],
    seen: {},
    soundings: NO_SOUNDINGS,
    round: null,
    victims: [],
    deadline: null,
    focus: 'starting',
  };
}
