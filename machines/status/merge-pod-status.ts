import type { Pod, PodCondition, PodStatus } from '../protocol/api-types.ts';
import { ALL_RESTARTING, OWN_CONDITIONS, RESIZE_CONDITIONS } from './own-conditions.ts';
import { isTerminalPhase } from './phase.ts';
import { rfc3339 } from '../values/rfc3339.ts';
import { statusPatch } from './status-patch.ts';
import { endsWithNode } from './shutdown-words.ts';
import { guardTerminal } from './terminal-guard.ts';

/** Conditions that belong to the agent alone (kubelet PodConditionByKubelet). */
const AGENTS_CONDITIONS: ReadonlySet<string> = new Set([...OWN_CONDITIONS, ...RESIZE_CONDITIONS]);

/** Fields of the status that others write; the agent leaves them as they are. */
const FOREIGN_FIELDS = [
  'nominatedNodeName',
  'resize',
  'resourceClaimStatuses',
  'extendedResourceClaimStatus',
] as const satisfies readonly (keyof PodStatus)[];

/** What a status that goes to the API is made of. */
export interface MergeInput {
  /** The pod as the agent runs it (for a mirror pod: the static pod). */
  pod: Pod;
  /** The newest status known from the API. */
  api: PodStatus;
  /** The status as the pod's machine computed it. */
  own: PodStatus;
  /** Containers may still run, so the pod must not be called Succeeded or Failed yet: others free its resources by that. */
  couldHaveRunningContainers: boolean;
  /** A static pod: its own status knows nothing of what was told before a restart, so times come from the mirror pod. */
  isStatic: boolean;
  /** The pod is to run, by what its machine says. One that ends, or has ended, may not know any more how. Absent: it is not. */
  isSyncing?: boolean;
  /** Ms since the epoch. */
  at: number;
}

/** The status that the API should show. */
export interface MergedStatus {
  status: PodStatus;
  /** Containers that ended for good and were reported otherwise; their end was kept. */
  refused: string[];
}

/**
 * Brings the agent's status and the API's together (kubelet mergePodStatus): conditions and fields of others stay,
 * own ones are replaced, terminal states are never taken back, and a phase becomes terminal only when nothing of the
 * pod can run any more.
 */
export function mergePodStatus(input: MergeInput): MergedStatus {
  const { pod, api, couldHaveRunningContainers } = input;
  // A static pod lives again after its node or its agent did: what it says of itself counts, and its mirror only shows it.
  const { phase: _over, ...rest } = api;
  const lives = input.isSyncing === true && input.own.phase !== undefined && !isTerminalPhase(input.own.phase);
  const comesBack = input.isStatic && (lives || endsWithNode(api.reason));
  const { status, refused } = guardTerminal(pod, comesBack ? rest : api, input.own);
  const becomesTerminal = !isTerminalPhase(api.phase) && isTerminalPhase(status.phase);
  status.conditions = mergeConditions(input, becomesTerminal && !couldHaveRunningContainers);
  for (const field of FOREIGN_FIELDS) copyForeign(status, api, field);
  // Immutable since the API server sets it at creation.
  if (api.qosClass) status.qosClass = api.qosClass;
  if (api.startTime) status.startTime = api.startTime;
  if ((api.observedGeneration ?? 0) > (status.observedGeneration ?? 0)) {
    status.observedGeneration = api.observedGeneration;
  }
  if (status.hostIP === undefined && api.hostIP !== undefined) {
    status.hostIP = api.hostIP;
    if (api.hostIPs) status.hostIPs = api.hostIPs;
  }
  if (becomesTerminal && couldHaveRunningContainers) {
    for (const field of ['phase', 'reason', 'message'] as const) {
      const value = api[field];
      if (value) status[field] = value;
      else delete status[field];
    }
  }
  if (isTerminalPhase(status.phase)) endReadiness(status, api, input.at);
  return { status, refused };
}

/** Does the API show something else than it should? What others own does not count. */
export function needsReconcile(input: MergeInput): boolean {
  return statusPatch('', input.api, mergePodStatus(input).status) !== null;
}

function mergeConditions({ api, own, isStatic, at }: MergeInput, disrupts: boolean): PodCondition[] {
  const tells = own.conditions?.some(({ type }) => type === ALL_RESTARTING) ?? false;
  const isAgents = (type: string) => AGENTS_CONDITIONS.has(type) || (tells && type === ALL_RESTARTING);
  const out: PodCondition[] = (api.conditions ?? []).filter(({ type }) => !isAgents(type));
  for (const condition of own.conditions ?? []) {
    const before = api.conditions?.find(({ type }) => type === condition.type);
    if (isAgents(condition.type)) out.push(withHistory(condition, before, isStatic));
    else if (condition.type === 'DisruptionTarget' && disrupts) {
      // Shared with the controllers that evict; told together with the phase only, at the time it is told.
      const lastTransitionTime = (before?.status === condition.status && before.lastTransitionTime) || rfc3339(at);
      const told = { ...condition, lastTransitionTime };
      const place = out.findIndex(({ type }) => type === condition.type);
      if (place < 0) out.push(told);
      else out[place] = told;
    }
  }
  return out;
}

/** The API server does not let `observedGeneration` be cleared: an own condition without one keeps the old one. */
function withHistory(condition: PodCondition, before: PodCondition | undefined, isStatic: boolean): PodCondition {
  const out = { ...condition };
  if (before === undefined) return out;
  if (!out.observedGeneration && before.observedGeneration) out.observedGeneration = before.observedGeneration;
  if (isStatic && before.status === out.status && before.lastTransitionTime) {
    out.lastTransitionTime = before.lastTransitionTime;
  }
  return out;
}

/** A pod that has ended is never shown as ready (kubernetes#108594). */
function endReadiness(status: PodStatus, api: PodStatus, at: number): void {
  const ready = status.conditions?.some(
    ({ type, status: value }) => (type === 'Ready' || type === 'ContainersReady') && value === 'True',
  );
  if (!ready) return;
  const reason = status.phase === 'Succeeded' ? 'PodCompleted' : 'PodFailed';
  status.conditions = status.conditions?.map((condition) => {
    if (condition.type !== 'Ready' && condition.type !== 'ContainersReady') return condition;
    const { type, observedGeneration } = condition;
    const before = [condition, api.conditions?.find((c) => c.type === type)].find(
      (c) => c?.status === 'False' && c.lastTransitionTime,
    );
    const lastTransitionTime = before?.lastTransitionTime ?? rfc3339(at);
    return { type, ...(observedGeneration && { observedGeneration }), status: 'False', lastTransitionTime, reason };
  });
}

function copyForeign<K extends (typeof FOREIGN_FIELDS)[number]>(to: PodStatus, from: PodStatus, field: K): void {
  const value = from[field];
  if (value === undefined) delete to[field];
  else to[field] = value;
}
