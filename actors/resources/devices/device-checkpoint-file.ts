import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { ContainerAllocateResponse } from '../../../cri/generated/deviceplugin/v1beta1/api.ts';
import { deviceCheckpointText, readDeviceCheckpoint } from '../../../machines/devices/device-checkpoint.ts';
import type { DeviceEntry } from '../../../machines/devices/device-checkpoint.ts';
import { healthyIds } from '../../../machines/devices/device-state.ts';
import type { DeviceGrant, DeviceState, PodGrants } from '../../../machines/devices/device-state.ts';
import { ActorletError } from '../../../machines/errors/define.ts';
import { nodeErrors } from '../../../machines/errors/node-errors.ts';
import { uidEntries } from '../../../machines/supervisor/uid-table.ts';
import { messageOf } from '../../../machines/values/message-of.ts';

/** What an earlier agent, or a kubelet, left. */
export interface FoundDevices {
  grants: Record<string, PodGrants>;
  /** Names of resources that were registered. */
  registered: string[];
}

/** `kubelet_internal_checkpoint`: who has which devices, in kubelet's own format, so that either agent finds it. */
export class DeviceCheckpointFile {
  private readonly folder: string;
  private readonly path: string;
  private readonly log: Logger;
  private writing: Promise<void> = Promise.resolve();
  private failing = false;

  /** @param folder `device-plugins` in the root directory */
  constructor(folder: string, log: Logger) {
    this.folder = folder;
    this.path = join(folder, 'kubelet_internal_checkpoint');
    this.log = log;
  }

  /** Null when there is none that can be read; a damaged one is told. */
  async read(): Promise<FoundDevices | null> {
    let text: string;
    try {
      text = await readFile(this.path, 'utf8');
    } catch {
      return null;
    }
    const found = readDeviceCheckpoint(text);
    if (found === null) {
      const err = new ActorletError(nodeErrors.checkpointDamaged, { path: this.path });
      this.log.error(
        { err },
        'Continue after failing to read checkpoint file. Device allocation info may NOT be up-to-date',
      );
      return null;
    }
    const grants: Record<string, Record<string, Record<string, DeviceGrant>>> = {};
    for (const { PodUID, ContainerName, ResourceName, DeviceIDs, AllocResp } of found.entries) {
      try {
        const response = ContainerAllocateResponse.decode(Buffer.from(AllocResp, 'base64'));
        ((grants[PodUID] ??= {})[ContainerName] ??= {})[ResourceName] = { ids: DeviceIDs, response };
      } catch (error) {
        this.log.error({ err: error, podUID: PodUID, resourceName: ResourceName }, "Can't unmarshal allocResp");
      }
    }
    return { grants, registered: Object.keys(found.registered) };
  }

  /**
   * Is nothing in the folder but hidden files (kubelet: ShouldResetExtendedResourceCapacity)? A folder that is not there is empty; of one
   * that cannot be read nothing is known.
   */
  async nothingThere(): Promise<boolean> {
    try {
      return (await readdir(this.folder)).every((name) => name.startsWith('.'));
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'ENOENT';
    }
  }

  /** Writes the whole, beside the old one and then in its place; resolves when it is there, or when it could not be written. */
  write(state: DeviceState): Promise<void> {
    this.writing = this.writing.then(() => this.writeNow(textOf(state)));
    return this.writing;
  }

  /** Resolves when nothing is being written. */
  settled(): Promise<void> {
    return this.writing;
  }

  private async writeNow(text: string): Promise<void> {
    try {
      await writeFile(`${this.path}.tmp`, text, { mode: 0o600 });
      await rename(`${this.path}.tmp`, this.path);
      this.failing = false;
    } catch (error) {
      if (this.failing) return;
      this.failing = true;
      const params = { path: this.path, problem: messageOf(error) };
      this.log.error(
        { err: new ActorletError(nodeErrors.checkpointUnwritten, params, { cause: error }) },
        'Checkpoint',
      );
    }
  }
}

function textOf({ resources, grants }: DeviceState): string {
  const entries: DeviceEntry[] = [];
  for (const [PodUID, containers] of uidEntries(grants).sort(([a], [b]) => (a < b ? -1 : 1)))
    for (const [ContainerName, of] of Object.entries(containers))
      for (const [ResourceName, { ids, response }] of Object.entries(of)) {
        const bytes = ContainerAllocateResponse.encode({
          ...response,
          mounts: [...response.mounts],
          devices: [...response.devices],
          cdiDevices: [...response.cdiDevices],
        });
        const AllocResp = Buffer.from(bytes.finish()).toString('base64');
        entries.push({ PodUID, ContainerName, ResourceName, DeviceIDs: ids, AllocResp });
      }
  const told = Object.entries(resources).filter(([, { devices }]) => devices !== null);
  return deviceCheckpointText({
    entries,
    registered: Object.fromEntries(told.map(([name, resource]) => [name, healthyIds(resource)])),
  });
}
