import type { Pod } from '../protocol/api-types.ts';
import type { PersistentVolume } from '../protocol/storage-types.ts';
import { isForOnePod } from './one-pod-volume.ts';
import { allContainers } from './pod-containers.ts';

/** Labels that the machine's SELinux policy has for containers (`lxc_contexts`): of their processes, and of their files. */
export interface ContainerLabels {
  process: string;
  file: string;
}

/** How volumes are mounted with labels (KEP-1710), where SELinux is on. */
export interface LabelRules {
  labels: ContainerLabels;
  /** Volumes of all access modes, not only ReadWriteOncePod ones (gate SELinuxMount). */
  allModes: boolean;
  /** Pods may ask for labels of each file instead (gate SELinuxChangePolicy, `seLinuxChangePolicy: Recursive`). */
  changePolicy: boolean;
}

/** A pod's `seLinuxOptions`. */
export type SeLinuxOptions = NonNullable<NonNullable<NonNullable<Pod['spec']>['securityContext']>['seLinuxOptions']>;

/**
 * The label of files that a container's processes with these options may use (kubelet: SELinuxOptionsToFileLabel): the policy's own, with their user and
 * level. Without a level: ''. Kubelet draws one then, which is not the one that the runtime draws for the container; here the runtime labels the files.
 */
export function fileLabel({ process, file }: ContainerLabels, { user = '', level = '' }: SeLinuxOptions): string {
  if (level === '' || process === '') return '';
  const [itsUser, role, type] = file.split(':');
  if (itsUser === undefined || role === undefined || type === undefined) return '';
  return `${user || itsUser}:${role}:${type}:${level}`;
}

/** Labels of the containers that mount a volume, each once; those without `seLinuxOptions` have none to compare. */
export function labelsOf(pod: Pod, volume: string, labels: ContainerLabels): string[] {
  const found = allContainers(pod)
    .filter(({ volumeMounts }) => volumeMounts?.some(({ name }) => name === volume))
    .map(({ securityContext }) => securityContext?.seLinuxOptions ?? pod.spec?.securityContext?.seLinuxOptions)
    .flatMap((options) => (options == null ? [] : [fileLabel(labels, options)]));
  return [...new Set(found)];
}

/** Has this pod asked for labels of each file? */
export function wantsRecursive(pod: Pod, { changePolicy }: LabelRules): boolean {
  return changePolicy && pod.spec?.securityContext?.seLinuxChangePolicy === 'Recursive';
}

/** Is a volume of these access modes mounted with a label (kubelet: VolumeSupportsSELinuxMount)? Never one that a pod has inline. */
export function isLabelled(pv: PersistentVolume | null, { allModes }: Pick<LabelRules, 'allModes'>): boolean {
  return pv !== null && (allModes || isForOnePod(pv));
}

/** The access mode by which metrics of labels tell volumes apart: the widest one. */
export function countedMode(pv: PersistentVolume | null): string {
  if (pv === null) return 'inline';
  const modes = pv.spec?.accessModes ?? [];
  const widest = WIDEST_FIRST.find(([mode]) => modes.includes(mode));
  return widest?.[1] ?? '';
}

const WIDEST_FIRST = [
  ['ReadWriteMany', 'RWX'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteOnce', 'RWO'],
  ['ReadWriteOncePod', 'RWOP'],
] as const;

/** The option with which a file system is mounted under one label, which may hold commas (kubelet: AddSELinuxMountOption). */
export function contextOption(label: string): string {
  return `context="${label.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
