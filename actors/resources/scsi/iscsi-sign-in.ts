import type { Logger } from 'pino';
import type { IscsiSource } from '../../../machines/scsi/iscsi-source.ts';
import { ifaceSettings } from '../../../machines/scsi/iface-record.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { ISCSI_STATUS } from './iscsiadm.ts';
import type { IscsiAdm } from './iscsiadm.ts';
import type { ScsiMachine } from './scsi-ground.ts';

/** One attempt to have a volume's target. */
export interface IscsiLogin {
  readonly machine: ScsiMachine;
  readonly adm: IscsiAdm;
  readonly source: IscsiSource;
  /** What the volume's secret says, by open-iscsi's names of settings. */
  readonly chap: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

const KEYS = ['username', 'password', 'username_in', 'password_in'];

/** Makes an interface with the volume's initiator name, in all else a copy of the one that the volume names. Rejects in kubelet's words (cloneIface). */
export async function cloneIface({ adm, source, log }: IscsiLogin): Promise<void> {
  const { initIface, iface, initiatorName } = source;
  if (initIface === iface) throw new Error(`iscsi: cannot clone iface with same name: ${initIface}`);
  const record = ['-m', 'iface', '-I', iface];
  const shown = await adm.run('-m', 'iface', '-I', initIface, '-o', 'show');
  if (shown.problem !== null)
    throw new Error(`iscsi: failed to show iface records: ${shown.output} (${shown.problem})`);
  let settings: [string, string][];
  try {
    settings = ifaceSettings(shown.output).filter(([name]) => name !== 'iface.initiatorname');
  } catch (error) {
    throw new Error(`iscsi: failed to parse iface records: ${shown.output} (${messageOf(error)})`, { cause: error });
  }
  settings.push(['iface.initiatorname', initiatorName]);
  settings.sort(([a], [b]) => (a < b ? -1 : 1));
  const made = await adm.run(...record, '-o', 'new');
  if (made.status === ISCSI_STATUS.sessionExists)
    log.info({ iface }, 'A session is signed in with the iSCSI interface');
  else if (made.problem !== null)
    throw new Error(`iscsi: failed to create new iface: ${made.output} (${made.problem})`);
  for (const [name, value] of settings) {
    const { problem } = await adm.run(...record, '-o', 'update', '-n', name, '-v', value);
    if (problem === null) continue;
    await adm.run(...record, '-o', 'delete');
    throw new Error(
      `iscsi: failed to update iface records: ${made.output} (${problem}). iface(${initIface}) will be used`,
    );
  }
}

/** Finds a target by one of its portals and signs in to it. Answers why that failed, in kubelet's words, or null; what it has written of it is gone then. */
export async function signIn(login: IscsiLogin, portal: string): Promise<string | null> {
  const { adm, source, log } = login;
  const { iqn, iface } = source;
  const discovery = ['-m', 'discoverydb', '-t', 'sendtargets', '-p', portal, '-I', iface];
  await adm.run(...discovery, '-o', 'new');
  const refused = await tellDiscovery(login, discovery);
  if (refused !== null) return `iscsi: failed to update discoverydb to portal ${portal} error: ${refused}`;
  const found = await adm.run(...discovery, '--discover');
  if (found.problem !== null) {
    await adm.run(...discovery, '-o', 'delete');
    return `iscsi: failed to sendtargets to portal ${portal} output: ${found.output}, err ${found.problem}`;
  }
  const unwritten = await tellNode(login, portal);
  if (unwritten !== null) return `iscsi: failed to update iscsi node to portal ${portal} error: ${unwritten}`;
  const node = ['-m', 'node', '-p', portal, '-T', iqn];
  const signed = await adm.run(...node, '-I', iface, '--login');
  if (signed.problem !== null) {
    await adm.run('-m', 'node', '-p', portal, '-I', iface, '-T', iqn, '-o', 'delete');
    return `iscsi: failed to attach disk: Error: ${signed.output} (${signed.problem})`;
  }
  // A boot is not to wait for targets: who needs one signs in.
  const { problem } = await adm.run(...node, '-o', 'update', '-n', 'node.startup', '-v', 'manual');
  if (problem !== null) log.warn({ portal, iqn, problem }, 'The login of an iSCSI target stays automatic at boot');
  return null;
}

async function tellDiscovery({ adm, source, chap }: IscsiLogin, discovery: string[]): Promise<string | null> {
  if (!source.chapDiscovery) return null;
  const setting = 'discovery.sendtargets.auth';
  const update = [...discovery, '-o', 'update', '-n'];
  const method = await adm.run(...update, `${setting}.authmethod`, '-v', 'CHAP');
  if (method.problem !== null) return `iscsi: failed to update discoverydb with CHAP, output: ${method.output}`;
  const refused = await tellSecrets(adm, update, setting, chap);
  return refused && `iscsi: failed to update discoverydb key "${refused.key}" error: ${refused.output}`;
}

async function tellNode({ adm, source, chap, log }: IscsiLogin, portal: string): Promise<string | null> {
  const update = ['-m', 'node', '-p', portal, '-T', source.iqn, '-I', source.iface, '-o', 'update', '-n'];
  // Else the kernel finds LUNs that are none of this node's (kubernetes#90982). Older versions of open-iscsi do not have it.
  const manual = await adm.run(...update, 'node.session.scan', '-v', 'manual');
  if (manual.problem !== null)
    log.warn(
      { portal, problem: manual.problem },
      'An iSCSI session shows all LUNs of its target: scan=manual was refused',
    );
  if (!source.chapSession) return null;
  const setting = 'node.session.auth';
  const method = await adm.run(...update, `${setting}.authmethod`, '-v', 'CHAP');
  if (method.problem !== null) return `iscsi: failed to update node with CHAP, output: ${method.output}`;
  const refused = await tellSecrets(adm, update, setting, chap);
  return refused && `iscsi: failed to update node session key "${refused.key}" error: ${refused.output}`;
}

async function tellSecrets(
  adm: IscsiAdm,
  update: string[],
  setting: string,
  chap: IscsiLogin['chap'],
): Promise<{ key: string; output: string } | null> {
  for (const key of KEYS.map((name) => `${setting}.${name}`)) {
    const value = chap[key] ?? '';
    if (value === '') continue;
    const { problem, output } = await adm.runHidden([...update, key], value);
    if (problem !== null) return { key, output };
  }
  return null;
}
