import { join } from 'node:path';
import { makeFolder } from '../volumes/make-folder.ts';
import type { CsiSource } from '../../../machines/csi/csi-source.ts';
import { useOf } from '../../../machines/csi/csi-source.ts';
import {
  fsGroupPolicy,
  givesToGroup,
  mountsWithContext,
  refusesMode,
  wantsPodInfo,
} from '../../../machines/csi/driver-rules.ts';
import { podAttributes, tokenAttributes, volumeCapability } from '../../../machines/csi/node-requests.ts';
import type { IssuedToken, PodIdentity } from '../../../machines/csi/node-requests.ts';
import type { CsiDriver } from '../../../machines/csi/storage-objects.ts';
import type { VolumeData } from '../../../machines/csi/volume-data.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { contextOption } from '../../../machines/volumes/selinux-label.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { giveToGroup } from '../../host/volumes/fs-group.ts';
import { VolumeFailure } from '../volumes/volume-plugin.ts';
import type { PublishCall } from '../volumes/volume-plugin.ts';
import type { CsiApi } from './csi-api.ts';
import { apiOf, before, failureOf, publishContextOf, says, secretsOf, telling, withClient } from './csi-ground.ts';
import type { CsiGround, SecretWords } from './csi-ground.ts';
import { attachmentName, stagingPath } from './csi-names.ts';
import { removeMountDir, saveVolumeData } from './volume-files.ts';

/** Life of a token of which the CSIDriver does not say how long it is to live, seconds: the API server's own. */
const TOKEN_SECONDS = 3600;

/** Who the pod is, for a driver that is told. */
export function identityOf({ metadata, spec }: Pod): PodIdentity {
  const { name = '', namespace = '', uid = '' } = metadata ?? {};
  return { name, namespace, uid, serviceAccount: spec?.serviceAccountName ?? '' };
}

/** Has a file system shown to one pod (kubelet: csiMountMgr.SetUpAt), and answers the folder that its containers get. */
export async function publishVolume(ground: CsiGround, source: CsiSource, call: PublishCall): Promise<string> {
  const target = join(call.path, 'mount');
  const noClient = (text: string): string => says(`mounter.SetUpAt failed to get CSI client: ${text}`);
  return withClient(ground, source, call.signal, noClient, async (client) => {
    const api = apiOf(ground);
    const driver = await before(api.driver(source.driver), (text) =>
      says(`mounter.SetupAt failed to check volume lifecycle mode: ${text}`),
    );
    const refusal = refusesMode(source.driver, driver, source.mode);
    if (refusal !== null)
      throw new VolumeFailure(
        'LifecycleMode',
        says(`mounter.SetupAt failed to check volume lifecycle mode: ${refusal}`),
      );
    const policy = await before((async () => fsGroupPolicy(driver))(), (text) =>
      says(`mounter.SetupAt failed to check fsGroup policy: ${text}`),
    );
    const persistent = source.mode === 'Persistent';
    const stages =
      persistent &&
      (await before(client.can('STAGE_UNSTAGE_VOLUME'), (text) =>
        says(`mounter.SetUpAt failed to check for STAGE_UNSTAGE_VOLUME capability: ${text}`),
      ));
    const context = persistent
      ? await before(publishContextOf(ground, api, driver, source), (text) =>
          says(`mounter.SetUpAt failed to fetch publishContext: ${text}`),
        )
      : {};
    await telling(makeFolder(call.path), (text) =>
      says(`mounter.SetUpAt failed to create dir "${call.path}":  ${text}`),
    );
    const { attributes, secrets } = await toldToDriver(api, driver, source, call.pod);
    const givesGroup = await before(client.can('VOLUME_MOUNT_GROUP'), (text) =>
      says(`mounter.SetUpAt failed to determine if the node service has VOLUME_MOUNT_GROUP capability: ${text}`),
    );
    const tells = await before(client.can('SINGLE_NODE_MULTI_WRITER'));
    const data: VolumeData = {
      specVolID: call.spec.name,
      volumeHandle: source.handle,
      driverName: source.driver,
      nodeName: ground.nodeName,
      volumeLifecycleMode: source.mode,
      attachmentID: attachmentName(source.handle, source.driver, ground.nodeName),
    };
    const mountOptions = [...source.mountOptions];
    const label = mountsWithContext(driver) ? (call.seLinuxLabel ?? '') : '';
    if (label !== '') {
      mountOptions.push(contextOption(label));
      data.seLinuxMountContext = label;
    }
    await saveVolumeData(call.path, data).catch(async (error: unknown) => {
      if (!call.again) await cleared(ground, target);
      throw failureOf(error);
    });
    const fsGroup = givesGroup ? call.fsGroup : undefined;
    try {
      await client.publish({
        volumeId: source.handle,
        publishContext: context,
        stagingTargetPath: stages ? stagingPath(ground.rootDir, source.driver, source.handle) : '',
        targetPath: target,
        volumeCapability: volumeCapability(useOf(source, false, { mountOptions, fsGroup }), tells),
        readonly: source.readOnly,
        secrets,
        volumeContext: attributes,
      });
    } catch (error) {
      const failure = failureOf(error);
      if (failure.done) await cleared(ground, target);
      throw failure;
    }
    const { fsType, readOnly, accessModes } = source;
    const question = { policy, fsGroup: call.fsGroup, readOnly, fsType, accessModes };
    if (!givesGroup && givesToGroup(question)) await applyGroup(ground, source, call, target);
    return target;
  });
}

/** What goes with a publish: attributes and secrets, with the pod's name and tokens where the driver wants them. */
export async function toldToDriver(
  api: CsiApi,
  driver: CsiDriver | null,
  source: CsiSource,
  pod: Pod,
  words?: SecretWords,
): Promise<{ attributes: Record<string, string>; secrets: Record<string, string> }> {
  const attributes: Record<string, string> = { ...source.attributes };
  const secrets = { ...(await secretsOf(api, 'NodePublishSecretRef', source.secrets.publish, words)) };
  const identity = identityOf(pod);
  if (wantsPodInfo(driver)) Object.assign(attributes, podAttributes(identity, source.mode === 'Ephemeral'));
  const requests = driver?.spec.tokenRequests ?? [];
  if (requests.length > 0) {
    const tokens: Record<string, IssuedToken> = {};
    for (const { audience, expirationSeconds = TOKEN_SECONDS } of requests)
      tokens[audience] = await before(api.token(identity, audience, expirationSeconds), (text) =>
        says(`mounter.SetUpAt failed to get service accoount token attributes: ${text}`),
      );
    Object.assign(driver?.spec.serviceAccountTokenInSecrets === true ? secrets : attributes, tokenAttributes(tokens));
  }
  return { attributes, secrets };
}

/** The volume is there but the pod could not use it: what fails here leaves it to be taken down. */
async function applyGroup({ log }: CsiGround, source: CsiSource, call: PublishCall, target: string): Promise<void> {
  const { fsGroup, fsGroupChangePolicy, ownership } = call;
  try {
    await giveToGroup(target, fsGroup, fsGroupChangePolicy, log, ownership);
  } catch (error) {
    const text = `applyFSGroup failed for vol ${source.handle}: ${messageOf(error)}`;
    throw new VolumeFailure('FsGroup', text, { done: false, cause: error });
  }
}

async function cleared({ log }: CsiGround, path: string): Promise<void> {
  await removeMountDir(path).catch((error: unknown) =>
    log.error({ err: error, path }, 'mounter.SetupAt failed to remove mount dir after a NodePublish() error'),
  );
}
