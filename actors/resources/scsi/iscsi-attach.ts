import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isCardLink, linkName } from '../../../machines/scsi/iscsi-names.ts';
import { transportOf } from '../../../machines/scsi/iface-record.ts';
import { ignoring } from '../../host/files/host-failure.ts';
import { namesIn } from '../../host/files/what-is-there.ts';
import { portalHosts, scanLun } from './iscsi-sessions.ts';
import { cloneIface, signIn } from './iscsi-sign-in.ts';
import type { IscsiLogin } from './iscsi-sign-in.ts';
import { awaitMultipath } from './scsi-devices.ts';
import type { ScsiMachine } from './scsi-ground.ts';

/** Kubelet's: all portals are tried so often; with two of them it is content after the second time. */
const TRIES = { most: 5, enough: 2 };
/** How many paths make a multipath device. */
const PATHS = 2;
/** How many looks for a disk, and for a multipath device, a second apart. */
const LOOKS = { disk: 30, multipath: 10 };

/**
 * Signs in to a volume's target by all its portals, has the kernel look for the LUN, and waits for the device (kubelet: AttachDisk). Answers its path: of the
 * multipath device where there is one. A portal by which the node is signed in already is not signed in again.
 * @param begun is awaited before anything is changed, so that it is known how to undo it
 */
export async function attachDisk(login: IscsiLogin, begun: () => Promise<void>): Promise<string> {
  const { machine, adm, source, signal, log } = login;
  const shown = await adm.run('-m', 'iface', '-I', source.initIface, '-o', 'show');
  if (shown.problem !== null) {
    log.error({ iface: source.initIface, output: shown.output }, 'Could not read an iSCSI interface');
    throw new Error(shown.problem);
  }
  const transport = transportOf(shown.output);
  await begun();
  if (source.initiatorName !== '') await cloneIface(login);
  const portals = [...new Set(source.portals)];
  const found = await findPaths(login, portals, transport);
  // Where one portal is named nobody waits: as a rule there is no multipath device then.
  const looks = source.portals.length > 1 ? LOOKS.multipath : 1;
  const multipath = await awaitMultipath(machine, found, looks, signal);
  return multipath === '' ? (found[0] ?? '') : multipath;
}

async function findPaths(login: IscsiLogin, portals: string[], transport: string): Promise<string[]> {
  const { machine, adm, source, log } = login;
  const paths = new Map<string, string>();
  let hosts = await portalHosts(machine, source.iqn);
  let problem: string | null = null;
  for (let round = 1; round <= TRIES.most; round += 1) {
    for (const portal of portals) {
      if (paths.has(portal)) continue;
      if (!hosts.has(portal)) {
        const refused = await signIn(login, portal);
        problem = refused ?? problem;
        if (refused !== null) continue;
        hosts = await portalHosts(machine, source.iqn);
      }
      const host = hosts.get(portal);
      if (host === undefined) {
        log.warn({ portal, iqn: source.iqn }, 'Could not get SCSI host number for portal after logging in');
        continue;
      }
      await scanLun(machine, host, source.lun);
      if (transport === '') throw new Error(`could not parse iface file for ${source.iface}`);
      const path = await awaitDisk(login, transport, portal);
      if ('late' in path) problem = path.late;
      else paths.set(portal, path.found);
    }
    if (paths.size === 0) {
      // Kubelet has the interface that the volume names removed, too; that is the administrator's.
      if (source.initiatorName !== '') await adm.run('-m', 'iface', '-I', source.iface, '-o', 'delete');
      throw new Error(`failed to get any path for iscsi disk, last err seen:\n${problem ?? '<nil>'}`);
    }
    if (paths.size === portals.length || (paths.size >= PATHS && round >= TRIES.enough)) break;
  }
  if (problem !== null) log.warn({ iqn: source.iqn, problem }, 'An iSCSI volume has not all of its paths');
  return [...paths.values()];
}

async function awaitDisk(
  { machine, source, signal }: IscsiLogin,
  transport: string,
  portal: string,
): Promise<{ found: string } | { late: string }> {
  const name = linkName(transport, { portal, iqn: source.iqn, lun: source.lun });
  for (let look = 1; ; look += 1) {
    const found = transport === 'tcp' ? await byName(machine, name) : await byEnding(machine, name);
    if (found !== undefined) return { found };
    if (look >= LOOKS.disk) break;
    await sleep(machine.lookMs, undefined, { signal });
  }
  const path = join(machine.dev, 'disk/by-path', transport === 'tcp' ? name : `pci-*${name}`);
  return { late: `Timed out waiting for device at path ${path} after ${LOOKS.disk}s` };
}

async function byName({ dev }: ScsiMachine, name: string): Promise<string | undefined> {
  const path = join(dev, 'disk/by-path', name);
  return (await ignoring(stat(path), 'ENOENT', 'ENOTDIR')) && path;
}

async function byEnding({ dev }: ScsiMachine, ending: string): Promise<string | undefined> {
  const folder = join(dev, 'disk/by-path');
  const name = (await namesIn(folder)).find((each) => isCardLink(each, ending));
  return name && join(folder, name);
}
