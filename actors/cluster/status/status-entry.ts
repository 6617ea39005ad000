import type { Pod, PodStatus } from '../../../machines/protocol/api-types.ts';
import { CURRENT } from '../../../machines/protocol/behaviour.ts';
import type { PodSource } from '../../../machines/protocol/messages.ts';
import { mergePodStatus } from '../../../machines/status/merge-pod-status.ts';
import { isTerminalPhase } from '../../../machines/status/phase.ts';
import { statusPatch } from '../../../machines/status/status-patch.ts';
import type { StatusPatch } from '../../../machines/status/status-patch.ts';
import { terminatedStatus } from '../../../machines/status/terminated-status.ts';
import { withoutCreated } from '../../../machines/status/created-containers.ts';
import type { PodReport } from '../../pods/shard/shard-protocol.ts';
import type { ApiPod } from './api-pods.ts';

/** All that a comparison with the API depends on: objects that are never changed in place, and plain values. */
export interface Shown {
  pod: Pod;
  source: PodSource;
  status: PodStatus;
  state: string;
  api: PodStatus;
}

/** What the manager knows of one pod besides the API's object. */
export interface StatusEntry {
  pod: Pod;
  source: PodSource;
  report: PodReport;
  /** When the oldest status arrived that the API does not know yet, ms; 0 when it knows all. */
  unsentSince: number;
  /** A status that may wait is not sent before; 0 when none waits. */
  holdUntil: number;
  /** The status that was sent last was one that may wait. */
  quietSent: boolean;
  /** A patch that tells only generations was put off once. */
  minorWasHeld: boolean;
  inFlight: boolean;
  /** Failures in a row of this pod's requests, and when the next may go out. */
  failures: number;
  notBefore: number;
  /** What was compared last and found alike; nothing is to be sent while all of it stays. */
  shown: Shown | null;
  /** A patch that the server took without effect: it is not sent again. */
  withoutEffect: string;
  /** The final DELETE was answered. */
  deleted: boolean;
  /** The pod's machine is gone: the entry goes when the API's object does. */
  forgotten: boolean;
}

type Told = Pick<StatusEntry, 'pod' | 'source' | 'report'>;

/** Of a pod of which nothing was sent yet. */
export function newStatusEntry(told: Told): StatusEntry {
  return {
    ...told,
    unsentSince: 0,
    holdUntil: 0,
    quietSent: false,
    minorWasHeld: false,
    inFlight: false,
    failures: 0,
    notBefore: 0,
    shown: null,
    withoutEffect: '',
    deleted: false,
    forgotten: false,
  };
}

/** The next request for a pod. */
export type NextStep = { do: 'patch'; patch: StatusPatch; refused: string[] } | { do: 'delete' } | null;

/** States in which nothing of the pod is left that others could stumble over: containers, volumes, cgroup. */
const CLEANED: ReadonlySet<string> = new Set(['terminated.kept', 'terminated.removing', 'terminated.finished']);

/**
 * What has to be told to the API next. A pod is removed only once the API shows a terminal phase and all that the
 * agent knows: a Job counts a deleted pod by the phase and exit codes it had before it vanished (kubelet
 * canBeDeleted). Mirror pods are removed by {@link MirrorPods}.
 */
export function nextStep(entry: StatusEntry, api: ApiPod, at: number): NextStep {
  const step = isShown(entry, api) ? null : patchFor(entry, api, at);
  if (step === null) noteShown(entry, entry, api);
  if (step !== null && (entry.withoutEffect === '' || JSON.stringify(step.patch) !== entry.withoutEffect)) return step;
  const over =
    entry.source === 'api' &&
    api.deleting &&
    !entry.deleted &&
    CLEANED.has(entry.report.state) &&
    isTerminalPhase(api.status.phase);
  return over ? { do: 'delete' } : null;
}

/** The API's object shows what is told, as was found when they were compared. */
export function noteShown(entry: StatusEntry, { pod, source, report }: Told, api: ApiPod): void {
  if (isShown(entry, api)) return;
  entry.shown = { pod, source, status: report.status, state: report.state, api: api.status };
}

/** Time enters a patch only with something that the API does not show yet, so what was alike once stays alike. */
function isShown({ shown, pod, source, report }: StatusEntry, api: ApiPod): boolean {
  return (
    shown !== null &&
    shown.api === api.status &&
    shown.status === report.status &&
    shown.state === report.state &&
    shown.pod === pod &&
    shown.source === source
  );
}

/** The patch that the API's object needs now, null when it shows what it should. */
export function patchFor(
  { pod, source, report }: Told,
  api: ApiPod,
  at: number,
): Extract<NextStep, { do: 'patch' }> | null {
  const last = CLEANED.has(report.state) ? terminatedStatus(pod, report.status, CURRENT) : report.status;
  const own = withoutCreated(last, api.status, pod);
  const { status, refused } = mergePodStatus({
    pod,
    api: api.status,
    own,
    couldHaveRunningContainers: !report.state.startsWith('terminated.'),
    isStatic: source !== 'api',
    at,
  });
  const patch = statusPatch(api.uid, api.status, status);
  return patch && { do: 'patch', patch, refused };
}
