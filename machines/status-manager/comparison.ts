import type { Pod, PodStatus } from '../protocol/api-types.ts';
import { isObject } from '../values/json-object.ts';
import { CURRENT } from '../protocol/behaviour.ts';
import { withoutCreated } from '../status/created-containers.ts';
import { mergePodStatus } from '../status/merge-pod-status.ts';
import { isTerminalPhase } from '../status/phase.ts';
import { isMinor, statusPatch } from '../status/status-patch.ts';
import type { StatusPatch } from '../status/status-patch.ts';
import { terminatedStatus } from '../status/terminated-status.ts';
import { fingerprint } from '../values/fingerprint.ts';
import { isCleaned } from './status-holds.ts';
import type { Finding } from './status-messages.ts';

/** What a pod's machine told last, and what it was told of. */
export interface ToldStatus {
  pod: Pod;
  /** The pod comes from the API; of others a mirror pod shows the status. */
  ofApi: boolean;
  status: PodStatus;
  /** The machine's state, a dotted path. */
  state: string;
}

/** The API's object that shows it, which for a static pod is its mirror pod. */
export interface ShowingPod {
  uid: string;
  deleting: boolean;
  hasFinalizers: boolean;
  status: PodStatus;
}

/** The patch that an object needs, and the containers whose end was reported as none, which is not believed. */
export interface NeededPatch {
  patch: StatusPatch;
  refused: string[];
}

/** The patch that the API's object needs at `at` (ms since the epoch), null when it shows what it should. */
export function neededPatch(
  { pod, ofApi, status: told, state }: ToldStatus,
  api: ShowingPod,
  at: number,
): NeededPatch | null {
  const last = isCleaned({ state }) ? terminatedStatus(pod, told, CURRENT) : told;
  const { status, refused } = mergePodStatus({
    pod,
    api: api.status,
    own: withoutCreated(last, api.status, pod),
    couldHaveRunningContainers: !state.startsWith('terminated.'),
    isStatic: !ofApi,
    isSyncing: state.startsWith('syncing.'),
    at,
  });
  const patch = statusPatch(api.uid, api.status, status);
  return patch && { patch, refused };
}

/** What a status that a pod told and the API's object of it come to. */
export function findingOf(uid: string, api: ShowingPod | undefined, needed: NeededPatch | null): Finding {
  if (api === undefined) return { uid, api: null, patch: null };
  const { deleting, hasFinalizers: finalizers, status } = api;
  const found = needed && {
    print: printOf(needed.patch),
    minor: isMinor(needed.patch),
    fields: Object.keys(needed.patch.status),
  };
  return { uid, api: { deleting, ended: isTerminalPhase(status.phase), finalizers }, patch: found };
}

/** The fingerprint by which a patch is known in messages. */
export function printOf(patch: StatusPatch): string {
  return fingerprint(JSON.stringify(patch));
}

/**
 * Is all that one patch says in another one, too? What an answer lacks of the patch that was sent, the server did not take over; all
 * else it lacks because somebody changed it meanwhile.
 */
export function isPartOf(part: unknown, whole: unknown): boolean {
  if (part === whole) return true;
  if (Array.isArray(part))
    return Array.isArray(whole) && part.every((item) => whole.some((other) => isPartOf(item, other)));
  if (!isObject(part) || !isObject(whole)) return false;
  // Directives tell of the order of lists, which is another with each patch.
  return Object.entries(part).every(([key, value]) => key.startsWith('$') || isPartOf(value, whole[key]));
}
