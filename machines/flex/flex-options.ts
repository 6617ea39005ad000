import { goJson } from '../container-config/go-json.ts';
import type { Pod, Volume } from '../protocol/api-types.ts';
import type { PersistentVolume } from '../protocol/storage-types.ts';

/** A FlexVolume, of a PV or inline in a pod. */
export interface FlexSource {
  driver: string;
  fsType: string;
  /** What the driver is told beside kubelet's own options. */
  options: Readonly<Record<string, string>>;
  secret: { name: string; namespace: string | null } | null;
}

/** What a volume is to FlexVolume; null when it is of another kind. */
export function flexSource({ pv, volume }: { pv: PersistentVolume | null; volume: Volume }): FlexSource | null {
  const source = pv === null ? volume.flexVolume : pv.spec?.flexVolume;
  if (source === undefined) return null;
  const { driver, fsType = '', options = {}, secretRef } = source;
  const { name = '', namespace } = (secretRef ?? {}) as { name?: string; namespace?: string };
  return { driver, fsType, options, secret: secretRef === undefined ? null : { name, namespace: namespace || null } };
}

/** Which volume a call is about. */
export interface FlexVolumeOptions {
  source: FlexSource;
  /** The PV's name, or the volume's in its pod. */
  name: string;
  readOnly: boolean;
}

/** The options of each call as the JSON that a driver gets: what the volume names itself counts before all else. */
export function flexOptions(
  { source, name, readOnly }: FlexVolumeOptions,
  more: Readonly<Record<string, string>> = {},
): string {
  const options = {
    'kubernetes.io/fsType': source.fsType,
    'kubernetes.io/readwrite': readOnly ? 'ro' : 'rw',
    'kubernetes.io/pvOrVolumeName': name,
    ...more,
    ...source.options,
  };
  return goJson(Object.fromEntries(Object.entries(options).sort(([a], [b]) => (a < b ? -1 : 1))));
}

/** What the call that mounts says of the pod, and of the secret that the volume names. @param secret values as base64 */
export function mountOptions(
  { metadata, spec }: Pod,
  secret: Readonly<Record<string, string>>,
  fsGroup: number | undefined,
): Record<string, string> {
  const options: Record<string, string> = {
    'kubernetes.io/pod.name': metadata?.name ?? '',
    'kubernetes.io/pod.namespace': metadata?.namespace ?? '',
    'kubernetes.io/pod.uid': metadata?.uid ?? '',
    'kubernetes.io/serviceAccount.name': spec?.serviceAccountName ?? '',
  };
  for (const [key, value] of Object.entries(secret)) options[`kubernetes.io/secret/${key}`] = value;
  if (fsGroup !== undefined) options['kubernetes.io/mounterArgs.FsGroup'] = String(fsGroup);
  return options;
}
