import type { ContainerStatus, Pod, PodStatus } from '../protocol/api-types.ts';
import { behaves } from '../protocol/behaviour.ts';
import type { NodeSettings } from '../protocol/node-settings.ts';
import { isStaticPod } from '../qos/critical-pod.ts';
import { isSidecar } from '../qos/pod-resources.ts';
import { unknownEnd } from './container-state.ts';
import { isTerminalPhase, podPhase } from './phase.ts';

const NOT_LOCATED = 'The container could not be located when the pod was terminated';

/**
 * The last status of a pod whose containers and sandbox are gone (the kubelet's TerminatePod): what never reported
 * its end is taken for failed, and the phase of an API pod becomes terminal. That of a static pod is what follows from
 * these ends, at once: told only with the next report, it would go back when an agent's next life begins with this one.
 */
export function terminatedStatus(
  pod: Pod,
  status: PodStatus,
  settings: Pick<NodeSettings, 'behaviour'>,
  before: PodStatus | null = null,
): PodStatus {
  const out: PodStatus = { ...status };
  if (isTerminalPhase(before?.phase) && behaves(settings, 'endIsToldOnce')) keepReadiness(out, before);
  const regular = status.containerStatuses;
  if (regular && hasInitialized(pod, status)) out.containerStatuses = regular.map(ended);
  const init = status.initContainerStatuses;
  if (init) {
    const tried = Math.max(1, init.findLastIndex(wasTried) + 1);
    out.initContainerStatuses = init.map((s, i) => (i < tried ? ended(s) : s));
  }
  if (isTerminalPhase(status.phase)) return out;
  if (!isStaticPod(pod)) out.phase = 'Failed';
  else if (behaves(settings, 'phaseOfEndedStaticPod')) {
    const statuses = [...(out.initContainerStatuses ?? []), ...(out.containerStatuses ?? [])];
    out.phase = podPhase(pod, statuses, { podIsTerminal: true, initialized: false });
  }
  return out;
}

/** Why it is not ready was told before its phase was final, and is not made again of that phase. */
function keepReadiness(status: PodStatus, before: PodStatus | null): void {
  if (status.conditions === undefined) return;
  const kept = before?.conditions?.filter(
    (c) => (c.type === 'Ready' || c.type === 'ContainersReady') && c.status === 'False',
  );
  status.conditions = status.conditions.map((c) => kept?.find(({ type }) => type === c.type) ?? c);
}

function ended(status: ContainerStatus): ContainerStatus {
  return status.state?.terminated ? status : { ...status, state: unknownEnd(NOT_LOCATED) };
}

function wasTried({ state, lastState }: ContainerStatus): boolean {
  return state?.waiting === undefined || lastState?.terminated !== undefined;
}

/** Has the pod come as far as its regular containers? */
function hasInitialized(pod: Pod, status: PodStatus): boolean {
  const specs = pod.spec?.initContainers ?? [];
  if (specs.length === 0 || status.containerStatuses?.some(wasTried)) return true;
  const statuses = status.initContainerStatuses ?? [];
  const last = statuses.at(-1);
  const spec = specs[statuses.length - 1];
  if (last === undefined || spec?.name !== last.name) return false;
  if (isSidecar(spec)) return last.state?.running !== undefined && last.started === true;
  return last.state?.terminated?.exitCode === 0 || last.lastState?.terminated?.exitCode === 0;
}
