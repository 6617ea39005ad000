import { readFile, rm, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Logger } from 'pino';
import { ISCSI_FILE, readIscsiFile } from '../../../machines/scsi/iscsi-file.ts';
import { placeOfFolder } from '../../../machines/scsi/iscsi-names.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { ignoring } from '../../host/files/host-failure.ts';
import { disksOfLun } from './iscsi-sessions.ts';
import { ISCSI_STATUS } from './iscsiadm.ts';
import type { IscsiAdm } from './iscsiadm.ts';
import { deleteDisk, flushMultipath, multipathOf } from './scsi-devices.ts';
import type { ScsiMachine } from './scsi-ground.ts';

/** What is to be known of a volume that is taken down. */
export interface AttachedDisk {
  portals: string[];
  iqn: string;
  lun: number;
  /** Null: the session of whatever interface. */
  iface: string | null;
  /** The interface was made for this volume. */
  isIfaceOwn: boolean;
}

/** What lies in a volume's folder says how it is taken down, else the folder's name. Rejects in kubelet's words when neither does. */
export async function attachedDisk(folder: string): Promise<AttachedDisk> {
  const text = await ignoring(readFile(join(folder, ISCSI_FILE), 'utf8'), 'ENOENT', 'ENOTDIR');
  const file = text === undefined ? null : readIscsiFile(text);
  if (file !== null) {
    const { portals, iqn, lun, iface, initiatorName, volName } = file;
    const isIfaceOwn = initiatorName !== '' && iface === `${portals[0] ?? ''}:${volName}`;
    return { portals, iqn, lun, iface, isIfaceOwn };
  }
  const place = placeOfFolder(basename(folder));
  if (place === null) throw new Error(`iscsi detach disk: malformatted mnt path: ${folder}`);
  const above = basename(dirname(folder));
  const iface = above.startsWith('iface-') ? above.slice('iface-'.length) : null;
  return { portals: [place.portal], iqn: place.iqn, lun: place.lun, iface, isIfaceOwn: false };
}

/** Has the kernel forget all disks of a LUN, and the multipath device on them. What fails is told in the log: the logout that follows may help. */
export async function deleteDisks(machine: ScsiMachine, { iqn, lun }: AttachedDisk, log: Logger): Promise<void> {
  const tell = (what: string) => (error: unknown) => log.warn({ iqn, lun, err: messageOf(error) }, what);
  try {
    const names = await disksOfLun(machine, iqn, lun);
    const found = await Promise.all(names.map((name) => multipathOf(machine, join(machine.dev, name))));
    for (const device of new Set(found.filter((each) => each !== '')))
      await flushMultipath(machine, device).catch(tell('Failed to flush multipath device map'));
    for (const name of names) await deleteDisk(machine, name).catch(tell('Failed to delete block device'));
  } catch (error) {
    tell('iscsi detach disk: failed to delete devices')(error);
  }
}

/** Signs out of these portals and forgets them; the interface that was made for the volume goes with the last. Rejects in kubelet's words. */
export async function signOut(adm: IscsiAdm, disk: AttachedDisk, portals: string[]): Promise<void> {
  const { iqn, iface, isIfaceOwn } = disk;
  if (disk.portals.length === 0)
    throw new Error(
      "iscsi detach disk: failed to detach iscsi disk. Couldn't get connected portals from configurations",
    );
  const by = iface === null ? [] : ['-I', iface];
  const done = async (...args: string[]): Promise<void> => {
    const { status, problem } = await adm.run(...args);
    if (problem !== null && status !== ISCSI_STATUS.noRecord && status !== ISCSI_STATUS.noSession)
      throw new Error(`failed to finish detachISCSIDisk, err: ${problem}`);
  };
  for (const portal of portals) {
    const node = ['-m', 'node', '-p', portal, '-T', iqn];
    await done(...node, '--logout', ...by);
    await done(...node, '-o', 'delete', ...by);
  }
  if (isIfaceOwn && iface !== null && portals.length === disk.portals.length)
    await done('-m', 'iface', '-I', iface, '-o', 'delete');
}

/** Removes the folder of a volume that was taken down; anything else in it is somebody's, and stays. */
export async function removeFolder(folder: string): Promise<void> {
  await rm(join(folder, ISCSI_FILE), { force: true });
  await ignoring(rmdir(folder), 'ENOENT');
}
