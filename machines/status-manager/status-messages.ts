import type { Urgency } from '../status/status-urgency.ts';

/** What came of comparing what a pod told with what the API shows. */
export interface Finding {
  uid: string;
  /** The API's object; null when there is none. `ended`: its phase is terminal. */
  api: { deleting: boolean; ended: boolean; finalizers: boolean } | null;
  /** What it lacks; null when it shows all. */
  patch: FoundPatch | null;
}

/** A patch, as far as a decision depends on it: what it says stands in the pod's own journal. */
export interface FoundPatch {
  /** Fingerprint of its JSON. */
  print: string;
  /** It says nothing but to which generation of the pod a status belongs. */
  minor: boolean;
  /** Fields of the status that it changes. */
  fields: readonly string[];
}

/** What the status manager is told. `at`: ms since the epoch. */
export type StatusMessage =
  /** A pod's machine told a status. */
  | { type: 'status.told'; at: number; uid: string; ofApi: boolean; state: string; urgency: Urgency }
  /** The API shows something else than what was told, or it is due to be removed. */
  | { type: 'status.look'; at: number; uid: string }
  /** All that came in this turn of the event loop was told, or it is time. `crowded`: many others share the way to the server, and it is full. */
  | { type: 'status.turn'; at: number; crowded?: true }
  /** Answers `status.compare`, in its order, in the same turn. */
  | { type: 'status.compared'; at: number; found: readonly Finding[]; crowded?: true }
  /**
   * A request was carried out. `left`: fingerprint of what the server did not take over of the patch; '' for nothing. `overwritten`: the API's
   * object lacks something else, which somebody changed meanwhile.
   */
  | { type: 'status.answered'; at: number; n: number; left: string; overwritten?: true }
  /**
   * A request failed: the server as a whole is away or overloaded, this one was refused, the pod is not there any more (or its
   * name belongs to another one), or the agent ends. `askedMs`: how long the server asks to wait, `chance`: in [0, 1).
   */
  | {
      type: 'status.failed';
      at: number;
      n: number;
      why: 'away' | 'refused' | 'gone' | 'stopped';
      askedMs: number;
      chance: number;
    }
  /** A pod's machine is gone. `shown`: the API has its object. */
  | { type: 'pod.forget'; at: number; uid: string; shown: boolean }
  /** The API has the pod's object no more. */
  | { type: 'api.gone'; at: number; uid: string }
  /** All objects were listed, so the server answers again. `gone`: it has none of these. */
  | { type: 'api.listed'; at: number; gone: readonly string[] }
  /** The agent ends: nothing more is sent of what was told so far. */
  | { type: 'status.stop'; at: number };

/** What the status manager has its host do, in this order. */
export type StatusOrder =
  /** Compare these with the API's objects now, and tell at once. */
  | { type: 'status.compare'; uids: readonly string[] }
  /** Send the patch with this fingerprint, of the comparison just made. */
  | { type: 'status.patch'; n: number; uid: string; print: string }
  /** Remove the pod: the node's last word about it. */
  | {
      type: 'pod.delete';
      n: number;
      uid: string;
      options: { gracePeriodSeconds: number; preconditions: { uid: string } };
    }
  /** Send `status.turn` then, ms since the epoch. */
  | { type: 'status.wake'; at: number }
  /** The request's status was told so long after it was known, ms. */
  | { type: 'status.measure'; ms: number }
  /** The object that the request was for is not there any more. */
  | { type: 'api.drop'; n: number }
  /** Say that the request failed. `loud`: as a warning. */
  | { type: 'status.complain'; n: number; loud: boolean }
  /** Nothing more has to be told of the pod. */
  | { type: 'status.drop'; uid: string };
