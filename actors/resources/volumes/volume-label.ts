import { messageOf } from '../../../machines/values/message-of.ts';
import type { VolumeLabel } from '../../../machines/volume-manager/mount-context.ts';
import { countedMode, isLabelled, labelsOf, wantsRecursive } from '../../../machines/volumes/selinux-label.ts';
import type { LabelRules } from '../../../machines/volumes/selinux-label.ts';
import type { Metrics } from '../../record/metrics/metrics-registry.ts';
import { countedPlugin } from './counted-plugin.ts';
import type { LookedUp } from './looked-up.ts';
import { UNPROCESSED } from './resolve-volume.ts';
import { VolumeFailure } from './volume-plugin.ts';

/** What is told of volumes' SELinux labels. */
export type LabelMetric =
  | 'seLinuxPodMismatchErrors'
  | 'seLinuxPodMismatchWarnings'
  | 'seLinuxVolumeMismatchErrors'
  | 'seLinuxVolumeMismatchWarnings'
  | 'seLinuxVolumesAdmitted';

/** Whose rules and counters these are. */
interface LabelGround {
  readonly labelRules?: LabelRules | undefined;
  readonly metrics: Pick<Metrics, LabelMetric>;
}

/**
 * The SELinux label of a volume of a pod (kubelet: GetMountSELinuxLabel); null where labels are of no matter to it: SELinux is off, or its plugin cannot mount
 * with one.
 * @throws VolumeFailure in kubelet's words, when containers of the pod want it with different ones
 */
export async function volumeLabel(
  { labelRules, metrics }: LabelGround,
  { pod, volume, spec, plugin }: Pick<LookedUp, 'pod' | 'spec' | 'plugin'> & { volume: string },
): Promise<VolumeLabel | null> {
  if (labelRules === undefined) return null;
  const supports = await (plugin.mountsWithContext?.(spec) ?? Promise.resolve(false)).catch((error: unknown) => {
    throw new VolumeFailure(UNPROCESSED, messageOf(error), { cause: error });
  });
  const labels = labelsOf(pod, volume, labelRules.labels);
  const enforced = isLabelled(spec.pv, labelRules);
  if (labels.length > 1) {
    const counter = enforced ? metrics.seLinuxPodMismatchErrors : metrics.seLinuxPodMismatchWarnings;
    counter.inc({ access_mode: countedMode(spec.pv) });
    if (enforced) throw new VolumeFailure(UNPROCESSED, `multiple SELinux labels found: ${labels.join(',')}`);
    return null;
  }
  if (!supports) return null;
  const wanted = wantsRecursive(pod, labelRules) ? '' : (labels[0] ?? '');
  return { mount: enforced ? wanted : '', wanted, enforced };
}

/** Counts what the volume manager's machine found of a volume's label. */
export function countLabel(
  { labelRules, metrics }: LabelGround,
  { spec, plugin }: Pick<LookedUp, 'spec' | 'plugin'>,
  what: 'admitted' | 'mismatch',
): void {
  const { seLinuxVolumesAdmitted, seLinuxVolumeMismatchErrors, seLinuxVolumeMismatchWarnings } = metrics;
  const enforced = labelRules !== undefined && isLabelled(spec.pv, labelRules);
  const mismatch = enforced ? seLinuxVolumeMismatchErrors : seLinuxVolumeMismatchWarnings;
  const labels = {
    // Here a driver is told apart by a slash, elsewhere in kubelet by a colon.
    volume_plugin: countedPlugin(plugin.name, spec).replace(':', '/'),
    access_mode: countedMode(spec.pv),
  };
  (what === 'admitted' ? seLinuxVolumesAdmitted : mismatch).inc(labels);
}
