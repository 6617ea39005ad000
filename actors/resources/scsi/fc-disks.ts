import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { isLunLink } from '../../../machines/scsi/fc-source.ts';
import type { FcDisk } from '../../../machines/scsi/fc-source.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { ignoring } from '../../host/files/host-failure.ts';
import { howEnded, runProgram } from '../../host/files/program.ts';
import { namesIn } from '../../host/files/what-is-there.ts';
import { deleteDisk, flushMultipath, multipathOf, pathsOf, tellKernel } from './scsi-devices.ts';
import type { ScsiMachine } from './scsi-ground.ts';

/**
 * Finds a disk (kubelet: searchDisk); answers the multipath device where it has one, '' when it is not there. All hosts look for new disks first, unless there is a
 * multipath device already.
 */
export async function searchDisk(machine: ScsiMachine, disk: FcDisk): Promise<string> {
  const before = await findDisk(machine, disk);
  if (before.multipath !== '') return before.multipath;
  const hosts = join(machine.sys, 'class/scsi_host');
  for (const host of await namesIn(hosts))
    // One that does not look any more does not keep the others from it.
    await tellKernel(join(hosts, host, 'scan'), '- - -').catch(() => undefined);
  const { device, multipath } = await findDisk(machine, disk);
  return multipath === '' ? device : multipath;
}

/** Finds a disk by udev's links, as it is now. '' where there is none. */
export async function findDisk(machine: ScsiMachine, disk: FcDisk): Promise<{ device: string; multipath: string }> {
  let first = '';
  for (const link of await linksOf(machine, disk)) {
    const device = await ignoring(realpath(link), 'ENOENT', 'ENOTDIR');
    if (device === undefined) continue;
    const multipath = await multipathOf(machine, device);
    if (multipath !== '') return { device, multipath };
    first ||= device;
  }
  return { device: first, multipath: '' };
}

/**
 * Has the kernel forget a disk, all paths to it and the multipath device on them (kubelet: DetachDisk); what is not there is forgotten. Rejects in kubelet's
 * words while the multipath device is in use.
 */
export async function letGo(machine: ScsiMachine, device: string, log: Logger): Promise<void> {
  const disk = await ignoring(realpath(device), 'ENOENT', 'ENOTDIR');
  if (disk === undefined) return;
  const multipath = await multipathOf(machine, disk);
  const paths = multipath === '' ? [disk] : await pathsOf(machine, multipath);
  if (multipath !== '') await flushMultipath(machine, multipath);
  for (const path of paths) {
    const flushed = await runProgram(machine.blockdev, ['--flushbufs', path]);
    if (flushed.status !== 0)
      log.warn({ device: path, problem: howEnded(flushed), output: flushed.output }, 'Failed to flush device');
    await deleteDisk(machine, path.slice(path.lastIndexOf('/') + 1)).catch((error: unknown) =>
      log.warn({ device: path, err: messageOf(error) }, 'Failed to delete block device'),
    );
  }
}

async function linksOf({ dev }: ScsiMachine, { wwns, lun, wwids }: FcDisk): Promise<string[]> {
  const folder = join(dev, 'disk', wwns.length > 0 ? 'by-path' : 'by-id');
  const names = await namesIn(folder);
  const found =
    wwns.length > 0
      ? wwns.flatMap((wwn) => names.filter((name) => isLunLink(name, wwn, lun)).slice(0, 1))
      : wwids.map((wwid) => `scsi-${wwid}`).filter((name) => names.includes(name));
  return found.map((name) => join(folder, name));
}
