import type { Container, ContainerStatus } from '../protocol/api-types.ts';
import type { ObservedContainer } from '../protocol/observed.ts';
import type { NodeSettings } from '../protocol/node-settings.ts';
import { recursiveReadOnly } from '../container-config/volume-mounts.ts';
import { actualResources } from './actual-resources.ts';
import { rfc3339 } from '../values/rfc3339.ts';

type State = NonNullable<ContainerStatus['state']>;
/** Exit code given to a container whose end nobody saw. */
export const UNKNOWN_EXIT_CODE = 137;
/** Reason given to a container whose end nobody saw. */
export const STATUS_UNKNOWN = 'ContainerStatusUnknown';

/** Message length left to each container, so that a status stays small (12 KiB for all). */
export function messageLimit(containers: number): number {
  return Math.trunc((12 * 1024) / Math.max(1, containers));
}

/** Cuts to at most `max` bytes of UTF-8, between characters. */
function cutBytes(text: string, max: number): string {
  if (text.length * 3 <= max) return text;
  let bytes = 0;
  let end = 0;
  for (const c of text) {
    const code = c.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (bytes > max) return text.slice(0, end);
    end += c.length;
  }
  return text;
}

/** A container as the runtime has it, as `containerStatuses` entry without `ready`, `started` and `lastState`. */
export function observedStatus(
  seen: ObservedContainer,
  spec: Container,
  old: ContainerStatus | undefined,
  context: {
    runtimeName: string;
    messageBytes: number;
    settings: Pick<NodeSettings, 'runtimeFeatures'>;
    /** Resources that it was last given. */
    actuated?: Container['resources'];
  },
): ContainerStatus {
  const containerID = `${context.runtimeName}://${seen.id}`;
  const vanished = seen.state === 'unknown' && old?.state?.running !== undefined;
  const status: ContainerStatus = {
    name: seen.name,
    state: vanished
      ? unknownEnd('The container could not be located when the pod was terminated')
      : stateOf(seen, containerID, context.messageBytes),
    lastState: {},
    ready: false,
    restartCount: vanished ? old.restartCount + 1 : seen.restartCount,
    image: seen.image,
    imageID: seen.imageRef,
    containerID,
    resources: actualResources(spec, seen, containerID, old, context.actuated),
  };
  if (spec.resources?.requests) status.allocatedResources = { ...spec.resources.requests };
  const mounts = volumeMountStatuses(spec, context.settings);
  if (mounts.length > 0) status.volumeMounts = mounts;
  if (seen.user) {
    const { uid, gid, supplementalGroups } = seen.user;
    status.user = { linux: { uid, gid, supplementalGroups: [...supplementalGroups] } };
  }
  if (seen.stopSignal !== undefined) status.stopSignal = seen.stopSignal;
  return status;
}

/** `terminated` for a container that ran and is gone: nobody knows its exit code. */
export function unknownEnd(message: string): State {
  return { terminated: { exitCode: UNKNOWN_EXIT_CODE, reason: STATUS_UNKNOWN, message } };
}

/** A container the runtime knows nothing of: waiting for its turn. */
export function defaultStatus(
  spec: Container,
  reason: 'ContainerCreating' | 'PodInitializing',
  settings: Pick<NodeSettings, 'runtimeFeatures'>,
): ContainerStatus {
  const status: ContainerStatus = {
    name: spec.name,
    state: { waiting: { reason } },
    lastState: {},
    ready: false,
    restartCount: 0,
    image: spec.image ?? '',
    imageID: '',
  };
  const mounts = volumeMountStatuses(spec, settings);
  if (mounts.length > 0) status.volumeMounts = mounts;
  return status;
}

function stateOf(seen: ObservedContainer, containerID: string, messageBytes: number): State {
  if (seen.state === 'running') return { running: { startedAt: rfc3339(seen.startedAt) } };
  if (seen.state !== 'exited') return { waiting: {} };
  const terminated: NonNullable<State['terminated']> = { exitCode: seen.exitCode };
  if (seen.reason !== '') terminated.reason = seen.reason;
  if (seen.message !== '') terminated.message = cutBytes(seen.message, messageBytes);
  terminated.startedAt = rfc3339(seen.startedAt);
  terminated.finishedAt = rfc3339(seen.finishedAt);
  terminated.containerID = containerID;
  return { terminated };
}

function volumeMountStatuses(
  spec: Container,
  settings: Pick<NodeSettings, 'runtimeFeatures'>,
): NonNullable<ContainerStatus['volumeMounts']> {
  return (spec.volumeMounts ?? []).map((mount) => {
    const { name, mountPath } = mount;
    if (!mount.readOnly) return { name, mountPath };
    const rro = recursiveReadOnly(mount, settings.runtimeFeatures.recursiveReadOnlyMounts);
    const enabled = 'recursive' in rro && rro.recursive;
    return { name, mountPath, readOnly: true, recursiveReadOnly: enabled ? 'Enabled' : 'Disabled' };
  });
}
