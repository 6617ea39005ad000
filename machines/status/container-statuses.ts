import type { Container, ContainerStatus } from '../protocol/api-types.ts';
import { behaves } from '../protocol/behaviour.ts';
import type { ObservedContainer } from '../protocol/observed.ts';
import { defaultStatus, messageLimit, observedStatus, STATUS_UNKNOWN, UNKNOWN_EXIT_CODE } from './container-state.ts';
import { removedStatus } from './restart-all.ts';
import { isToBeStarted } from './restart-rule.ts';
import type { ContainerDecision, StatusInput } from './status-input.ts';

/** Which list of the status the containers stand in. */
export type StatusList = 'init' | 'regular' | 'ephemeral';

/**
 * The status of each container of one list (the kubelet's convertToAPIContainerStatuses): what the runtime has of
 * it, newest first, else what the last status said. Init containers come in the order of the spec, others by name.
 */
export function containerStatuses(
  input: StatusInput,
  containers: readonly Container[],
  previous: readonly ContainerStatus[],
  list: StatusList,
): ContainerStatus[] {
  const seen = newestByName(input.observed?.containers ?? []);
  const out = containers.map((spec) => {
    const old = previous.find((status) => status.name === spec.name);
    const instances = seen.get(spec.name) ?? [];
    const before = statusBefore(input, spec, old);
    if (before !== undefined && behaves(input.settings, 'restartsAreToldOnce')) return withHealth(input, before, list);
    const status = showWaiting(input, spec, instances[0], statusOf(input, spec, old, instances), list);
    return withHealth(input, withProbes(status, spec, decisionOf(input, spec), list), list);
  });
  return list === 'init' ? out : out.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/** By number first: a clock that was set back makes the newer one look older. */
function newestFirst(a: ObservedContainer, b: ObservedContainer): number {
  return b.restartCount - a.restartCount || b.createdAt - a.createdAt;
}

function newestByName(containers: readonly ObservedContainer[]): Map<string, ObservedContainer[]> {
  const byName = new Map<string, ObservedContainer[]>();
  for (const container of [...containers].sort(newestFirst)) {
    const instances = byName.get(container.name);
    if (instances) instances.push(container);
    else byName.set(container.name, [container]);
  }
  return byName;
}

function statusOf(
  input: StatusInput,
  spec: Container,
  old: ContainerStatus | undefined,
  [newest, before]: ObservedContainer[],
): ContainerStatus {
  if (newest === undefined) return unseenStatus(input, spec, old);
  const hidden = statusBefore(input, spec, old);
  if (hidden !== undefined) return hidden;
  const { spec: podSpec } = input.pod;
  const count =
    (podSpec?.containers.length ?? 0) +
    (podSpec?.initContainers?.length ?? 0) +
    (podSpec?.ephemeralContainers?.length ?? 0);
  const context = {
    runtimeName: input.runtimeName,
    messageBytes: messageLimit(count),
    settings: input.settings,
    actuated: input.resize?.actuated[spec.name] ?? spec.resources,
  };
  const status = observedStatus(newest, spec, old, context);
  // The newest may be gone and an earlier one be seen: what was told of restarts has happened all the same.
  const told = behaves(input.settings, 'restartCountNeverFalls') ? (old?.restartCount ?? 0) : 0;
  if (told > status.restartCount) status.restartCount = told;
  if (before !== undefined) status.lastState = observedStatus(before, spec, old, context).state;
  return status;
}

/** The status of before, of a container that is being restarted and was told as running. */
function statusBefore(
  input: StatusInput,
  spec: Container,
  old: ContainerStatus | undefined,
): ContainerStatus | undefined {
  return old?.state?.running && decisionOf(input, spec)?.endIsHidden === true ? old : undefined;
}

/** All containers of the pod are removed, to be made anew. */
function isRemovedForAll({ restartAll = 'no' }: StatusInput): boolean {
  return restartAll !== 'no';
}

/** The runtime has no such container: not started yet, or removed after it ran. */
function unseenStatus(input: StatusInput, spec: Container, old: ContainerStatus | undefined): ContainerStatus {
  const hasInit = (input.pod.spec?.initContainers?.length ?? 0) > 0;
  const status = defaultStatus(spec, hasInit ? 'PodInitializing' : 'ContainerCreating', input.settings);
  if (old === undefined) return status;
  const removed = isRemovedForAll(input) ? removedStatus(status, old) : undefined;
  if (removed !== undefined) return removed;
  if (old.state?.terminated) return { ...old, lastState: old.lastState ?? {} };
  status.restartCount = old.restartCount;
  if (old.lastState) status.lastState = old.lastState;
  if (!old.state?.running || status.lastState?.terminated) return status;
  // It ran and is gone, nobody saw how it ended: with a last state it does not pull the pod back to Pending.
  status.lastState = {
    terminated: {
      exitCode: UNKNOWN_EXIT_CODE,
      reason: STATUS_UNKNOWN,
      message: 'The container could not be located when the pod was deleted.  The container used to be Running',
    },
  };
  if (input.pod.metadata?.deletionTimestamp === undefined) status.restartCount++;
  return status;
}

/** A container to be started shows the reason why it does not run yet; its end moves to `lastState`. */
function showWaiting(
  input: StatusInput,
  spec: Container,
  newest: ObservedContainer | undefined,
  status: ContainerStatus,
  list: StatusList,
): ContainerStatus {
  const waiting = decisionOf(input, spec)?.waiting;
  if (waiting === undefined) return status;
  if (input.podIsTerminal === true && behaves(input.settings, 'endIsToldOnce')) return status;
  // The next one is made: what the API has of the last is shown until it runs.
  const isMade = newest?.state === 'created' && behaves(input.settings, 'backsOffUntilItRuns');
  if (isMade && waiting.reason === 'CrashLoopBackOff') return status;
  if (list === 'init' && newest?.state === 'exited' && newest.exitCode === 0) return status;
  if (!isToBeStarted(spec, input.pod, newest, input.settings.restartAllContainers)) return status;
  const lastState = status.state?.terminated ? status.state : status.lastState;
  const { reason, message } = waiting;
  return { ...status, lastState, state: { waiting: message === '' ? { reason } : { reason, message } } };
}

/** `started` and `ready` (the kubelet's prober UpdatePodStatus). Ephemeral containers have neither. */
function withProbes(
  status: ContainerStatus,
  spec: Container,
  decision: ContainerDecision | undefined,
  list: StatusList,
): ContainerStatus {
  if (list === 'ephemeral') return { ...status, ready: false };
  const running = status.state?.running !== undefined;
  const started = running && (decision?.started ?? true);
  if (list === 'init' && spec.restartPolicy !== 'Always') {
    return { ...status, started, ready: status.state?.terminated?.exitCode === 0 };
  }
  return { ...status, started, ready: started && (decision?.ready ?? true) };
}

/** How the devices of a regular container are (kubelet: UpdateAllocatedResourcesStatus). Told of no other: it has none, or has given them on. */
function withHealth({ health }: StatusInput, status: ContainerStatus, list: StatusList): ContainerStatus {
  if (health === undefined || list !== 'regular') return status;
  const { allocatedResourcesStatus: _before, ...rest } = status;
  const rows = Object.hasOwn(health, status.name) ? (health[status.name] ?? []) : [];
  return rows.length === 0 ? rest : { ...rest, allocatedResourcesStatus: rows };
}

function decisionOf(input: StatusInput, spec: Container): ContainerDecision | undefined {
  return Object.hasOwn(input.containers, spec.name) ? input.containers[spec.name] : undefined;
}
