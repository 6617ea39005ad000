import type { VolumeUse } from './node-requests.ts';
import type { LifecycleMode } from './driver-rules.ts';
import type { PersistentVolume } from '../protocol/storage-types.ts';
import type { Volume } from '../protocol/api-types.ts';

/** Where a secret is. */
export interface SecretName {
  namespace: string;
  name: string;
}

/** A CSI volume, of a PV or inline in a pod. */
export interface CsiSource {
  driver: string;
  /** '' for an inline one: the node makes it up. */
  handle: string;
  mode: LifecycleMode;
  readOnly: boolean;
  fsType: string;
  attributes: Readonly<Record<string, string>>;
  /** Null for an inline volume, undefined when the PV names none. */
  accessModes: readonly string[] | null | undefined;
  mountOptions: readonly string[];
  secrets: { stage: SecretName | null; publish: SecretName | null; expand: SecretName | null };
  /** It was of a cloud's own kind; metrics tell that of calls for it. */
  migrated?: true;
}

/** What a volume has to do with CSI; null when it is of another kind. */
export function csiSource(
  spec: { pv: PersistentVolume | null; volume: Volume; readOnly: boolean; migrated?: true },
  podNamespace: string,
): CsiSource | null {
  const { pv, volume, readOnly } = spec;
  if (pv !== null) {
    const csi = pv.spec?.csi;
    if (csi === undefined) return null;
    return {
      driver: csi.driver,
      handle: csi.volumeHandle,
      mode: 'Persistent',
      readOnly,
      fsType: csi.fsType ?? '',
      attributes: csi.volumeAttributes ?? {},
      accessModes: pv.spec?.accessModes,
      mountOptions: pv.spec?.mountOptions ?? [],
      secrets: {
        stage: secretName(csi.nodeStageSecretRef),
        publish: secretName(csi.nodePublishSecretRef),
        expand: secretName(csi.nodeExpandSecretRef),
      },
      ...(spec.migrated && { migrated: true as const }),
    };
  }
  const { csi } = volume;
  if (csi === undefined) return null;
  const { nodePublishSecretRef } = csi;
  const publish = nodePublishSecretRef && { namespace: podNamespace, name: nodePublishSecretRef.name };
  return {
    driver: csi.driver,
    handle: '',
    mode: 'Ephemeral',
    readOnly: csi.readOnly === true,
    fsType: csi.fsType ?? '',
    attributes: csi.volumeAttributes ?? {},
    accessModes: null,
    mountOptions: [],
    secrets: { stage: null, publish: secretName(publish), expand: null },
  };
}

/** How the source is to be used; its first access mode counts, as with kubelet. */
export function useOf(source: CsiSource, block: boolean, more: Pick<VolumeUse, 'fsGroup' | 'mountOptions'>): VolumeUse {
  return { block, fsType: source.fsType, accessMode: source.accessModes?.[0] ?? 'ReadWriteOnce', ...more };
}

function secretName(reference: { name?: string; namespace?: string } | undefined): SecretName | null {
  return reference === undefined ? null : { namespace: reference.namespace ?? '', name: reference.name ?? '' };
}
