import { lstat, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../volumes/make-folder.ts';
import type { CsiSource } from '../../../machines/csi/csi-source.ts';
import { useOf } from '../../../machines/csi/csi-source.ts';
import { volumeCapability } from '../../../machines/csi/node-requests.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { ignoring } from '../../host/files/host-failure.ts';
import { plainName } from '../../host/files/pod-paths.ts';
import { removeTree } from '../../host/files/remove-tree.ts';
import type { PublishCall, StageCall, UnpublishCall, UnstageCall } from '../volumes/volume-plugin.ts';
import { apiOf, before, failureOf, publishContextOf, says, secretsOf, telling, withClient } from './csi-ground.ts';
import type { CsiGround } from './csi-ground.ts';
import { attachmentName, blockPaths } from './csi-names.ts';
import { toldToDriver } from './publish-volume.ts';
import { loadVolumeData, saveVolumeData } from './volume-files.ts';

/** Has a device made ready for all pods of the node (kubelet: csiBlockMapper.SetUpDevice); answers its staging folder, '' when its driver does not stage. */
export async function stageBlock(ground: CsiGround, source: CsiSource, call: StageCall): Promise<string> {
  const { spec, signal } = call;
  const paths = blockPaths(ground.rootDir, spec.name);
  const api = apiOf(ground);
  await telling(
    saveVolumeData(paths.data, {
      specVolID: spec.name,
      volumeHandle: source.handle,
      driverName: source.driver,
      nodeName: ground.nodeName,
      attachmentID: attachmentName(source.handle, source.driver, ground.nodeName),
    }),
    (text) => says(`csi.NewBlockVolumeMapper failed to save volume info data: ${text}`),
  );
  const driver = await before(api.driver(source.driver), (text) =>
    says(`blockMapper.SetupDevice failed to check CSIDriver for ${source.driver}: ${text}`),
  );
  const context = await before(publishContextOf(ground, api, driver, source), (text) =>
    says(
      `blockMapper.SetupDevice failed to get volume attachment [id=${attachmentName(source.handle, source.driver, ground.nodeName)}]: ${text}`,
    ),
  );
  const noClient = (text: string): string => says(`blockMapper.SetUpDevice failed to get CSI client: ${text}`);
  return withClient(ground, source, signal, noClient, async (client) => {
    const stages = await before(client.can('STAGE_UNSTAGE_VOLUME'), (text) =>
      says(`blockMapper.stageVolumeForBlock failed to check STAGE_UNSTAGE_VOLUME capability: ${text}`),
    );
    if (!stages) return '';
    const secrets = await secretsOf(api, 'NodeStageSecretRef', source.secrets.stage, (ref, why) =>
      says(`failed to get ${ref}: ${why}`),
    );
    const tells = await before(client.can('SINGLE_NODE_MULTI_WRITER'));
    await telling(makeFolder(paths.staging), (text) =>
      says(`blockMapper.stageVolumeForBlock failed to create dir ${paths.staging}: ${text}`),
    );
    try {
      await client.stage({
        volumeId: source.handle,
        publishContext: context,
        stagingTargetPath: paths.staging,
        volumeCapability: volumeCapability(useOf(source, true, { mountOptions: [], fsGroup: undefined }), tells),
        secrets,
        volumeContext: { ...source.attributes },
      });
    } catch (error) {
      const failure = failureOf(error);
      if (failure.done) await forgetBlock(ground, spec.name);
      throw failure;
    }
    return paths.staging;
  });
}

/** Has a device shown to one pod (kubelet: csiBlockMapper.MapPodDevice); answers where it is. */
export async function publishBlock(ground: CsiGround, source: CsiSource, call: PublishCall): Promise<string> {
  const { spec, pod, signal } = call;
  const uid = plainName(pod.metadata?.uid ?? '', 'the pod UID');
  const paths = blockPaths(ground.rootDir, spec.name);
  const publishPath = join(paths.publishDir, uid);
  const api = apiOf(ground);
  const driver = await before(api.driver(source.driver), (text) =>
    says(`blockMapper.MapPodDevice failed to check CSIDriver for ${source.driver}: ${text}`),
  );
  const context = await before(publishContextOf(ground, api, driver, source), (text) =>
    says(
      `blockMapper.MapPodDevice failed to get volume attachment [id=${attachmentName(source.handle, source.driver, ground.nodeName)}]: ${text}`,
    ),
  );
  const noClient = (text: string): string => says(`blockMapper.MapPodDevice failed to get CSI client: ${text}`);
  await withClient(ground, source, signal, noClient, async (client) => {
    // No tokens: kubelet gives them to file systems only.
    const { attributes, secrets } = await toldToDriver(
      api,
      driver && { ...driver, spec: { ...driver.spec, tokenRequests: [] } },
      source,
      pod,
      (ref, why) => says(`blockMapper.publishVolumeForBlock failed to get ${ref}: ${why}`),
    );
    const tells = await before(client.can('SINGLE_NODE_MULTI_WRITER'));
    await telling(makeFolder(paths.publishDir), (text) =>
      says(`blockMapper.publishVolumeForBlock failed to create dir ${paths.publishDir}:  ${text}`),
    );
    await telling(
      client.publish({
        volumeId: source.handle,
        publishContext: context,
        stagingTargetPath: paths.staging,
        targetPath: publishPath,
        volumeCapability: volumeCapability(useOf(source, true, { mountOptions: [], fsGroup: undefined }), tells),
        readonly: source.readOnly,
        secrets,
        volumeContext: attributes,
      }),
      (text) => text,
    );
  });
  return publishPath;
}

/** Takes a device from a pod (kubelet: csiBlockMapper.UnmapPodDevice). */
export async function unpublishBlock(ground: CsiGround, call: UnpublishCall): Promise<void> {
  const paths = blockPaths(ground.rootDir, call.name);
  const uid = plainName(call.podUid, 'the pod UID');
  const data = await telling(loadVolumeData(paths.data), (text) =>
    says(`unmapper failed to load volume data file [${paths.data}]: ${text}`),
  );
  if (data === null) return;
  const noClient = (text: string): string => says(`blockMapper.UnmapPodDevice failed to get CSI client: ${text}`);
  await withClient(ground, { driver: data.driverName ?? '' }, call.signal, noClient, async (client) => {
    const publishPath = join(paths.publishDir, uid);
    await telling(client.unpublish(data.volumeHandle ?? '', publishPath), (text) =>
      says(`blockMapper.unpublishVolumeForBlock failed: ${text}`),
    );
  });
}

/** Takes a device from the node (kubelet: csiBlockMapper.TearDownDevice). */
export async function unstageBlock(ground: CsiGround, call: UnstageCall): Promise<void> {
  const paths = blockPaths(ground.rootDir, call.name);
  const data = await telling(loadVolumeData(paths.data), (text) =>
    says(`unmapper failed to load volume data file [${paths.data}]: ${text}`),
  );
  if (data !== null && (await ignoring(lstat(paths.staging), 'ENOENT', 'ENOTDIR')) !== undefined) {
    const noClient = (text: string): string => says(`blockMapper.TearDownDevice failed to get CSI client: ${text}`);
    await withClient(ground, { driver: data.driverName ?? '' }, call.signal, noClient, async (client) => {
      const stages = await before(client.can('STAGE_UNSTAGE_VOLUME'), (text) =>
        says(`blockMapper.unstageVolumeForBlock failed to check STAGE_UNSTAGE_VOLUME capability: ${text}`),
      );
      if (!stages) return;
      await telling(client.unstage(data.volumeHandle ?? '', paths.staging), (text) =>
        says(`blockMapper.unstageVolumeForBlock failed: ${text}`),
      );
      // What its driver has left there is nobody's: with it the folder would be found as one that is staged for ever.
      await telling(removeTree(paths.staging), (text) =>
        says(
          `blockMapper.unstageVolumeForBlock failed to remove staging path after NodeUnstageVolume() error [${paths.staging}]: ${text}`,
        ),
      );
    });
  }
  await forgetBlock(ground, call.name);
}

/** Removes what is left of a device that no pod has: what is not empty, or mounted, stays (kubelet: cleanupOrphanDeviceFiles). */
async function forgetBlock({ rootDir, log }: CsiGround, name: string): Promise<void> {
  const paths = blockPaths(rootDir, name);
  try {
    for (const folder of [paths.publishDir, paths.staging, paths.dev])
      await ignoring(rmdir(folder), 'ENOENT', 'ENOTDIR');
    await rm(paths.data, { recursive: true, force: true });
    await ignoring(rmdir(paths.dir), 'ENOENT', 'ENOTDIR');
  } catch (error) {
    log.warn({ volume: name, problem: messageOf(error) }, 'Failed to clean up block volume directory');
  }
}
