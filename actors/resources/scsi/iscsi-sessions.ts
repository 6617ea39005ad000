import { readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { isThere, namesIn } from '../../host/files/what-is-there.ts';
import { tellKernel } from './scsi-devices.ts';
import type { ScsiMachine } from './scsi-ground.ts';

interface Session {
  /** Number of its SCSI host. */
  host: number;
  folder: string;
}

/**
 * Which SCSI host leads to a target by which portal, of all that the machine is signed in to (kubelet: GetISCSIPortalHostMapForTarget): by the portal that
 * was asked for and the one that the target has sent it on to.
 */
export async function portalHosts(machine: ScsiMachine, iqn: string): Promise<Map<string, number>> {
  const hosts = new Map<string, number>();
  for (const { host, folder } of await sessionsOf(machine, iqn))
    for (const name of await namesIn(folder)) {
      if (!name.startsWith('connection')) continue;
      const connection = join(folder, name, 'iscsi_connection', name);
      const files = ['address', 'port', 'persistent_address', 'persistent_port'];
      const told = await Promise.all(files.map((file) => wordOf(join(connection, file))));
      const [address, port, askedAddress, askedPort] = told;
      // One that is going away does not say all of it any more.
      if (address == null || port == null || askedAddress == null || askedPort == null) continue;
      hosts.set(portalOf(address, port), host).set(portalOf(askedAddress, askedPort), host);
    }
  return hosts;
}

/** The kernel's names of a LUN of a target, one for each session (kubelet: FindDevicesForISCSILun). */
export async function disksOfLun(machine: ScsiMachine, iqn: string, lun: number): Promise<string[]> {
  const disks: string[] = [];
  for (const { host, folder } of await sessionsOf(machine, iqn)) {
    // Channel and target are 0 with iSCSI.
    const place = join(folder, `target${host}:0:0`, `${host}:0:0:${lun}`);
    if (!(await isThere(place))) continue;
    const [name] = await namesIn(join(place, 'block'));
    if (name !== undefined) disks.push(name);
  }
  return disks;
}

/** Has the kernel look for one LUN only: those of others are nothing that this node should know. */
export async function scanLun({ sys }: ScsiMachine, host: number, lun: number): Promise<void> {
  await tellKernel(join(sys, 'class/scsi_host', `host${host}`, 'scan'), `0 0 ${lun}`);
}

async function sessionsOf({ sys }: ScsiMachine, iqn: string): Promise<Session[]> {
  const found: Session[] = [];
  const root = join(sys, 'class/iscsi_host');
  for (const name of await namesIn(root)) {
    const host = Number(name.slice('host'.length));
    if (!name.startsWith('host') || !Number.isInteger(host)) continue;
    const device = join(root, name, 'device');
    for (const session of await namesIn(device)) {
      if (!session.startsWith('session')) continue;
      const folder = join(device, session);
      if ((await wordOf(join(folder, 'iscsi_session', session, 'targetname'))) === iqn) found.push({ host, folder });
    }
  }
  return found;
}

/** Null where it cannot be read: what is going away tells nothing. */
async function wordOf(path: string): Promise<string | null> {
  return readFile(path, 'utf8').then(
    (text) => text.trim(),
    () => null,
  );
}

function portalOf(address: string, port: string): string {
  return `${isIPv6(address) ? `[${address}]` : address}:${port}`;
}
