import type { IscsiSource } from '../../../machines/scsi/iscsi-source.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { volumeFailure } from '../volumes/volume-plugin.ts';
import type { VolumeSpec } from '../volumes/volume-plugin.ts';
import { notBegun } from './disk-volume.ts';
import type { ScsiGround } from './scsi-ground.ts';

/**
 * With what a volume signs in (kubelet: createSecretMap): read each time, and kept nowhere. The secret is of the pod's namespace where the volume names no
 * other.
 */
export async function chapOf(
  { secret: read }: Pick<ScsiGround, 'secret'>,
  { chapDiscovery, chapSession, secret }: IscsiSource,
  podNamespace: string,
  mode: VolumeSpec['mode'],
): Promise<Record<string, string>> {
  const namespace = secret?.namespace || podNamespace;
  if (secret === null || namespace === '' || (!chapDiscovery && !chapSession)) return {};
  const found = await read(namespace, secret.name).catch((error: unknown) => {
    const text = `couldn't get secret ${namespace}/${secret.name} error: ${messageOf(error)}`;
    throw volumeFailure(error, 'Secret', { text, what: notBegun(mode) });
  });
  return found.data;
}
