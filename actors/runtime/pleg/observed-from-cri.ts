import type { ContainerStatus, PodSandboxStatus } from '../../../cri/generated/runtime/v1/api.ts';
import { stopSignalName } from '../../../machines/container-config/container-config.ts';
import type { ObservedContainer, ObservedSandbox } from '../../../machines/protocol/observed.ts';
import { ANNOTATION, LABEL } from '../../../machines/protocol/runtime-labels.ts';
import { absolutePath } from '../../../machines/values/absolute-path.ts';

const CONTAINER_STATES = ['created', 'running', 'exited', 'unknown'] as const;

/** Nanoseconds since the epoch as a decimal string -> ms. */
export function msFromNs(ns: string): number {
  return ns.length > 6 ? Number(ns.slice(0, -6)) : 0;
}

/** The count that the agent wrote on the container; the attempt in its name is the same, and stands in for what is no number. */
function restartCountOf({ annotations, metadata }: ContainerStatus): number {
  const written = annotations[ANNOTATION.restartCount] ?? '';
  return /^\d{1,9}$/.test(written) ? Number(written) : (metadata?.attempt ?? 0);
}

/** Where the container's last words are on the node; an earlier agent has mounted them at the path as the pod has it. */
function terminationLogOf({ annotations, mounts }: ContainerStatus): string | undefined {
  const written = annotations[ANNOTATION.terminationMessagePath] ?? '';
  if (written === '') return undefined;
  const clean = absolutePath(written);
  const mount = mounts.find((m) => m.containerPath === clean) ?? mounts.find((m) => m.containerPath === written);
  return mount?.hostPath;
}

/** A CRI ContainerStatus as the machines see it. @param stopSignals what stops it is told, too */
export function observedContainer(status: ContainerStatus, sandboxId: string, stopSignals = false): ObservedContainer {
  const { annotations } = status;
  const log = terminationLogOf(status);
  const linux = status.resources?.linux;
  const user = status.user?.linux;
  const stopSignal = stopSignals ? stopSignalName(status.stopSignal) : undefined;
  return {
    id: status.id,
    name: status.labels[LABEL.containerName] ?? status.metadata?.name ?? '',
    sandboxId,
    state: CONTAINER_STATES[status.state] ?? 'unknown',
    createdAt: msFromNs(status.createdAt),
    startedAt: msFromNs(status.startedAt),
    finishedAt: msFromNs(status.finishedAt),
    exitCode: status.exitCode,
    reason: status.reason,
    message: status.message,
    image: status.image?.image ?? '',
    imageRef: status.imageRef,
    imageId: status.imageId,
    logPath: status.logPath,
    hash: annotations[ANNOTATION.hash] ?? '',
    restartCount: restartCountOf(status),
    annotations,
    labels: status.labels,
    ...(log !== undefined && { terminationLogHostPath: log }),
    ...(linux !== undefined && {
      resources: {
        cpuShares: linux.cpuShares,
        cpuQuota: linux.cpuQuota,
        cpuPeriod: linux.cpuPeriod,
        memoryLimitInBytes: linux.memoryLimitInBytes,
      },
    }),
    ...(user !== undefined && {
      user: { uid: Number(user.uid), gid: Number(user.gid), supplementalGroups: user.supplementalGroups.map(Number) },
    }),
    ...(stopSignal !== undefined && { stopSignal }),
  };
}

/** A CRI PodSandboxStatus as the machines see it; addresses of a sandbox that is not ready do not count. */
export function observedSandbox(status: PodSandboxStatus): ObservedSandbox {
  const ready = status.state === 0;
  const { network } = status;
  const hostNetwork = status.linux?.namespaces?.options?.network === 2;
  const ips = [network?.ip ?? '', ...(network?.additionalIps ?? []).map((a) => a.ip)].filter((ip) => ip !== '');
  return {
    id: status.id,
    attempt: status.metadata?.attempt ?? 0,
    state: ready ? 'ready' : 'notReady',
    createdAt: msFromNs(status.createdAt),
    // A copy has no room that nobody needs.
    ips: ready ? ips.slice() : [],
    ...(ready && !hostNetwork && network?.ip === '' && { unaddressed: true as const }),
    hostNetwork,
    runtimeHandler: status.runtimeHandler,
    labels: status.labels,
    annotations: status.annotations,
  };
}
