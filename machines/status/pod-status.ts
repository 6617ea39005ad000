import { behaves } from '../protocol/behaviour.ts';
import type { ContainerStatus, Pod, PodStatus } from '../protocol/api-types.ts';
import type { ObservedPod } from '../protocol/observed.ts';
import { podQosClass } from '../qos/qos-class.ts';
import type { QosClass } from '../qos/qos-class.ts';
import { isIPv6, sortPodIPs } from '../sandbox-config/pod-ips.ts';
import { podConditions } from './conditions.ts';
import { containerStatuses } from './container-statuses.ts';
import { isTerminalPhase, podPhase } from './phase.ts';
import { podLevelStatus } from './pod-level-resources.ts';
import type { Phase } from './phase.ts';
import { rfc3339 } from '../values/rfc3339.ts';
import type { StatusInput } from './status-input.ts';
import { disruptionMessage, isOwnEnding } from './node-endings.ts';

/**
 * The pod's status as the API shows it: the kubelet's generateAPIPodStatus, with start and transition times as its
 * status manager keeps them. A function of the input alone; a terminal phase is never left.
 */
export function podStatus(input: StatusInput): PodStatus {
  const { pod, observed } = input;
  const old: PodStatus = input.previous ?? pod.status ?? {};
  if (input.termination?.rejected && !hadContainers(input, old)) return rejectedStatus(input, old, input.termination);
  const regular = containerStatuses(input, pod.spec?.containers ?? [], old.containerStatuses ?? [], 'regular');
  const init = containerStatuses(input, pod.spec?.initContainers ?? [], old.initContainerStatuses ?? [], 'init');
  const ephemeral = containerStatuses(
    input,
    pod.spec?.ephemeralContainers ?? [],
    old.ephemeralContainerStatuses ?? [],
    'ephemeral',
  );
  const { phase, reason, message } = phaseOf(input, old, [...regular, ...init]);

  const status: PodStatus = {};
  const generation = Math.max(pod.metadata?.generation ?? 0, old.observedGeneration ?? 0);
  if (generation > 0) status.observedGeneration = generation;
  status.phase = phase;
  const { resize, at } = input;
  const statuses = [...init, ...regular];
  const { termination } = input;
  const disruption =
    termination?.disruptedAt !== undefined &&
    ((phase === 'Failed' && reason === termination.reason) || endedWell(input, phase))
      ? { at: termination.disruptedAt, message: disruptionMessage(termination.reason, termination.message) }
      : undefined;
  status.conditions = podConditions({
    ...{ pod, old, observed, statuses, phase, at },
    ...(resize && { resize }),
    ...(disruption && { disruption }),
    ...(input.restartAll && { restartAll: input.restartAll }),
    ...(input.settings.restartAllContainers && { staysInitialized: true }),
    ...(input.settings.readyToStartCondition === false && { readyToStart: false }),
  });
  if (message) status.message = message;
  if (reason) status.reason = reason;
  setAddresses(status, input);
  status.startTime = old.startTime ?? pod.status?.startTime ?? rfc3339(input.startedAt);
  if (init.length > 0) status.initContainerStatuses = init;
  if (regular.length > 0) status.containerStatuses = regular;
  status.qosClass = qosOf(pod);
  if (input.inForce) Object.assign(status, podLevelStatus(pod, phase, input.inForce));
  if (ephemeral.length > 0) status.ephemeralContainerStatuses = ephemeral;
  return status;
}

/** Was anything ever told or seen of a container? That a pod which waits to be judged has some is no word of any. */
function hadContainers({ observed, settings }: StatusInput, old: PodStatus): boolean {
  const lists = [old.containerStatuses, old.initContainerStatuses, old.ephemeralContainerStatuses];
  const told = lists.flatMap((list) => list ?? []);
  const were = behaves(settings, 'waitingWereNone') ? told.filter(wasThere) : told;
  return were.length > 0 || (observed?.containers.length ?? 0) > 0;
}

function wasThere({ state, lastState, containerID, restartCount }: ContainerStatus): boolean {
  const ran = state?.running ?? state?.terminated ?? lastState?.terminated;
  return ran !== undefined || Boolean(containerID) || restartCount > 0;
}

