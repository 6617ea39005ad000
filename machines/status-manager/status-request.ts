import { waiting, withEntry } from './status-entry.ts';
import type { StatusEntry, StatusState } from './status-entry.ts';
import { isCleaned, isEnding, LONG_HOLD_MS } from './status-holds.ts';
import type { Finding, FoundPatch, StatusOrder } from './status-messages.ts';

/**
 * Begins what a comparison calls for, into `outputs`. The end of a pod comes with a new generation: a patch that tells that alone
 * waits once for what the end brings.
 */
export function beginRequest(
  state: StatusState,
  entry: StatusEntry,
  finding: Finding,
  at: number,
  outputs: StatusOrder[],
): StatusState {
  const { uid, api } = finding;
  const due = { ...entry, holdUntil: 0 };
  if (api === null) return withEntry(state, uid, due);
  const patch = newPatch(entry, finding);
  if (patch === null && !isOver(entry, finding)) return withEntry(state, uid, { ...due, unsentSince: 0 });
  if (patch !== null && !entry.minorWasHeld && isEnding(entry) && patch.minor)
    return waiting(state, uid, { ...due, minorWasHeld: true, holdUntil: at + LONG_HOLD_MS });
  const n = state.requests + 1;
  const flight = { uid, since: patch === null ? 0 : entry.unsentSince, finalizers: api.finalizers };
  if (patch !== null) {
    outputs.push({ type: 'status.patch', n, uid, print: patch.print });
    const quietSent = entry.urgency === 'mayWait';
    const sent = { ...due, request: n, unsentSince: 0, minorWasHeld: false, quietSent };
    return withEntry(flown(state, n, { ...flight, does: 'patch' }), uid, sent);
  }
  outputs.push({ type: 'pod.delete', n, uid, options: { gracePeriodSeconds: 0, preconditions: { uid } } });
  return withEntry(flown(state, n, { ...flight, does: 'delete' }), uid, { ...due, request: n });
}

/** Does a comparison that nobody waits for call for nothing, and leave the entry as it is? */
export function isNothingNew(entry: StatusEntry, finding: Finding): boolean {
  if (finding.api === null) return true;
  return newPatch(entry, finding) === null && !isOver(entry, finding) && entry.unsentSince === 0;
}

/** What the API lacks, unless the server took the same without effect before. */
function newPatch({ withoutEffect }: StatusEntry, { patch }: Finding): FoundPatch | null {
  return patch !== null && patch.print === withoutEffect ? null : patch;
}

/**
 * A pod is removed only once the API shows a terminal phase and all that the agent knows: a Job counts a deleted pod by the
 * phase and exit codes it had before it vanished (kubelet canBeDeleted). Mirror pods are removed by others.
 */
function isOver(entry: StatusEntry, { api }: Finding): boolean {
  return entry.ofApi && !entry.deleted && isCleaned(entry) && api !== null && api.deleting && api.ended;
}

function flown(state: StatusState, n: number, flight: StatusState['underWay'][string]): StatusState {
  return { ...state, requests: n, underWay: { ...state.underWay, [String(n)]: flight } };
}
