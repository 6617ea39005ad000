import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { plainName } from '../../host/files/pod-paths.ts';

/** The plugin as kubelet names it. */
export const CSI_PLUGIN = 'kubernetes.io/csi';
/** File beside each volume that says what it is. */
export const VOLUME_DATA = 'vol_data.json';

/** Name of the VolumeAttachment of a volume on a node. */
export function attachmentName(handle: string, driver: string, nodeName: string): string {
  return `csi-${sha256(`${handle}${driver}${nodeName}`)}`;
}

/** Handle of a volume that lives with its pod: the node makes it up. */
export function ephemeralHandle(podUid: string, volumeName: string): string {
  return `csi-${sha256(`${podUid}${volumeName}`)}`;
}

/** `plugins/kubernetes.io/csi` in the root directory. */
export function csiDir(rootDir: string): string {
  return join(rootDir, 'plugins', CSI_PLUGIN);
}

/** Where a file system is staged; its data file is in the folder above. */
export function stagingPath(rootDir: string, driver: string, handle: string): string {
  return join(csiDir(rootDir), plainName(driver, 'the CSI driver'), sha256(handle), 'globalmount');
}

/** Places of a block volume. */
export interface BlockPaths {
  /** All that is kept of it but what the driver makes. */
  dir: string;
  /** Holds its data file. */
  data: string;
  /** Holds one file for each pod that has it, the device bound to it. */
  dev: string;
  staging: string;
  publishDir: string;
}

/** @param name the PV's */
export function blockPaths(rootDir: string, name: string): BlockPaths {
  const devices = join(csiDir(rootDir), 'volumeDevices');
  const own = plainName(name.replaceAll('/', '~'), 'the volume name');
  const dir = join(devices, own);
  return {
    dir,
    data: join(dir, 'data'),
    dev: join(dir, 'dev'),
    staging: join(devices, 'staging', own),
    publishDir: join(devices, 'publish', own),
  };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
