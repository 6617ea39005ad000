import type { Volume } from '../protocol/api-types.ts';
import { defaultPullPolicy } from './image-reference.ts';

type DownwardItem = NonNullable<NonNullable<Volume['downwardAPI']>['items']>[number];
type Projection = NonNullable<NonNullable<Volume['projected']>['sources']>[number];

/** Mode of files in configMap, secret, downwardAPI and projected volumes: 0644. */
const FILE_MODE = 0o644;

function downwardItem(item: DownwardItem): DownwardItem {
  if (!item.fieldRef) return item;
  return { ...item, fieldRef: { ...item.fieldRef, apiVersion: item.fieldRef.apiVersion || 'v1' } };
}

function projection(given: Projection): Projection {
  const { downwardAPI, serviceAccountToken } = given;
  return {
    ...given,
    ...(downwardAPI?.items ? { downwardAPI: { ...downwardAPI, items: downwardAPI.items.map(downwardItem) } } : {}),
    ...(serviceAccountToken
      ? {
          serviceAccountToken: {
            ...serviceAccountToken,
            expirationSeconds: serviceAccountToken.expirationSeconds ?? 3600,
          },
        }
      : {}),
  };
}

/** Defaults of one volume; a volume without a source is an `emptyDir`. */
export function fillVolume(given: Volume): Volume {
  const { hostPath, configMap, secret, downwardAPI, projected, image } = given;
  if (Object.keys(given).every((key) => key === 'name')) return { ...given, emptyDir: {} };
  return {
    ...given,
    ...(hostPath ? { hostPath: { ...hostPath, type: hostPath.type ?? '' } } : {}),
    ...(configMap ? { configMap: { ...configMap, defaultMode: configMap.defaultMode ?? FILE_MODE } } : {}),
    ...(secret ? { secret: { ...secret, defaultMode: secret.defaultMode ?? FILE_MODE } } : {}),
    ...(downwardAPI
      ? {
          downwardAPI: {
            ...downwardAPI,
            ...(downwardAPI.items ? { items: downwardAPI.items.map(downwardItem) } : {}),
            defaultMode: downwardAPI.defaultMode ?? FILE_MODE,
          },
        }
      : {}),
    ...(projected
      ? {
          projected: {
            ...projected,
            ...(projected.sources ? { sources: projected.sources.map(projection) } : {}),
            defaultMode: projected.defaultMode ?? FILE_MODE,
          },
        }
      : {}),
    ...(image ? { image: { ...image, pullPolicy: image.pullPolicy || defaultPullPolicy(image.reference ?? '') } } : {}),
    ...storage(given),
  };
}

/** Those of storage systems, which nobody here reads: a pod has to look as the API machinery made it. */
function storage({ iscsi, rbd, azureDisk, scaleIO, ephemeral }: Volume): Partial<Volume> {
  const claim = ephemeral?.volumeClaimTemplate;
  return {
    ...(iscsi ? { iscsi: { ...iscsi, iscsiInterface: iscsi.iscsiInterface || 'default' } } : {}),
    ...(rbd
      ? {
          rbd: {
            ...rbd,
            pool: rbd.pool || 'rbd',
            user: rbd.user || 'admin',
            keyring: rbd.keyring || '/etc/ceph/keyring',
          },
        }
      : {}),
    ...(azureDisk
      ? {
          azureDisk: {
            ...azureDisk,
            cachingMode: azureDisk.cachingMode ?? 'ReadWrite',
            fsType: azureDisk.fsType ?? 'ext4',
            readOnly: azureDisk.readOnly ?? false,
            kind: azureDisk.kind ?? 'Shared',
          },
        }
      : {}),
    ...(scaleIO
      ? {
          scaleIO: {
            ...scaleIO,
            storageMode: scaleIO.storageMode || 'ThinProvisioned',
            fsType: scaleIO.fsType || 'xfs',
          },
        }
      : {}),
    ...(claim
      ? {
          ephemeral: {
            volumeClaimTemplate: {
              ...claim,
              spec: { ...claim.spec, volumeMode: claim.spec?.volumeMode ?? 'Filesystem' },
            },
          },
        }
      : {}),
  };
}
