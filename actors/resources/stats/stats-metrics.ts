import type { Logger } from 'pino';
import { messageOf } from '../../../machines/values/message-of.ts';
import type { TextWriter } from '../../record/metrics/text-format.ts';
import type { StatsProvider } from './stats-provider.ts';
import type { VolumeStats } from './summary.ts';

const VOLUME_FAMILIES: readonly (readonly [string, string, (stats: VolumeStats) => number | undefined])[] = [
  ['available_bytes', 'Number of available bytes in the volume', (stats) => stats.availableBytes],
  ['capacity_bytes', 'Capacity in bytes of the volume', (stats) => stats.capacityBytes],
  ['inodes', 'Maximum number of inodes in the volume', (stats) => stats.inodes],
  ['inodes_free', 'Number of free inodes in the volume', (stats) => stats.inodesFree],
  ['inodes_used', 'Number of used inodes in the volume', (stats) => stats.inodesUsed],
  ['used_bytes', 'Number of used bytes in the volume', (stats) => stats.usedBytes],
];
const VOLUME_HEALTH = 'kubelet_volume_stats_health_status_abnormal';
const LOG_BYTES = 'kubelet_container_log_filesystem_used_bytes';

/**
 * Series of the main `/metrics` that need a look at files: `kubelet_container_log_filesystem_used_bytes` of running
 * containers and `kubelet_volume_stats_*` of claims. Never rejects: what cannot be had is left out, and logged.
 */
export async function collectStatsMetrics(
  writer: TextWriter,
  { stats, log }: { stats: Pick<StatsProvider, 'logs' | 'volumesOfPods'>; log: Logger },
): Promise<void> {
  const [logs, volumes] = await Promise.all([
    stats.logs().catch((error: unknown) => {
      log.error({ err: messageOf(error) }, 'Failed to get pod stats');
      return [];
    }),
    stats.volumesOfPods(),
  ]);
  if (logs.length > 0)
    writer.family(LOG_BYTES, "[ALPHA] Bytes used by the container's logs on the filesystem.", 'gauge');
  const sorted = logs
    .map(({ container, namespace, pod, uid, usedBytes }) => ({ labels: { container, namespace, pod, uid }, usedBytes }))
    .sort((a, b) => compare(Object.values(a.labels), Object.values(b.labels)));
  for (const { labels, usedBytes } of sorted) writer.sample(LOG_BYTES, labels, usedBytes);
  collectVolumes(
    writer,
    [...volumes.values()].flatMap(({ others }) => others),
  );
}

/** A claim that many pods use is told once. */
function collectVolumes(writer: TextWriter, volumes: readonly VolumeStats[]): void {
  const claims = new Map<string, VolumeStats>();
  for (const volume of volumes) {
    const key = volume.pvcRef && `${volume.pvcRef.namespace}/${volume.pvcRef.name}`;
    if (key !== undefined && !claims.has(key)) claims.set(key, volume);
  }
  if (claims.size === 0) return;
  const sorted = [...claims.values()].sort((a, b) => compare(claimKey(a), claimKey(b)));
  for (const [suffix, help, value] of VOLUME_FAMILIES) {
    const name = `kubelet_volume_stats_${suffix}`;
    writer.family(name, `[ALPHA] ${help}`, 'gauge');
    for (const volume of sorted) {
      const [namespace = '', persistentvolumeclaim = ''] = claimKey(volume);
      writer.sample(name, { namespace, persistentvolumeclaim }, value(volume) ?? 0);
    }
  }
  const told = sorted.filter(({ volumeHealthStats }) => volumeHealthStats !== undefined);
  if (told.length === 0) return;
  writer.family(VOLUME_HEALTH, '[ALPHA] 1: its driver calls the volume abnormal', 'gauge');
  for (const volume of told) {
    const [namespace = '', persistentvolumeclaim = ''] = claimKey(volume);
    writer.sample(VOLUME_HEALTH, { namespace, persistentvolumeclaim }, volume.volumeHealthStats?.abnormal ? 1 : 0);
  }
}

function claimKey({ pvcRef }: VolumeStats): [string, string] {
  return [pvcRef?.namespace ?? '', pvcRef?.name ?? ''];
}

function compare(a: readonly string[], b: readonly string[]): number {
  const index = a.findIndex((value, i) => value !== b[i]);
  return index < 0 ? 0 : (a[index] ?? '') < (b[index] ?? '') ? -1 : 1;
}
