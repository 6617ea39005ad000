/** What a cause is about; the inspector gives each its sign. */
export type CauseKind =
  | 'source'
  | 'admission'
  | 'runtime'
  | 'network'
  | 'node'
  | 'volume'
  | 'sandbox'
  | 'image'
  | 'config'
  | 'container'
  | 'hook'
  | 'probe'
  | 'backOff'
  | 'termination'
  | 'agent';

/** One link of the chain. */
export interface Cause {
  /** Since when it holds, or when it happened; ms since the epoch, 0 = not known. */
  at: number;
  text: string;
  kind: CauseKind;
}

/** What comes next by itself, and when. */
export interface NextStep {
  /** ms since the epoch. */
  at: number;
  /** E.g. `next try`; `timer` says that the pod's own deadline triggers it. */
  what: string;
}

/** Why a pod is in its state. Texts hold no environment values and no output of probes and hooks. */
export interface Explanation {
  pod: { namespace: string; name: string; uid: string };
  /** Dotted path of the pod machine, or `waitingForPredecessor` for a pod that the supervisor holds back. */
  state: string;
  /** Since when, ms since the epoch. */
  since: number;
  /** The journal begins in this state: it may have lasted longer. */
  sinceAtLeast: boolean;
  /** The moment that is explained. */
  now: number;
  /** Nothing of the pod is left on the node. */
  gone: boolean;
  /** All of it in one line. */
  summary: string;
  /** From the nearest cause to the farthest. */
  causes: Cause[];
  next?: NextStep;
}
