import { ContainerEventType, ContainerState, PodSandboxState } from '../generated/runtime/v1/api.ts';
import type { ContainerRecord, SandboxRecord } from './records.ts';
import type { SimCore } from './sim-core.ts';

/** READY -> NOTREADY: the address goes back; nothing when it is not ready. */
function sandboxDown(core: SimCore, record: SandboxRecord): void {
  if (record.state !== PodSandboxState.SANDBOX_READY) return;
  record.timer?.cancel();
  record.timer = undefined;
  freeAddresses(core, record.ips);
  record.ips = [];
  core.sandboxes.setState(record, PodSandboxState.SANDBOX_NOTREADY);
  core.events.emit(record.id, ContainerEventType.CONTAINER_STOPPED_EVENT, record);
}

/** The sandbox's own process dies; with a shared pid namespace its containers go with it. */
export function sandboxDies(core: SimCore, record: SandboxRecord, killsContainers: boolean): void {
  if (killsContainers) for (const container of record.containers) core.processes.kill(container);
  sandboxDown(core, record);
}

/** StopPodSandbox: its containers are killed at once, then it goes down. */
export function stopSandbox(core: SimCore, record: SandboxRecord): void {
  sandboxDies(core, record, true);
}

/** Forgets a container: killed when it runs, its name free again. */
export function removeContainer(core: SimCore, record: ContainerRecord): void {
  core.processes.kill(record);
  core.containers.remove(record);
  record.sandbox.containers.delete(record);
  core.containerNames.release(record.name);
  core.events.emit(record.id, ContainerEventType.CONTAINER_DELETED_EVENT, record.sandbox);
}

/** Forgets a sandbox and all its containers. */
export function removeSandbox(core: SimCore, record: SandboxRecord): void {
  stopSandbox(core, record);
  for (const container of [...record.containers]) removeContainer(core, container);
  core.sandboxes.remove(record);
  core.sandboxNames.release(record.name);
  core.events.emit(record.id, ContainerEventType.CONTAINER_DELETED_EVENT, record);
}

/**
 * What containerd finds after a reboot: no process lives, so sandboxes are not ready and what ran has
 * exited with 255 and the reason Unknown.
 */
export function loseAllProcesses(core: SimCore): void {
  for (const record of [...core.containers.inState(ContainerState.CONTAINER_RUNNING)]) {
    core.processes.exit(record, 255, 'Unknown');
  }
  for (const record of [...core.sandboxes.inState(PodSandboxState.SANDBOX_READY)]) sandboxDown(core, record);
}

/** Gives addresses back to their ranges. */
export function freeAddresses(core: SimCore, ips: readonly string[]): void {
  for (const [index, ip] of ips.entries()) core.addresses[index]?.free(ip);
}
