import { isManagedKind } from '../../../machines/protocol/managed-kinds.ts';
import type { VolumeReport } from '../../host/files/host-settings.ts';
import type { Observation } from '../../record/metrics/observation.ts';
import { VOLUME_PLUGINS } from '../../record/metrics/volume-plugins.ts';

/** Which volumes of a shard's pods are set up, and the readings that their set-ups and tear-downs give. */
export class MountedVolumes {
  private readonly pods = new Map<string, Map<string, keyof typeof VOLUME_PLUGINS>>();
  /** Volumes by pod that were told as verified. */
  private readonly verified = new Map<string, Set<string>>();
  private changed = false;

  /** One report of `host.SetUpVolumes` or `host.TearDownPod`. */
  take(report: VolumeReport): Observation[] {
    if (report.did === 'unmount') return this.unmounted(report);
    if (report.did === 'ownership')
      return [operation(report.plugin, 'volume_apply_access_control', report.failed, report.seconds)];
    const { podUid, volume, seconds, overallSeconds, failed } = report;
    // The volume manager measures those by itself.
    if (isManagedKind(volume.kind)) return [];
    const plugin = VOLUME_PLUGINS[volume.kind];
    const verified = this.verify(podUid, volume.name, plugin);
    if (failed) return [...verified, operation(plugin, 'volume_mount', true, seconds)];
    const volumes = this.pods.get(podUid) ?? new Map<string, keyof typeof VOLUME_PLUGINS>();
    this.changed ||= volumes.get(volume.name) !== volume.kind;
    this.pods.set(podUid, volumes.set(volume.name, volume.kind));
    const labels = { plugin_name: plugin, operation_name: 'overall_volume_mount' };
    return [
      ...verified,
      operation(plugin, 'volume_mount', false, seconds),
      { name: 'volume_operation_total_seconds', labels, value: overallSeconds, op: 'observe' },
    ];
  }

  /** How many volumes of each plugin are set up, when that has changed since it was last asked for. */
  news(): Record<string, number> | null {
    if (!this.changed) return null;
    this.changed = false;
    const counts: Record<string, number> = {};
    for (const volumes of this.pods.values()) {
      for (const kind of volumes.values()) counts[VOLUME_PLUGINS[kind]] = (counts[VOLUME_PLUGINS[kind]] ?? 0) + 1;
    }
    return counts;
  }

  /** Kubelet verifies once that a volume may be used on the node, also of a kind that nobody attaches: that takes no time. */
  private verify(podUid: string, name: string, plugin: string): Observation[] {
    const known = this.verified.get(podUid) ?? new Set<string>();
    if (known.has(name)) return [];
    this.verified.set(podUid, known.add(name));
    return [operation(plugin, 'verify_controller_attached_volume', false, 0)];
  }

  /** All volumes of a pod go in one piece, so each is told the time of all. */
  private unmounted({ podUid, seconds, failed }: Extract<VolumeReport, { did: 'unmount' }>): Observation[] {
    const volumes = [...(this.pods.get(podUid)?.values() ?? [])];
    if (!failed && this.pods.delete(podUid)) this.changed = true;
    if (!failed) this.verified.delete(podUid);
    return volumes.map((kind) => operation(VOLUME_PLUGINS[kind], 'volume_unmount', failed, seconds));
  }
}

function operation(volume_plugin: string, operation_name: string, failed: boolean, seconds: number): Observation {
  const labels = { volume_plugin, operation_name, status: failed ? 'fail-unknown' : 'success', migrated: 'false' };
  return { name: 'storage_operation_duration_seconds', labels, value: seconds, op: 'observe' };
}
