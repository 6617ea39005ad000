import type { ContainerStatus, Pod, PodCondition, PodStatus } from '../protocol/api-types.ts';
import type { ObservedPod } from '../protocol/observed.ts';
import { isSidecar } from '../qos/pod-resources.ts';
import { inProgressCondition } from '../resize/resize-conditions.ts';
import { isTerminalPhase } from './phase.ts';
import type { Phase } from './phase.ts';
import type { RestartAll } from './restart-all.ts';
import { ALL_RESTARTING, OWN_CONDITIONS, RESIZE_CONDITIONS } from './own-conditions.ts';
import { BY_KUBELET } from './node-endings.ts';
import { rfc3339 } from '../values/rfc3339.ts';

type Verdict = Pick<PodCondition, 'status' | 'reason' | 'message'>;

const TRUE: Verdict = { status: 'True' };

/** Everything that conditions follow from. */
export interface ConditionInput {
  pod: Pod;
  old: PodStatus;
  observed: ObservedPod | null;
  /** Init containers' and regular containers' statuses. */
  statuses: readonly ContainerStatus[];
  phase: Phase;
  /** A resize that is under way. */
  resize?: { generation: number; since: number; error: string };
  /** The node ended the pod for its own sake (kubelet's TerminationByKubelet). */
  disruption?: { at: number; message: string };
  /** False: `PodReadyToStartContainers` is not told. */
  readyToStart?: boolean;
  /** How a restart of all containers stands; absent: no condition is told of it. */
  restartAll?: RestartAll;
  /** Gate RestartAllContainersOnContainerExits: what is initialized stays so, though its init containers run anew. */
  staysInitialized?: boolean;
  at: number;
}

/**
 * All conditions: those of others as the API has them, `DisruptionTarget` as it was set before, then the agent's
 * own. A transition time moves only when the condition's status does.
 */
export function podConditions(input: ConditionInput): PodCondition[] {
  const { pod } = input;
  const foreign = (pod.status?.conditions ?? []).filter(
    ({ type }) => !OWN_CONDITIONS.includes(type) && (type !== ALL_RESTARTING || input.restartAll === undefined),
  );
  const ended = isTerminalPhase(input.phase);
  // PodResizePending comes with the pod: who allocates knows it. A pod that has ended is not resized any more.
  const resizes = foreign.filter(({ type }) => type === 'PodResizePending' && !ended);
  if (input.resize && !ended) resizes.push(inProgressCondition(input.resize));
  const disruption = disruptionOf(input);
  const others = foreign.filter(({ type }) => !RESIZE_CONDITIONS.includes(type));
  const kept = disruption ? [...others.filter(({ type }) => type !== 'DisruptionTarget'), disruption] : others;

  const containersReady = containersReadyVerdict(input);
  const own: [string, Verdict][] = [
    ['PodReadyToStartContainers', { status: hasUsableSandbox(pod, input.observed) ? 'True' : 'False' }],
    ['Initialized', initializedVerdict(input)],
    ['Ready', containersReady.status === 'True' ? gatesVerdict(pod, kept) : containersReady],
    ['ContainersReady', containersReady],
    ['PodScheduled', TRUE],
  ];
  const told = input.readyToStart === false ? own.slice(1) : own;
  const conditions = [...kept, ...resizes, ...told.map(([type, verdict]) => condition(type, verdict, input))];
  if (input.restartAll === undefined) return conditions;
  // Kubelet tells this one without the generation.
  const { observedGeneration: _none, ...restarting } = condition(ALL_RESTARTING, restartingVerdict(input), input);
  return [...conditions, restarting];
}

/** `DisruptionTarget`: the node's own word, or as it was set before. */
function disruptionOf({ pod, old, disruption }: ConditionInput): PodCondition | undefined {
  const before = old.conditions?.find(({ type }) => type === 'DisruptionTarget');
  if (disruption === undefined) return before;
  const generation = pod.metadata?.generation;
  return {
    type: 'DisruptionTarget',
    status: 'True',
    ...(generation && { observedGeneration: generation }),
    lastTransitionTime: (before?.status === 'True' && before.lastTransitionTime) || rfc3339(disruption.at),
    reason: BY_KUBELET,
    message: disruption.message,
  };
}

