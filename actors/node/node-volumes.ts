import type { LabelRules } from '../../machines/volumes/selinux-label.ts';
import { containerLabels, selinuxIsOn } from '../resources/machine/selinux.ts';
import { CsiDrivers } from '../resources/csi/csi-drivers.ts';
import { CsiVolumes } from '../resources/csi/csi-volumes.ts';
import { FlexDrivers } from '../resources/flex/flex-drivers.ts';
import type { PluginHandler } from '../resources/plugins/plugin-handler.ts';
import { FcVolumes } from '../resources/scsi/fc-volumes.ts';
import { IscsiVolumes } from '../resources/scsi/iscsi-volumes.ts';
import { THIS_MACHINE } from '../resources/scsi/scsi-ground.ts';
import { hostPathPlugin } from '../resources/volumes/plugins/host-path.ts';
import { localPlugin } from '../resources/volumes/plugins/local.ts';
import { nfsPlugin } from '../resources/volumes/plugins/nfs.ts';
import type { VolumeKind } from '../resources/volumes/volume-plugin.ts';
import type { Clock } from '../host/time/clock.ts';
import type { VolumeLinks } from './edges.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { NodeGround } from './node-ground.ts';

/** What the kinds of volumes have of the node. */
export interface VolumeGround {
  ground: NodeGround;
  /** `--experimental-mounter-path`; '' = none. */
  mounterPath: string;
  clock: Clock;
  /** Takes plugins that register in `plugins_registry`. */
  handlers: Map<string, PluginHandler>;
  life: Lifecycle;
}

/** The kinds of volumes that this node sets up for pods; a new one is added here. The first that serves a volume has it. */
export function nodeVolumes(volumes: VolumeGround, links: VolumeLinks): readonly VolumeKind[] {
  const { rootDir, log, config } = volumes.ground;
  const { warn, secret } = links;
  const flex = new FlexDrivers({ rootDir, pluginDir: config.volumePluginDir, secret, log });
  const nfs = nfsPlugin(volumes.mounterPath);
  const scsi = {
    ...{ rootDir, secret, log, machine: THIS_MACHINE },
    attachable: config.enableControllerAttachDetach,
  };
  const disks = [new IscsiVolumes(scsi), new FcVolumes(scsi)];
  return [hostPathPlugin, localPlugin({ rootDir, log, warn }), nfs, ...disks, csiVolumes(volumes, links), flex];
}

/** How volumes are mounted with SELinux labels (KEP-1710); undefined where SELinux is off, or the gate SELinuxMountReadWriteOncePod. */
export function labelRulesOf(gates: NodeGround['featureGates']): LabelRules | undefined {
  if (!gates.enabled('SELinuxMountReadWriteOncePod') || !selinuxIsOn()) return undefined;
  const allModes = gates.enabled('SELinuxMount');
  return { labels: containerLabels(), allModes, changePolicy: gates.enabled('SELinuxChangePolicy') };
}

function csiVolumes({ ground, clock, handlers, life }: VolumeGround, { csi: api, journal }: VolumeLinks): CsiVolumes {
  const { rootDir, settings, featureGates, metrics, log } = ground;
  const drivers = new CsiDrivers({
    ...{ api, clock, log, journal },
    refreshes: featureGates.enabled('MutableCSINodeAllocatableCount'),
    onCall: ({ driver, method, code, seconds, migrated = false }) =>
      metrics.csiOperation.observe(
        { driver_name: driver, method_name: method, grpc_status_code: code, migrated: String(migrated) },
        seconds,
      ),
  });
  handlers.set('CSIPlugin', drivers);
  life.has('CSI drivers', 'hearers', () => drivers.stop());
  const volumeHealth = featureGates.enabled('CSIVolumeHealth');
  return new CsiVolumes({ rootDir, nodeName: settings.nodeName, drivers, api, log, volumeHealth });
}
