import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { VolumeSetup } from '../../../machines/protocol/effects.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { writeAtomically } from './atomic-writer.ts';
import { setUpScratchFolder } from './empty-dir.ts';
import { HostFailure } from '../files/host-failure.ts';
import type { HostSettings } from '../files/host-settings.ts';
import { emptyDirMetaDir, podVolumeDir } from '../files/pod-paths.ts';
import type { PluginFolder } from '../files/pod-paths.ts';
import type { VolumeContent } from './volume-content.ts';
import { setVolumeOwnership, toldOwnership } from './volume-ownership.ts';

/** A volume whose files the agent writes. */
export type WrittenVolume = Extract<VolumeSetup, { kind: 'configMap' | 'secret' | 'projected' | 'downwardAPI' }>;

/** Where each kind lies below the pod's `volumes` folder, and on what: all but configMaps must never reach a disk. */
const KINDS: Record<WrittenVolume['kind'], { plugin: PluginFolder; medium: '' | 'Memory' }> = {
  configMap: { plugin: 'kubernetes.io~configmap', medium: '' },
  secret: { plugin: 'kubernetes.io~secret', medium: 'Memory' },
  projected: { plugin: 'kubernetes.io~projected', medium: 'Memory' },
  downwardAPI: { plugin: 'kubernetes.io~downward-api', medium: 'Memory' },
};

/**
 * A scratch folder filled by the atomic writer; returns its path. Doing it again brings the files up to date, and reads
 * only when nothing changed.
 */
export async function setUpWrittenVolume(
  podUid: string,
  volume: WrittenVolume,
  content: VolumeContent,
  { fsGroup, sizeLimitBytes }: { fsGroup?: number; sizeLimitBytes?: number },
  settings: HostSettings,
): Promise<string> {
  const { plugin, medium } = KINDS[volume.kind];
  const dir = podVolumeDir(settings.rootDir, podUid, plugin, volume.name);
  const metaDir = emptyDirMetaDir(settings.rootDir, podUid, `wrapped_${volume.name}`);
  const size = medium === 'Memory' ? sizeLimitBytes : undefined;
  await setUpScratchFolder(
    { podUid, dir, metaDir, volume: volume.name, medium, sizeLimitBytes: size, fsGroup },
    settings,
  );
  for (const nested of volume.nested ?? []) {
    await mkdir(join(dir, nested), { recursive: true, mode: 0o755 }).catch((error: unknown) => {
      const text = `unable to create nested volume mountpoints: ${messageOf(error)}`;
      throw new HostFailure('Volume', text, { cause: error });
    });
  }
  // The whole volume, not only the new folder: the first write also makes files outside of it.
  await writeAtomically(dir, content, async () => {
    if (fsGroup !== undefined)
      await setVolumeOwnership(
        dir,
        fsGroup,
        true,
        settings.log,
        toldOwnership(podUid, plugin.replace('~', '/'), settings),
      );
  });
  return dir;
}
