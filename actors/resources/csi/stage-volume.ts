import { dirname } from 'node:path';
import { makeFolder } from '../volumes/make-folder.ts';
import type { CsiSource } from '../../../machines/csi/csi-source.ts';
import { useOf } from '../../../machines/csi/csi-source.ts';
import { mountsWithContext } from '../../../machines/csi/driver-rules.ts';
import { volumeCapability } from '../../../machines/csi/node-requests.ts';
import type { VolumeData } from '../../../machines/csi/volume-data.ts';
import { contextOption } from '../../../machines/volumes/selinux-label.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { VolumeFailure } from '../volumes/volume-plugin.ts';
import type { StageCall } from '../volumes/volume-plugin.ts';
import { apiOf, before, failureOf, publishContextOf, says, secretsOf, telling, withClient } from './csi-ground.ts';
import type { CsiGround } from './csi-ground.ts';
import { stagingPath } from './csi-names.ts';
import { removeMountDir, saveVolumeData } from './volume-files.ts';

/**
 * Has a file system made ready for all pods of the node (kubelet: csiAttacher.MountDevice), and answers where. What its driver needs to take it
 * down again is written before it is asked. A driver that does not stage leaves an empty folder.
 */
export async function stageVolume(ground: CsiGround, source: CsiSource, call: StageCall): Promise<string> {
  const api = apiOf(ground);
  const path = stagingPath(ground.rootDir, source.driver, source.handle);
  const noClient = (text: string): string => says(`attacher.MountDevice failed to create newCsiDriverClient: ${text}`);
  return withClient(ground, source, call.signal, noClient, async (client) => {
    const stages = await before(client.can('STAGE_UNSTAGE_VOLUME'));
    const driver = await before(api.driver(source.driver));
    const context = await before(publishContextOf(ground, api, driver, source));
    const secrets = stages ? await secretsOf(api, 'NodeStageSecretRef', source.secrets.stage) : {};
    const data: VolumeData = { volumeHandle: source.handle, driverName: source.driver };
    const mountOptions = [...source.mountOptions];
    const label = mountsWithContext(driver) ? (call.seLinuxLabel ?? '') : '';
    if (label !== '') {
      mountOptions.push(contextOption(label));
      data.seLinuxMountContext = label;
    }
    await telling(makeFolder(path), (text) => says(`attacher.MountDevice failed to create dir "${path}":  ${text}`));
    if (!stages) return path;
    const givesGroup = await before(client.can('VOLUME_MOUNT_GROUP'), (text) =>
      says(`attacher.MountDevice failed to determine if the node service has VOLUME_MOUNT_GROUP capability: ${text}`),
    );
    const tells = await before(client.can('SINGLE_NODE_MULTI_WRITER'));
    await saveVolumeData(dirname(path), data).catch(async (error: unknown) => {
      await cleared(ground, path);
      throw new VolumeFailure('VolumeData', says(`failed to save volume info data: ${messageOf(error)}`), {
        cause: error,
      });
    });
    const fsGroup = givesGroup ? call.fsGroup : undefined;
    try {
      await client.stage({
        volumeId: source.handle,
        publishContext: context,
        stagingTargetPath: path,
        volumeCapability: volumeCapability(useOf(source, false, { mountOptions, fsGroup }), tells),
        secrets,
        volumeContext: { ...source.attributes },
      });
    } catch (error) {
      const failure = failureOf(error);
      if (failure.done) await cleared(ground, path);
      throw failure;
    }
    return path;
  });
}

async function cleared({ log }: CsiGround, path: string): Promise<void> {
  await removeMountDir(path).catch((error: unknown) =>
    log.error({ err: error, path }, 'attacher.MountDevice failed to remove mount dir after error'),
  );
}
