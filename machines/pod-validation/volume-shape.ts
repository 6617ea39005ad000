import { fields, list, map, type Shape } from './shape.ts';

const keyPaths = list(fields({ key: 'string', path: 'string', mode: 'int32' }));
const downwardItems = list(
  fields({
    path: 'string',
    mode: 'int32',
    fieldRef: fields({ apiVersion: 'string', fieldPath: 'string' }),
    resourceFieldRef: fields({ containerName: 'string', resource: 'string', divisor: 'quantity' }),
  }),
);

/** Volume sources of `v1.Volume`, by field name. Those of clouds and of storage systems are passed on without a look. */
export const VOLUME_SOURCES: Record<string, Shape> = {
  emptyDir: fields({ medium: 'string', sizeLimit: 'quantity' }),
  hostPath: fields({ path: 'string', type: 'string' }),
  configMap: fields({ name: 'string', items: keyPaths, defaultMode: 'int32', optional: 'bool' }),
  secret: fields({ secretName: 'string', items: keyPaths, defaultMode: 'int32', optional: 'bool' }),
  downwardAPI: fields({ items: downwardItems, defaultMode: 'int32' }),
  projected: fields({
    defaultMode: 'int32',
    sources: list(
      fields({
        configMap: fields({ name: 'string', items: keyPaths, optional: 'bool' }),
        secret: fields({ name: 'string', items: keyPaths, optional: 'bool' }),
        downwardAPI: fields({ items: downwardItems }),
        serviceAccountToken: fields({ audience: 'string', expirationSeconds: 'int64', path: 'string' }),
        clusterTrustBundle: fields({
          name: 'string',
          signerName: 'string',
          labelSelector: 'any',
          optional: 'bool',
          path: 'string',
        }),
        podCertificate: fields({
          ...{ signerName: 'string', keyType: 'string', maxExpirationSeconds: 'int32', userAnnotations: map('string') },
          ...{ credentialBundlePath: 'string', keyPath: 'string', certificateChainPath: 'string' },
        }),
      }),
    ),
  }),
  image: fields({ reference: 'string', pullPolicy: 'string' }),
  nfs: fields({ server: 'string', path: 'string', readOnly: 'bool' }),
  iscsi: 'any',
  persistentVolumeClaim: fields({ claimName: 'string', readOnly: 'bool' }),
  csi: 'any',
  ephemeral: 'any',
  awsElasticBlockStore: 'any',
  azureDisk: 'any',
  azureFile: 'any',
  cephfs: 'any',
  cinder: 'any',
  fc: 'any',
  flexVolume: 'any',
  flocker: 'any',
  gcePersistentDisk: 'any',
  gitRepo: 'any',
  glusterfs: 'any',
  photonPersistentDisk: 'any',
  portworxVolume: 'any',
  quobyte: 'any',
  rbd: 'any',
  scaleIO: 'any',
  storageos: 'any',
  vsphereVolume: 'any',
};

/** `v1.Volume`. */
export const VOLUME_SHAPE: Shape = fields({ name: 'string', ...VOLUME_SOURCES });
