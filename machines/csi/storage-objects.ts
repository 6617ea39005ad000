import type { V1CSIDriver, V1VolumeAttachment } from '@kubernetes/client-node';
import type { Plain } from '../protocol/api-types.ts';

/** A `storage.k8s.io/v1` CSIDriver as plain JSON. */
export type CsiDriver = Omit<Plain<V1CSIDriver>, 'spec'> & {
  spec: Plain<V1CSIDriver>['spec'] & { serviceAccountTokenInSecrets?: boolean };
};
/** A `storage.k8s.io/v1` VolumeAttachment as plain JSON. */
export type VolumeAttachment = Plain<V1VolumeAttachment>;
