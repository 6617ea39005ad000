import { lstat, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf } from '../../../machines/values/message-of.ts';
import { ignoring } from '../../host/files/host-failure.ts';
import { mountOn } from '../../host/files/mounts.ts';
import { namesIn } from '../../host/files/what-is-there.ts';
import { refuseInUse } from '../volumes/mount-refs.ts';
import { VolumeFailure } from '../volumes/volume-plugin.ts';
import type { StagedOnDisk, UnpublishCall, UnstageCall } from '../volumes/volume-plugin.ts';
import { before, says, telling, withClient } from './csi-ground.ts';
import type { CsiGround } from './csi-ground.ts';
import { csiDir, CSI_PLUGIN, stagingPath } from './csi-names.ts';
import { loadVolumeData, removeMountDir } from './volume-files.ts';

/** Takes a file system from a pod (kubelet: csiMountMgr.TearDownAt); what it is stands beside it. */
export async function unpublishVolume(ground: CsiGround, call: UnpublishCall): Promise<void> {
  const target = join(call.path, 'mount');
  const unreadable = (text: string): string => says(`unmounter failed to load volume data file [${target}]: ${text}`);
  const data = await telling(loadVolumeData(call.path), unreadable);
  if (data === null) {
    // It was never published, or has been taken away and its folder not yet.
    if ((await mountOn(target)) !== undefined) {
      const missing = says(`failed to open volume data file [${join(call.path, 'vol_data.json')}]: no such file`);
      throw new VolumeFailure('VolumeData', unreadable(missing));
    }
    for (const folder of [target, call.path])
      if ((await ignoring(lstat(folder), 'ENOENT', 'ENOTDIR')) !== undefined) await rmdir(folder);
    return;
  }
  const noClient = (text: string): string => says(`Unmounter.TearDownAt failed to get CSI client: ${text}`);
  await withClient(ground, { driver: data.driverName ?? '' }, call.signal, noClient, async (client) => {
    await telling(client.unpublish(data.volumeHandle ?? '', target), (text) =>
      says(`Unmounter.TearDownAt failed: ${text}`),
    );
  });
  await telling(removeMountDir(target), (text) =>
    says(`Unmounter.TearDownAt failed to clean mount dir [${target}]: ${text}`),
  );
}

/** Takes a file system from the node (kubelet: csiAttacher.UnmountDevice). */
export async function unstageVolume(ground: CsiGround, call: UnstageCall): Promise<void> {
  const path = call.stagedPath === '' ? pathOf(ground, call.deviceName) : call.stagedPath;
  const folder = dirname(path);
  const data = await telling(loadVolumeData(folder), (text) => text);
  if (data === null) {
    // Its driver does not stage: all that there is of it is an empty folder.
    if ((await mountOn(path)) === undefined)
      for (const each of [path, folder]) await ignoring(rmdir(each), 'ENOENT', 'ENOTDIR', 'ENOTEMPTY');
    return;
  }
  await refuseInUse(path);
  const noClient = (text: string): string =>
    says(`attacher.UnmountDevice failed to create newCsiDriverClient: ${text}`);
  await withClient(ground, { driver: data.driverName ?? '' }, call.signal, noClient, async (client) => {
    const stages = await before(client.can('STAGE_UNSTAGE_VOLUME'), (text) =>
      says(`attacher.UnmountDevice failed to check whether STAGE_UNSTAGE_VOLUME set: ${text}`),
    );
    if (!stages) return;
    await telling(client.unstage(data.volumeHandle ?? '', path), (text) =>
      says(`attacher.UnmountDevice failed: ${text}`),
    );
  });
  await telling(removeMountDir(path), (text) => says(`failed to clean up global mount ${folder}: ${text}`));
}

/** All that is staged, by the data files that were written before. */
export async function stagedVolumes(ground: CsiGround): Promise<StagedOnDisk[]> {
  const root = csiDir(ground.rootDir);
  const staged: StagedOnDisk[] = [];
  for (const driver of await namesIn(root)) {
    if (driver === 'volumeDevices') continue;
    for (const hash of await namesIn(join(root, driver))) {
      const data = await known(ground, join(root, driver, hash));
      if (data?.driverName === undefined || data.volumeHandle === undefined) continue;
      const deviceName = `${data.driverName}^${data.volumeHandle}`;
      const label = data.seLinuxMountContext ?? '';
      const stagedPath = join(root, driver, hash, 'globalmount');
      staged.push({ deviceName, name: '', mode: 'Filesystem', stagedPath, ...(label !== '' && { label }) });
    }
  }
  const devices = join(root, 'volumeDevices');
  for (const name of await namesIn(devices)) {
    if (name === 'staging' || name === 'publish') continue;
    const data = await known(ground, join(devices, name, 'data'));
    if (data?.driverName === undefined || data.volumeHandle === undefined) continue;
    const deviceName = `${data.driverName}^${data.volumeHandle}`;
    const stagedPath = join(devices, 'staging', name);
    staged.push({ deviceName, name: data.specVolID ?? name, mode: 'Block', stagedPath });
  }
  return staged;
}

async function known({ log }: CsiGround, folder: string): ReturnType<typeof loadVolumeData> {
  return loadVolumeData(folder).catch((error: unknown) => {
    log.error({ folder, problem: messageOf(error) }, 'Staged CSI volume');
    return null;
  });
}

/** Where a device of this name is staged; a handle may hold the sign between both, a driver's name cannot. */
function pathOf({ rootDir }: CsiGround, deviceName: string): string {
  const own = deviceName.startsWith(`${CSI_PLUGIN}/`) ? deviceName.slice(CSI_PLUGIN.length + 1) : deviceName;
  const at = own.indexOf('^');
  return stagingPath(rootDir, own.slice(0, at), own.slice(at + 1));
}