function condition(type: string, { status, reason, message }: Verdict, { pod, old, at }: ConditionInput): PodCondition {
  const before = old.conditions?.find((c) => c.type === type);
  const out: PodCondition = { type, status };
  const generation = pod.metadata?.generation;
  if (generation) out.observedGeneration = generation;
  out.lastTransitionTime = (before?.status === status && before.lastTransitionTime) || rfc3339(at);
  if (reason) out.reason = reason;
  if (message) out.message = message;
  return out;
}

/** One sandbox is ready, the newest, with the right network: no new one has to be made. */
function hasUsableSandbox(pod: Pod, observed: ObservedPod | null): boolean {
  const [newest, ...older] = observed?.sandboxes ?? [];
  if (newest?.state !== 'ready' || older.some(({ state }) => state === 'ready')) return false;
  const hostNetwork = pod.spec?.hostNetwork === true;
  return newest.hostNetwork === hostNetwork && (hostNetwork || newest.ips.length > 0);
}

function containersReadyVerdict({ pod, statuses, phase }: ConditionInput): Verdict {
  const watched = [...(pod.spec?.initContainers ?? []).filter(isSidecar), ...(pod.spec?.containers ?? [])];
  const unknown: string[] = [];
  const unready: string[] = [];
  for (const { name } of watched) {
    const status = statuses.find((s) => s.name === name);
    if (status === undefined) unknown.push(name);
    else if (!status.ready) unready.push(name);
  }
  if (phase === 'Succeeded' && unknown.length === 0) return { status: 'False', reason: 'PodCompleted' };
  if (phase === 'Failed') return { status: 'False', reason: 'PodFailed' };
  const message = listed('unknown', unknown, 'unready', unready);
  return message === '' ? TRUE : { status: 'False', reason: 'ContainersNotReady', message };
}

function initializedVerdict({ pod, old, statuses, phase, staysInitialized }: ConditionInput): Verdict {
  const unknown: string[] = [];
  const incomplete: string[] = [];
  for (const container of pod.spec?.initContainers ?? []) {
    const status = statuses.find((s) => s.name === container.name);
    if (status === undefined) unknown.push(container.name);
    else if (isSidecar(container) ? status.started !== true : !status.ready) incomplete.push(container.name);
  }
  if (phase === 'Succeeded' && unknown.length === 0) return { status: 'True', reason: 'PodCompleted' };
  // Once a regular container ran, a sidecar that restarts does not take the condition back.
  const regular = new Set((pod.spec?.containers ?? []).map(({ name }) => name));
  if (statuses.some(({ name, state }) => regular.has(name) && (state?.running || state?.terminated))) return TRUE;
  const message = listed('unknown', unknown, 'incomplete', incomplete);
  const was = old.conditions?.some(({ type, status }) => type === 'Initialized' && status === 'True');
  if (message === '' || (staysInitialized === true && was === true)) return TRUE;
  return { status: 'False', reason: 'ContainersNotInitialized', message };
}

/** `AllContainersRestarting`. */
function restartingVerdict({ phase, restartAll }: ConditionInput): Verdict {
  if (phase === 'Succeeded') return { status: 'False', reason: 'PodCompleted' };
  if (phase === 'Failed') return { status: 'False', reason: 'PodFailed' };
  if (restartAll !== 'going') return { status: 'False' };
  const message = 'container exited with restart policy rule';
  return { status: 'True', reason: 'RestartAllContainersStarted', message };
}

function gatesVerdict(pod: Pod, conditions: readonly PodCondition[]): Verdict {
  const faults: string[] = [];
  for (const { conditionType } of pod.spec?.readinessGates ?? []) {
    const found = conditions.find(({ type }) => type === conditionType);
    if (!found) faults.push(`corresponding condition of pod readiness gate "${conditionType}" does not exist.`);
    else if (found.status !== 'True') {
      faults.push(`the status of pod readiness gate "${conditionType}" is not "True", but ${found.status}`);
    }
  }
  return faults.length === 0 ? TRUE : { status: 'False', reason: 'ReadinessGatesNotReady', message: faults.join(', ') };
}

/** `containers with unready status: [a b]`. */
function listed(...pairs: [string, string[], string, string[]]): string {
  const [firstWord, first, secondWord, second] = pairs;
  const parts: string[] = [];
  if (first.length > 0) parts.push(`containers with ${firstWord} status: [${first.join(' ')}]`);
  if (second.length > 0) parts.push(`containers with ${secondWord} status: [${second.join(' ')}]`);
  return parts.join(', ');
}
