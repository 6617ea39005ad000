import { messageOf } from '../../machines/values/message-of.ts';
import { ContainerEventType, ContainerState, PodSandboxState } from '../generated/runtime/v1/api.ts';
import type { LinuxContainerResources } from '../generated/runtime/v1/api.ts';
import { findContainer } from './find-container.ts';
import type { RuntimeHandlers } from './handlers.ts';
import { containerLister } from './list-encoding.ts';
import { createContainer } from './create-container.ts';
import { attemptOf, isRunning, whenExits } from './processes.ts';
import type { CallContext } from './call-context.ts';
import type { ContainerRecord } from './records.ts';
import { refused } from './rpc-error.ts';
import { removeContainer } from './sandbox-life.ts';
import type { SimCore } from './sim-core.ts';
import { containerStateName, toContainerStatus, verboseOnly } from './status-shapes.ts';

/** RPCs about containers, commands in them apart. */
type ContainerRpcs =
  | 'createContainer'
  | 'startContainer'
  | 'stopContainer'
  | 'removeContainer'
  | 'listContainers'
  | 'containerStatus'
  | 'updateContainerResources'
  | 'reopenContainerLog';

/** RuntimeService's part about containers. */
export function containerHandlers(core: SimCore): Pick<RuntimeHandlers, ContainerRpcs> {
  const list = containerLister(core.containers);
  return {
    createContainer: async (request, call) => {
      const record = await createContainer(core, request, call);
      core.events.emit(record.id, ContainerEventType.CONTAINER_CREATED_EVENT, record.sandbox);
      return { containerId: record.id };
    },
    startContainer: ({ containerId }) => {
      startContainer(core, findContainer(core, containerId));
      return {};
    },
    stopContainer: async ({ containerId, timeout }, call) => {
      const record = core.containers.find(containerId);
      if (record !== undefined) await stopContainer(core, record, Number(timeout), call);
      return {};
    },
    removeContainer: ({ containerId }) => {
      const record = core.containers.find(containerId);
      if (record !== undefined) removeContainer(core, record);
      return {};
    },
    listContainers: ({ filter }) => {
      if (filter === undefined || filter.podSandboxId === '') return list(filter, undefined);
      return list(filter, core.sandboxes.find(filter.podSandboxId)?.containers ?? []);
    },
    containerStatus: ({ containerId, verbose }) => {
      const record = findContainer(core, containerId);
      return {
        status: toContainerStatus(record),
        info: verboseOnly(verbose, 'info', () => verboseInfo(record)),
      };
    },
    updateContainerResources: ({ containerId, linux }) => {
      const record = findContainer(core, containerId);
      if (record.state === ContainerState.CONTAINER_EXITED) {
        throw refused(`container ${JSON.stringify(record.id)} is in ${containerStateName(record.state)} state`);
      }
      if (linux !== undefined) record.resources = mergeResources(record.resources, linux);
      return {};
    },
    reopenContainerLog: ({ containerId }) => {
      const record = findContainer(core, containerId);
      if (record.state !== ContainerState.CONTAINER_RUNNING) throw refused('container is not running');
      if (record.logPath !== '') {
        core.logs.close(record.logPath);
        core.logs.create(record.logPath);
      }
      return {};
    },
  };
}

function startContainer(core: SimCore, record: ContainerRecord): void {
  if (record.state !== ContainerState.CONTAINER_CREATED) {
    throw refused(`container is in ${containerStateName(record.state)} state`);
  }
  if (record.sandbox.state !== PodSandboxState.SANDBOX_READY) {
    throw refused(`sandbox container ${JSON.stringify(record.sandbox.id)} is not running`);
  }
  const attempt = attemptOf(record);
  if (attempt !== undefined && 'startError' in attempt) {
    core.processes.failStart(record, attempt.startError);
    throw refused(attempt.startError);
  }
  if (record.logPath !== '') {
    try {
      core.logs.create(record.logPath);
    } catch (cause) {
      const problem = messageOf(cause);
      const message = `failed to create containerd task: failed to start io pipe copy: ${problem}`;
      core.processes.failStart(record, message);
      throw refused(message);
    }
  }
  core.processes.start(record);
}

/** Stop signal, then SIGKILL after `graceSeconds`. A caller who goes meanwhile leaves the container with the signal only. */
async function stopContainer(
  core: SimCore,
  record: ContainerRecord,
  graceSeconds: number,
  call: CallContext,
): Promise<void> {
  if (!isRunning(record)) return;
  if (graceSeconds > 0) {
    core.processes.signal(record);
    if (!isRunning(record)) return;
    const ended = await call.until((done) => whenExits(record, done), graceSeconds * 1000);
    if (ended) return;
  }
  core.processes.kill(record);
}

/** A field that is absent ('0' or empty) stays as it was. */
function mergeResources(
  old: LinuxContainerResources | undefined,
  update: LinuxContainerResources,
): LinuxContainerResources {
  if (old === undefined) return update;
  const given = Object.entries(update).filter(([, value]) => {
    if (typeof value === 'string') return value !== '' && value !== '0';
    return Object.keys(value as object).length > 0;
  });
  return { ...old, ...Object.fromEntries(given) };
}

/** The fields of containerd's verbose container info that people look at. */
function verboseInfo(record: ContainerRecord): object {
  return {
    sandboxID: record.sandbox.id,
    pid: 0,
    removing: false,
    snapshotKey: record.id,
    snapshotter: 'simulated',
    runtimeType: 'simulated',
    config: record.config,
  };
}
