import type { VolumeOrder } from '../../../machines/volume-manager/volume-orders.ts';
import type { Metrics } from '../../record/metrics/metrics-registry.ts';

/** A volume as its operations are counted. */
export interface CountedVolume {
  /** What its operations are told apart by: its device, or the pod's volume where it has none. */
  readonly id: string;
  /** With the driver behind it. */
  readonly plugin: string;
  readonly migrated: boolean;
  readonly isBlock: boolean;
}

/**
 * Measures what is done for volumes under the names of kubelet's operations (`operationexecutor`): there one operation waits for the attachment, stages
 * a device and publishes it in a pod (`volume_mount`, `map_volume`), which are calls of their own here. That a volume may be used on this node is
 * verified once as long as it is in use, also of one that nobody attaches.
 */
export class StorageOperations {
  private readonly metrics: Pick<Metrics, 'storageOperation' | 'volumeOperation'>;
  /** What went into a device before the first pod gets it, seconds. */
  private readonly spent = new Map<string, number>();
  private readonly verified = new Set<string>();
  /** A device is given back when nobody looks up its volume any more. */
  private readonly migrated = new Set<string>();

  constructor(metrics: Pick<Metrics, 'storageOperation' | 'volumeOperation'>) {
    this.metrics = metrics;
  }

  /** It may be used on this node: the node's object names it as attached, or nobody has to attach it. */
  verify(volume: CountedVolume, seconds: number): void {
    if (this.verified.has(volume.id)) return;
    this.verified.add(volume.id);
    this.observe('verify_controller_attached_volume', volume, seconds, false);
  }

  /** A call has ended. An attachment that is not in the node's object yet is none that failed: kubelet begins nothing before it is. */
  over(type: VolumeOrder['type'], volume: CountedVolume, seconds: number, failed: boolean): void {
    const mount = volume.isBlock ? 'map_volume' : 'volume_mount';
    switch (type) {
      case 'device.attach':
      case 'device.stage': {
        if (volume.migrated) this.migrated.add(volume.id);
        const all = (this.spent.get(volume.id) ?? 0) + seconds;
        this.spent.delete(volume.id);
        if (failed) this.observe(mount, volume, all, true);
        else this.spent.set(volume.id, all);
        break;
      }
      case 'volume.publish':
        this.observe(mount, volume, (this.spent.get(volume.id) ?? 0) + seconds, failed);
        this.spent.delete(volume.id);
        break;
      case 'volume.unpublish':
        this.observe(volume.isBlock ? 'unmap_volume' : 'volume_unmount', volume, seconds, failed);
        break;
      case 'device.unstage': {
        const its = { ...volume, migrated: this.migrated.has(volume.id) };
        this.observe(volume.isBlock ? 'unmap_device' : 'unmount_device', its, seconds, failed);
        break;
      }
      case 'device.expand':
        // Kubelet tells no migrated ones here.
        this.observe('volume_fs_resize', { ...volume, migrated: false }, seconds, failed);
        break;
      default:
        // Kubelet does not measure it.
        break;
    }
  }

  /** From the wish for a volume to its being there; kubelet does not measure that of block volumes. */
  there({ plugin, isBlock }: CountedVolume, seconds: number): void {
    if (isBlock) return;
    const labels = { plugin_name: plugin, operation_name: 'overall_volume_mount' };
    this.metrics.volumeOperation.observe(labels, seconds);
  }

  /** Forgets all volumes that are not known any more. */
  keep(isKnown: (id: string) => boolean): void {
    for (const all of [this.spent, this.verified, this.migrated])
      for (const id of all.keys()) if (!isKnown(id)) all.delete(id);
  }

  private observe(operation_name: string, volume: CountedVolume, seconds: number, failed: boolean): void {
    const labels = { volume_plugin: volume.plugin, operation_name, migrated: String(volume.migrated) };
    this.metrics.storageOperation.observe({ ...labels, status: failed ? 'fail-unknown' : 'success' }, seconds);
  }
}
