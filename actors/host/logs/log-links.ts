import { mkdir, readdir, readlink, symlink, unlink } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { ActorletError } from '../../../machines/errors/define.ts';
import { hostErrors } from '../../../machines/errors/host-errors.ts';
import type { EffectCatalog, Empty } from '../../../machines/protocol/effects.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { codeOf, ignoring } from '../files/host-failure.ts';
import type { HostSettings } from '../files/host-settings.ts';
import { removeTree } from '../files/remove-tree.ts';

const SUFFIX = '.log';
/** Longest file name of ext4; a longer link name is cut before its suffix, as kubelet does. */
const MAX_NAME = 255;

/**
 * `host.LinkLog`: makes the link in the folder of container logs. Log collectors find logs by it, but the container
 * runs without: what goes wrong is only logged.
 *
 * @param params.linkName file name, or a full path in a folder of its own
 */
export async function linkLog(params: EffectCatalog['host.LinkLog']['params'], settings: HostSettings): Promise<Empty> {
  const link = linkPath(params.linkName, settings);
  try {
    await mkdir(dirname(link), { recursive: true, mode: 0o755 });
    await makeLink(params.logPath, link);
  } catch (error) {
    settings.log.warn({ link, logPath: params.logPath, err: messageOf(error) }, 'Cannot link the container log');
  }
  return {};
}

/** `host.RemoveContainerLog`: removes a dead container's log, its rotated parts and its link; not there is fine. */
export async function removeContainerLog(
  params: EffectCatalog['host.RemoveContainerLog']['params'],
  settings: HostSettings,
): Promise<Empty> {
  const { logPath } = params;
  const dir = dirname(logPath);
  const log = basename(logPath);
  for (const name of (await ignoring(readdir(dir), 'ENOENT')) ?? []) {
    if (name === log || name.startsWith(`${log}.`)) await ignoring(unlink(join(dir, name)), 'ENOENT');
  }
  await ignoring(unlink(linkPath(params.linkName, settings)), 'ENOENT');
  return {};
}

/**
 * `host.RemovePodLogs`: removes the pod's log folder and the links into it whose names begin with `linkPrefix`.
 * A link of the same name into another folder belongs to a newer pod of that name and stays.
 */
export async function removePodLogs(
  params: EffectCatalog['host.RemovePodLogs']['params'],
  settings: HostSettings,
): Promise<Empty> {
  const { logDirectory, linkPrefix } = params;
  const inside = relative(settings.podLogsDir, logDirectory);
  if (inside === '' || inside.includes('/') || inside === '..')
    throw new ActorletError(hostErrors.notPodPath, { path: logDirectory, what: "the pod's log folder" });
  const prefix = basename(linkPrefix);
  for (const name of (await ignoring(readdir(settings.containerLogsDir), 'ENOENT')) ?? []) {
    if (!name.startsWith(prefix)) continue;
    const link = join(settings.containerLogsDir, name);
    const target = await ignoring(readlink(link), 'ENOENT', 'EINVAL');
    if (target?.startsWith(`${logDirectory}/`)) await ignoring(unlink(link), 'ENOENT');
  }
  await removeTree(logDirectory);
  return {};
}

function linkPath(linkName: string, settings: HostSettings): string {
  return resolve(settings.containerLogsDir, dirname(linkName), cutName(basename(linkName)));
}

async function makeLink(target: string, link: string): Promise<void> {
  try {
    await symlink(target, link);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    if ((await ignoring(readlink(link), 'EINVAL', 'ENOENT')) === target) return;
    await unlink(link);
    await symlink(target, link);
  }
}

function cutName(name: string): string {
  if (Buffer.byteLength(name) <= MAX_NAME || !name.endsWith(SUFFIX)) return name;
  return name.slice(0, MAX_NAME - SUFFIX.length) + SUFFIX;
}
