import { realpath } from 'node:fs/promises';
import type { CsiSource } from '../../../machines/csi/csi-source.ts';
import { useOf } from '../../../machines/csi/csi-source.ts';
import { expansionFailure } from '../../../machines/csi/call-outcome.ts';
import { volumeCapability } from '../../../machines/csi/node-requests.ts';
import { ignoring } from '../../host/files/host-failure.ts';
import { VolumeFailure } from '../volumes/volume-plugin.ts';
import type { ExpandCall } from '../volumes/volume-plugin.ts';
import { apiOf, before, secretsOf, withClient } from './csi-ground.ts';
import type { CsiGround } from './csi-ground.ts';
import { CsiCallError } from './csi-error.ts';

/** Has a volume grown on this node (kubelet: csiPlugin.NodeExpand); answers its size afterwards, bytes. */
export async function growVolume(ground: CsiGround, source: CsiSource, call: ExpandCall): Promise<number> {
  const block = call.spec.mode === 'Block';
  const same = (text: string): string => text;
  return withClient(ground, source, call.signal, same, async (client) => {
    const able = await before(
      client.can('EXPAND_VOLUME'),
      (text) => `Expander.NodeExpand failed to check if node supports expansion : ${text}`,
    );
    if (!able)
      throw new VolumeFailure('NotSupported', `NodeExpand is not supported by the CSI driver ${source.driver}`);
    const { expand } = source.secrets;
    const secrets =
      expand === null
        ? {}
        : await secretsOf(
            apiOf(ground),
            'NodeExpandSecretRef',
            expand,
            (ref, why) => `expander.NodeExpand failed to get ${ref}: ${why}`,
          );
    const tells = await before(client.can('SINGLE_NODE_MULTI_WRITER'));
    const stages = await before(client.can('STAGE_UNSTAGE_VOLUME'));
    const { mountOptions } = source;
    const mounted = call.publishedPath === '' ? call.stagedPath : call.publishedPath;
    try {
      const bytes = await client.expand({
        volumeId: source.handle,
        volumePath: block ? await devicePathOf(call) : mounted,
        capacityRange: { requiredBytes: String(call.newBytes), limitBytes: '0' },
        stagingTargetPath: stages ? call.stagedPath : '',
        volumeCapability: volumeCapability(useOf(source, block, { mountOptions, fsGroup: undefined }), tells),
        secrets,
      });
      return bytes === 0 ? call.newBytes : bytes;
    } catch (error) {
      if (!(error instanceof CsiCallError)) throw error;
      const text = expansionFailure(error.code, error.message);
      throw new VolumeFailure(error.code, text, { done: error.final, cause: error });
    }
  });
}

/** Drivers know a pod's device by the path that they were told to publish it at: what the link in the pod's folder leads to. */
async function devicePathOf({ publishedPath, devicePath }: ExpandCall): Promise<string> {
  if (publishedPath === '') return devicePath;
  return (await ignoring(realpath(publishedPath), 'ENOENT', 'ENOTDIR')) ?? publishedPath;
}
