import type { EffectCatalog, Empty, VolumeSetup } from '../../../machines/protocol/effects.ts';
import { traitsOf } from '../../../machines/protocol/volume-traits.ts';
import type { MountedVolume } from '../../../machines/protocol/volume-traits.ts';
import { HostFailure } from '../files/host-failure.ts';
import type { HostSettings } from '../files/host-settings.ts';
import { unmountBelow } from '../files/mounts.ts';
import { isOurs, refuseForeign } from './foreign-volumes.ts';
import { podDir } from '../files/pod-paths.ts';
import { lastPodWork, podWork } from '../files/pod-work.ts';
import type { PodWork } from '../files/pod-work.ts';
import { removeTree } from '../files/remove-tree.ts';
import { strangeFiles } from '../strange/strange-files.ts';
import { setUpEmptyDir } from './empty-dir.ts';
import { setUpGitRepo } from './git-repo.ts';
import { failureOf, isManaged, managedVolume } from './managed-volume.ts';
import { makePodDirs } from './pod-dirs.ts';
import { volumeContents } from './volume-content.ts';
import type { VolumeContent } from './volume-content.ts';
import { setUpWrittenVolume } from './written-volume.ts';

type SetUpParams = EffectCatalog['host.SetUpVolumes']['params'];

/**
 * `host.SetUpVolumes`: makes the pod's folders and all its volumes, all at the same time. Doing it again (the agent
 * restarted, a volume failed, or an object changed) leaves alone what is ready and up to date. The failure names the
 * first volume of the spec that failed in the words of the kubelet's `FailedMount` event; the code is that of the cause. Without
 * the pod's folders the code is `POD_DIRS`.
 */
export async function setUpVolumes(
  params: SetUpParams,
  settings: HostSettings,
): Promise<EffectCatalog['host.SetUpVolumes']['result']> {
  const dir = podDir(settings.rootDir, params.podUid);
  const asked = performance.now();
  return podWork(dir, async (turn) => {
    const contents = volumeContents(params, settings.ask);
    await turn.alone(() => makePodDirs(dir, settings.rootDir));
    const made = await Promise.allSettled(
      params.volumes.map(async (volume) => {
        const began = performance.now();
        const report = (failed: boolean) => {
          const now = performance.now();
          const [seconds, overallSeconds] = [(now - began) / 1000, (now - asked) / 1000];
          settings.onVolume?.({ did: 'mount', podUid: params.podUid, volume, seconds, overallSeconds, failed });
        };
        try {
          const mounted = await setUpVolume(volume, contents.get(volume.name), params, settings, turn);
          report(false);
          return typeof mounted === 'string' ? { path: mounted } : mounted;
        } catch (error) {
          report(true);
          throw error;
        }
      }),
    );
    const paths: Record<string, string> = {};
    const there: Record<string, MountedVolume> = {};
    for (const [index, volume] of params.volumes.entries()) {
      const one = made[index];
      if (one?.status !== 'fulfilled') continue;
      paths[volume.name] = one.value.path;
      there[volume.name] = one.value;
    }
    const failures = params.volumes.flatMap(({ name }, index) => {
      const one = made[index];
      return one?.status === 'rejected' ? [{ name, reason: one.reason as unknown }] : [];
    });
    if (failures.length > 0) throw failureOf(failures);
    const traits = traitsOf(there);
    return { paths, ...(traits && { traits }) };
  });
}

/**
 * `host.TearDownPod`: unmounts what this agent has mounted below the pod's folder and removes it; not there is fine. A set-up
 * that still waits for something is stopped first.
 *
 * @throws ActorletError HOST014 where volumes of others lie in it
 */
export async function tearDownPod(
  params: EffectCatalog['host.TearDownPod']['params'],
  settings: HostSettings,
): Promise<Empty> {
  const dir = podDir(settings.rootDir, params.podUid);
  return lastPodWork(dir, async () => {
    const began = performance.now();
    let failed = true;
    try {
      await unmountBelow(dir, isOurs);
      await settings.askNode?.('volume.Unmount', { podUid: params.podUid });
      await refuseForeign(dir);
      await settings.askNode?.('quota.Release', { below: dir });
      await removeTree(dir);
      failed = false;
      return {};
    } finally {
      settings.onVolume?.({
        did: 'unmount',
        podUid: params.podUid,
        seconds: (performance.now() - began) / 1000,
        failed,
      });
    }
  });
}

/** What may wait long (an object, a dead file server) is waited for outside of the pod's turn. */
async function setUpVolume(
  volume: VolumeSetup,
  content: Promise<VolumeContent> | undefined,
  { podUid, fsGroup, owner }: SetUpParams,
  settings: HostSettings,
  turn: PodWork,
): Promise<string | MountedVolume> {
  if (isManaged(volume)) return turn.waitFor(managedVolume(podUid, volume.name, settings));
  switch (volume.kind) {
    case 'hostPath':
      return turn.waitFor(setUpHostPath(volume));
    case 'gitRepo':
      return turn.alone(() => setUpGitRepo(podUid, volume, fsGroup, settings, turn.signal));
    case 'emptyDir':
      return turn.alone(() => setUpEmptyDir(podUid, volume, fsGroup, settings));
    default: {
      const files = await turn.waitFor(content ?? Promise.resolve(new Map()));
      const limits = { fsGroup, sizeLimitBytes: owner.memoryBytes };
      return turn.alone(() => setUpWrittenVolume(podUid, volume, files, limits, settings));
    }
  }
}

/** Whoever looks at a path of the host may hang there, so another process does. With type `''` nobody looks. */
async function setUpHostPath({ path, type }: Extract<VolumeSetup, { kind: 'hostPath' }>): Promise<string> {
  if (path.split('/').includes('..'))
    throw new HostFailure('InvalidHostPath', `invalid HostPath \`${path}\`: must not contain '..'`);
  if (type !== '') await strangeFiles.call({ do: 'hostPath', path, type });
  return path;
}
