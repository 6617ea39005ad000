import { constants } from 'node:fs';
import { chmod, mkdir, open, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { terminationLogName } from '../../../machines/container-config/termination-log.ts';
import type { EffectCatalog, EffectType } from '../../../machines/protocol/effects.ts';
import { ensurePodCgroup, removePodCgroup } from '../cgroups/cgroups.ts';
import type { HostSettings } from '../files/host-settings.ts';
import { loggedRestarts } from '../logs/logged-restarts.ts';
import { linkLog, removeContainerLog, removePodLogs } from '../logs/log-links.ts';
import { setUpVolumes, tearDownPod } from '../volumes/volumes.ts';
import { prepareSubPath } from '../volumes/sub-path.ts';
import { claimsEffect } from './claims.ts';
import { readPodResources, updatePodCgroup } from './pod-resources.ts';
import { nodesFile, readResolver } from './nodes-files.ts';
import { readTerminationMessage } from './termination-message.ts';
import { expandedSubPaths } from './container-env.ts';

/**
 * `host.PrepareContainer`: everything that must exist before CreateContainer. Answers with the safe path of each
 * subPath by mount key, and with the container's restart count where logs tell more than was asked with.
 */
async function prepareContainer(
  params: EffectCatalog['host.PrepareContainer']['params'],
  settings: HostSettings,
): Promise<EffectCatalog['host.PrepareContainer']['result']> {
  await mkdir(params.logDirectory, { recursive: true, mode: 0o755 });
  const logs = resolve(params.logDirectory, params.containerLogDirectory);
  await mkdir(logs, { recursive: true, mode: 0o755 });
  const { attempt, terminationLogPath } = params;
  const logged = attempt === undefined ? 0 : await loggedRestarts(logs);
  const restarted = logged > (attempt ?? 0);
  if (terminationLogPath !== '')
    await makeTerminationLog(
      restarted ? resolve(terminationLogPath, '..', terminationLogName(logged)) : terminationLogPath,
    );
  if (params.hostsFile !== undefined) {
    const { path, content, nodes } = params.hostsFile;
    await writeHostsFile(path, nodes === undefined ? content : content + (await nodesFile(nodes.path)) + nodes.tail);
  }
  const subPaths: Record<string, string> = {};
  for (const sub of await expandedSubPaths(params, settings.log, settings.ask, settings.askNode)) {
    // A path in an image volume is the runtime's to find.
    subPaths[sub.key] = sub.ofImage
      ? sub.subPath
      : await prepareSubPath(sub, params.podUid, params.containerName, settings);
  }
  return { subPaths, ...(restarted && { attempt: logged }) };
}

/** Empty, as each container instance starts without a message; any user of it may write, whatever the umask. */
async function makeTerminationLog(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o750 });
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW, O_NONBLOCK } = constants;
  await (await open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK, 0o666)).close();
  await chmod(path, 0o666);
}

/**
 * Written in place, never renamed over: running containers have this very inode bind mounted at /etc/hosts. What stands
 * there is not read: a container may write to it as much as it likes (kubelet overwrites it likewise).
 */
async function writeHostsFile(path: string, content: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o750 });
  await writeFile(path, content, { mode: 0o644 });
  await chmod(path, 0o644);
}

/** Effects on the node's files, mounts and cgroups. */
export type HostEffectType = Extract<EffectType, `host.${string}`>;

/**
 * Who carries out each `host.*` effect. All may be called again with the same params and from several threads for
 * different pods. A rejection is an Error with a `code` (errno name, registry code or own name) and a message.
 */
export const hostEffects: {
  readonly [T in HostEffectType]: (
    params: EffectCatalog[T]['params'],
    settings: HostSettings,
  ) => Promise<EffectCatalog[T]['result']>;
} = {
  'host.EnsurePodCgroup': ensurePodCgroup,
  'host.RemovePodCgroup': removePodCgroup,
  'host.UpdatePodCgroup': updatePodCgroup,
  'host.ReadPodResources': readPodResources,
  'host.SetUpVolumes': setUpVolumes,
  'host.ReadResolver': readResolver,
  'host.PrepareClaims': claimsEffect('claims.Prepare'),
  'host.UnprepareClaims': claimsEffect('claims.Unprepare'),
  'host.TearDownPod': tearDownPod,
  'host.PrepareContainer': prepareContainer,
  'host.LinkLog': linkLog,
  'host.RemoveContainerLog': removeContainerLog,
  'host.RemovePodLogs': removePodLogs,
  'host.ReadTerminationMessage': readTerminationMessage,
};
