import type { Chart } from '../../../machines/charts/chart.ts';
import type { ResourceTable } from '../../../machines/pod-resources-api/resource-rows.ts';
import type { PressureReport } from '../../../machines/pressure/pressure-report.ts';

/**
 * What the inspector's server tells its page, as JSON: the same for a running agent and for journal files, since both
 * are read from journals. Times are ms since the epoch.
 *
 *   GET /api/about                      -> {@link About}
 *   GET /api/charts                     -> Chart[]
 *   GET /api/pods                       -> PodLine[]
 *   GET /api/node                       -> NodeAnswer; its steps are those of the UID in it, `@node`
 *   GET /api/machines                   -> PodLine[]: the other machines that there is one of, `@admission`, `@pulls` ...
 *   GET /api/overview?at=               -> {@link Overview}, of the newest moment or of the one that is given
 *   GET /api/pods/UID/steps?from=&limit= -> StepPage (limit at most 2000)
 *   GET /api/pods/UID/steps/INDEX       -> StepDetail
 *   GET /api/pods/UID/explain?index=    -> what `actorlet explain --json` gives, at that moment
 *   WebSocket /api/live                 -> LiveMessage, one JSON object a message
 *
 * Errors: `{ "error": text }` with 401 (no token), 404 (no such pod or step), 400 (bad parameter).
 */
export interface About {
  /** `live`: journals of a running agent that go on; `files`: nothing more comes. */
  mode: 'live' | 'files';
  nodeName: string;
  version: string;
  /** Oldest and newest moment in the journals. */
  from: number;
  to: number;
  charts: Chart[];
  /** Files that could be read up to a line only, and why. */
  damages: { file: string; line: number; problem: string }[];
}

/** One pod of the list. */
export interface PodLine {
  uid: string;
  namespace: string;
  name: string;
  /** `api`, `file`, `http`, or `orphan`; `node` of the node itself, `machine` of another machine that there is one of. */
  source: string;
  /** Dotted path of the pod machine. */
  state: string;
  /** `status.phase`. */
  phase: string;
  /** What it waits for, in words. */
  why: string;
  /** Since when it is in that state. */
  since: number;
  startedAt: number;
  restarts: number;
  containers: number;
  ready: number;
  /** Its machine has ended. */
  gone: boolean;
  /** Steps in the journal. */
  steps: number;
}

/** The node as the page lists it; null when the journals have no log of it. `phase`: `Ready` or `NotReady`. */
export interface NodeAnswer {
  node: PodLine | null;
}

/** Who sent a message or carries out an effect: the columns of the sequence diagram. */
export type Lane = 'sources' | 'supervisor' | 'pleg' | 'timer' | 'pod' | 'cri' | 'host' | 'network' | 'images' | 'api';

/** One step of a pod: a message, and what came of it. */
export interface StepLine {
  /** 0, 1, 2 ... within this pod. */
  index: number;
  at: number;
  /** Message type, e.g. `effect.done`. */
  message: string;
  from: Lane;
  /** In a few words, e.g. `cri.CreateContainer web`; for an outcome the effect that it answers. */
  summary: string;
  before: string;
  after: string;
  effects: EffectLine[];
  /** For an outcome: the step that asked for it, and how long it took, ms. */
  answers?: { index: number; key: string; ms: number; failed: boolean; error: string };
  /** The machine threw on the message, with these words; nothing has changed. */
  fault?: string;
  /** The agent was ended before the outcome was written. */
  unanswered?: boolean;
}

/** One effect of a step. */
export interface EffectLine {
  type: string;
  key: string;
  to: Lane;
  summary: string;
  /** Index of the step that brought its outcome; absent while there is none. */
  answeredBy?: number;
}

/** Part of a pod's steps. */
export interface StepPage {
  uid: string;
  /** Steps there are in all. */
  total: number;
  /** The oldest that is still in the journal; older ones were dropped with their segments. */
  first: number;
  /** From the step that was asked for on; may be fewer than `limit` when messages are very large. */
  steps: StepLine[];
}

/** Everything about one moment of a pod. */
export interface StepDetail {
  line: StepLine;
  message: unknown;
  effects: unknown[];
  /** State after the step: of the pod machine (of the node: its own), and of the machines in its context. */
  machines: {
    pod: string;
    containers: Record<string, string>;
    probes: Record<string, string>;
    volumes: Record<string, string>;
  };
  spec: unknown;
  status: unknown;
  /** The machine's context without spec, status and settings. */
  context: unknown;
}

/** What a page hears while it is open. */
export type LiveMessage =
  | { type: 'pods'; pods: PodLine[] }
  | { type: 'node'; node: PodLine }
  | { type: 'machines'; machines: PodLine[] }
  /** A pod has so many steps now. */
  | { type: 'steps'; uid: string; total: number }
  /** Nothing is left in the journal of these pods, which have ended. */
  | { type: 'lost'; uids: string[] };

/** The node with all its pods at a moment: what the page shows while no pod is chosen. */
export interface Overview {
  /** The moment that it tells of. */
  at: number;
  /** Oldest and newest moment that can be asked for. */
  from: number;
  to: number;
  /** Null when the journals have no log of the node. */
  node: NodeMoment | null;
  /** The other machines that there is one of. */
  machines: MachineMoment[];
  history: StateHistory;
  waiting: {
    /** Pods that are not where they should be, and those of them that have been so for longest. */
    total: number;
    pods: WaitingPod[];
  };
  /** Longest first; of the same call of one pod the longest. */
  calls: SlowCall[];
  /** How near the node was to evictions, with the first pods of each ranking; null when the journals say nothing of it. */
  pressure: PressureReport | null;
  /** Who had what of the node alone; null when nothing is given away, and nobody had anything. */
  resources: ResourcesMoment | null;
}

/** Who has which CPUs, memory, devices and claims, and since when: the table of `actorlet resources`. */
export interface ResourcesMoment extends ResourceTable {
  /** Pods that have something and are not among the rows. */
  more: number;
}

/** A machine that there is one of, at a moment: also what it has heard last, newest first. */
export interface MachineMoment extends NodeMoment {
  uid: string;
  name: string;
  last: StepLine[];
}

/** The node's machine at a moment. */
export interface NodeMoment {
  state: string;
  /** The state that it came from; '' when it has had no other. */
  before: string;
  since: number;
  /** What is wrong, in words. */
  why: string;
}

/** How many pods were in which state at the end of each of `length` spans of `width` ms, from `start` on. */
export interface StateHistory {
  start: number;
  width: number;
  length: number;
  states: { state: string; counts: number[] }[];
}

/** A pod that is not where it should be. */
export interface WaitingPod {
  uid: string;
  namespace: string;
  name: string;
  state: string;
  /** Since when it is not where it should be; its state may have changed meanwhile. */
  since: number;
  /** Its step at that moment; -1 when it has none yet. Its explanation is that of this step. */
  step: number;
  /** What it waits for, of the newest moment only; '' else. */
  why: string;
}

/** A call of a pod and how long it took. */
export interface SlowCall {
  uid: string;
  namespace: string;
  name: string;
  /** Type of the effect, e.g. `cri.RunPodSandbox`. */
  type: string;
  to: Lane;
  /** What of the pod it is about, e.g. a container's name; '' for the pod. */
  subject: string;
  /** The step to look at: the one that brought the outcome, or that asked while there is none. */
  step: number;
  /** When it was asked for. */
  at: number;
  /** How long it took, or has taken so far. */
  ms: number;
  outcome: 'done' | 'failed' | 'underWay';
}