/** The node never took the pod: it has failed, and why (kubelet's rejectPod). */
function rejectedStatus(
  { pod, at }: StatusInput,
  old: PodStatus,
  { reason, message }: { reason: string; message: string },
): PodStatus {
  const generation = Math.max(pod.metadata?.generation ?? 0, old.observedGeneration ?? 0);
  return {
    ...(generation > 0 && { observedGeneration: generation }),
    phase: 'Failed',
    message,
    reason,
    startTime: old.startTime ?? pod.status?.startTime ?? rfc3339(at),
    qosClass: qosOf(pod),
  };
}

interface PhaseVerdict {
  phase: Phase;
  reason?: string;
  message?: string;
}

function phaseOf(input: StatusInput, old: PodStatus, statuses: ContainerStatus[]): PhaseVerdict {
  const { pod, termination } = input;
  const computed = podPhase(pod, statuses, {
    podIsTerminal: input.podIsTerminal === true,
    initialized: hasActiveRegular(pod, input.observed),
    ...(input.settings.restartAllContainers && { restartsAll: true }),
  });
  const well = endedWell(input, computed);
  const kept = [pod.status?.phase, well ? undefined : old.phase].find(isTerminalPhase);
  if (kept === undefined && well) return { phase: computed };
  const phase = kept ?? termination?.phase ?? (isTerminalPhase(computed) && isToStart(input) ? 'Running' : computed);
  // The reason belongs to the phase it was set with, also across a restart of the agent.
  if (phase === old.phase && (old.reason || old.message)) return { phase, reason: old.reason, message: old.message };
  if (termination?.phase && phase === termination.phase) {
    return { phase, reason: termination.reason, message: termination.message };
  }
  if (phase === old.phase) return { phase, reason: pod.status?.reason, message: pod.status?.message };
  return { phase };
}

/** The node ended the pod for its own sake, and all of its containers came to a good end: that counts, and not the reason (kubelet's generateAPIPodStatus). */
function endedWell({ podIsTerminal, termination, settings }: StatusInput, phase: Phase): boolean {
  if (podIsTerminal !== true || phase !== 'Succeeded' || termination === undefined) return false;
  return isOwnEnding(termination.reason) && behaves(settings, 'endsAsItsContainersDid');
}

/**
 * An earlier agent has made a container that is started now: what ended before it was stopped to make room, so it is no end
 * for good, whatever policy and exit code say.
 */
function isToStart({ pod, observed, podIsTerminal, termination, settings }: StatusInput): boolean {
  if (podIsTerminal === true || termination !== undefined || !behaves(settings, 'createdAreStarted')) return false;
  const newest = (name: string) => observed?.containers.find((c) => c.name === name);
  return (pod.spec?.containers ?? []).some(({ name }) => newest(name)?.state === 'created');
}

/** Has a regular container of the newest sandbox been made, while that sandbox is ready? */
function hasActiveRegular(pod: Pod, observed: ObservedPod | null): boolean {
  const sandbox = observed?.sandboxes[0];
  if (sandbox?.state !== 'ready') return false;
  const names = new Set((pod.spec?.containers ?? []).map(({ name }) => name));
  return observed?.containers.some((c) => c.sandboxId === sandbox.id && names.has(c.name)) ?? false;
}

/** The class follows from the definition alone, which is never changed in place; reading its quantities is slow. */
function qosOf(pod: Pod): QosClass {
  let known = QOS.get(pod);
  if (known === undefined) QOS.set(pod, (known = podQosClass(pod)));
  return known;
}

const QOS = new WeakMap<Pod, QosClass>();

/** Host addresses, and the pod's: on the host network they are the node's and stay once set. */
function setAddresses(status: PodStatus, { pod, podIPs, settings }: StatusInput): void {
  const hostIPs = settings.nodeIPs.slice(0, 2);
  if (hostIPs.length > 0) {
    status.hostIP = hostIPs[0];
    status.hostIPs = hostIPs.map((ip) => ({ ip }));
  }
  let ips = sortPodIPs(podIPs, settings.givenIPs ?? settings.nodeIPs);
  if (pod.spec?.hostNetwork) {
    const [first, second] = hostIPs;
    if (ips.length === 0 && first !== undefined) ips = [first];
    if (ips.length === 1 && second !== undefined && isIPv6(ips[0] ?? '') !== isIPv6(second)) ips = [...ips, second];
  }
  if (ips.length > 0) {
    status.podIP = ips[0];
    status.podIPs = ips.map((ip) => ({ ip }));
  }
}
