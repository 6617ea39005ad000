import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { EffectCatalog, Empty, VolumeSetup } from '../../machines/protocol/effects.ts';
import { writeAtomically } from './atomic-writer.ts';
import { setUpEmptyDir, setUpScratchFolder } from './empty-dir.ts';
import { setUpHostPath } from './host-path.ts';
import { HostFailure, codeOf, textOf } from './host-failure.ts';
import type { HostSettings } from './host-settings.ts';
import { unmountBelow } from './mounts.ts';
import { emptyDirMetaDir, podDir, podVolumeDir } from './pod-paths.ts';
import { removeTree } from './remove-tree.ts';
import { setVolumeOwnership } from './volume-ownership.ts';

/**
 * `host.SetUpVolumes`: makes the pod's folders and all its volumes. Doing it again (the agent restarted, or one
 * volume failed) leaves alone what is ready. The failure names its volume in the words of the kubelet's
 * `FailedMount` event; the code is that of the cause.
 */
export async function setUpVolumes(
  params: EffectCatalog['host.SetUpVolumes']['params'],
  settings: HostSettings,
): Promise<EffectCatalog['host.SetUpVolumes']['result']> {
  const dir = podDir(settings.rootDir, params.podUid);
  for (const part of ['', 'volumes', 'plugins']) await makeDir(join(dir, part), 0o750);
  const paths: Record<string, string> = {};
  for (const volume of params.volumes) {
    try {
      paths[volume.name] = await setUpVolume(volume, params, settings);
    } catch (error) {
      const text = `MountVolume.SetUp failed for volume "${volume.name}" : ${textOf(error)}`;
      throw new HostFailure(codeOf(error) || 'Volume', text, { cause: error });
    }
  }
  return { paths };
}

/** `host.TearDownPod`: unmounts all that is mounted below the pod's folder and removes it; not there is fine. */
export async function tearDownPod(
  params: EffectCatalog['host.TearDownPod']['params'],
  settings: HostSettings,
): Promise<Empty> {
  const dir = podDir(settings.rootDir, params.podUid);
  await unmountBelow(dir);
  await removeTree(dir);
  return {};
}

async function setUpVolume(
  volume: VolumeSetup,
  pod: EffectCatalog['host.SetUpVolumes']['params'],
  settings: HostSettings,
): Promise<string> {
  switch (volume.kind) {
    case 'emptyDir':
      return setUpEmptyDir(pod.podUid, volume, pod.fsGroup, settings);
    case 'hostPath':
      return setUpHostPath(volume);
    case 'downwardAPI':
      return setUpDownwardApi(pod.podUid, volume, pod.fsGroup, settings);
  }
}

/** A downwardAPI volume is a memory-backed scratch folder filled by the atomic writer; doing it again updates it. */
async function setUpDownwardApi(
  podUid: string,
  volume: Extract<VolumeSetup, { kind: 'downwardAPI' }>,
  fsGroup: number | undefined,
  settings: HostSettings,
): Promise<string> {
  const dir = podVolumeDir(settings.rootDir, podUid, 'kubernetes.io~downward-api', volume.name);
  const metaDir = emptyDirMetaDir(settings.rootDir, podUid, `wrapped_${volume.name}`);
  await setUpScratchFolder({ podUid, dir, metaDir, volume: volume.name, medium: 'Memory', fsGroup }, settings);
  const files = new Map(volume.files.map(({ path, content, mode }) => [path, { content, mode }]));
  // The whole volume, not only the new folder: the first write also makes files outside of it.
  await writeAtomically(dir, files, async () => {
    if (fsGroup !== undefined) await setVolumeOwnership(dir, fsGroup, true, settings.log);
  });
  return dir;
}

/** Like `mkdir -p`, and free of the umask for the last folder if it is new. */
async function makeDir(path: string, mode: number): Promise<void> {
  if ((await mkdir(path, { recursive: true, mode })) !== undefined) await chmod(path, mode);
}
