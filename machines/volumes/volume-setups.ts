import { effectiveSecurity } from '../container-config/security-context.ts';
import type { Pod, Volume } from '../protocol/api-types.ts';
import type { VolumeOwner, VolumeSetup } from '../protocol/effects.ts';
import { behaves } from '../protocol/behaviour.ts';
import type { NodeSettings } from '../protocol/node-settings.ts';
import { isStaticPod } from '../qos/critical-pod.ts';
import { API_PROJECTIONS, API_VOLUMES } from '../sources/static-references.ts';
import { podIdentity } from '../sandbox-config/pod-identity.ts';
import { downwardFiles } from './downward-files.ts';
import { emptyDirSetup, memoryBytes } from './empty-dir-setup.ts';
import { gitRepoSetup } from './git-repo-setup.ts';
import { aggregate } from '../values/aggregate.ts';
import { FILE_MODE, configMapSetup, projectedSetup, secretSetup } from './object-volumes.ts';
import { isManagedKind, isOldKind, isScsiKind } from '../protocol/managed-kinds.ts';
import { allContainers } from './pod-containers.ts';

const SUPPORTED = 'emptyDir, hostPath, downwardAPI, configMap, secret, projected';
const MANAGED = 'persistentVolumeClaim, ephemeral, csi, nfs';
const OLD = 'flexVolume, and volumes of clouds by their CSI drivers';
const SCSI = 'iscsi, fc';

/**
 * What `host.SetUpVolumes` is to do: the volumes that a container of the pod mounts, in the order of the spec,
 * with downward API fields resolved (metadata and resources only, so `podIPs` plays no part yet). What configMaps,
 * secrets and tokens hold is not known here. The error is the message of event `FailedMount`.
 */
export function volumeSetups(
  pod: Pod,
  _podIPs: readonly string[] | null,
  settings: NodeSettings,
): { volumes: VolumeSetup[] } | { error: string } {
  const used = mountedVolumes(pod);
  const volumes: VolumeSetup[] = [];
  for (const volume of pod.spec?.volumes ?? []) {
    // The runtime mounts images: nothing of them lies on the node.
    if (!used.has(volume.name) || volume.image !== undefined) continue;
    const made = withNested(pod, volumeSetup(pod, volume, settings));
    if (typeof made === 'string') {
      return { error: `MountVolume.SetUp failed for volume "${volume.name}" : ${made}` };
    }
    volumes.push(made);
  }
  return { volumes };
}

/** The pod as volumes made of API objects and in memory need it. */
export function volumeOwner(pod: Pod, settings?: NodeSettings): VolumeOwner {
  const { namespace, name } = podIdentity(pod);
  const owner: VolumeOwner = { namespace, name, serviceAccount: pod.spec?.serviceAccountName || 'default' };
  const runAsUser = commonUser(pod);
  if (runAsUser !== undefined) owner.runAsUser = runAsUser;
  if (settings !== undefined) owner.memoryBytes = memoryBytes(pod, settings);
  return owner;
}

/** The user id that every container says it runs as; undefined where one says none or another. */
function commonUser(pod: Pod): number | undefined {
  const users = new Set(allContainers(pod).map((container) => effectiveSecurity(pod, container).runAsUser));
  const [user] = users;
  return users.size === 1 ? user : undefined;
}

/** Names of the volumes that containers of the pod mount. */
export function mountedVolumes(pod: Pod): Set<string> {
  const names = allContainers(pod).flatMap((container) => [
    ...(container.volumeMounts ?? []).map((mount) => mount.name),
    ...(container.volumeDevices ?? []).map((device) => device.name),
  ]);
  return new Set(names);
}

/** One volume's set-up, or why there is none. */
function volumeSetup(pod: Pod, volume: Volume, settings: NodeSettings): VolumeSetup | string {
  const { name, hostPath, downwardAPI, configMap, secret, projected } = volume;
  if (hostPath) return { name, kind: 'hostPath', path: hostPath.path, type: hostPath.type ?? '' };
  if (downwardAPI) {
    const found = downwardFiles(pod, downwardAPI.items, downwardAPI.defaultMode ?? FILE_MODE, settings);
    if (found.faults.length > 0) return aggregate(found.faults);
    return { name, kind: 'downwardAPI', files: found.files };
  }
  const kind = (Object.keys(volume) as (keyof Volume)[]).find((key) => key !== 'name' && volume[key] !== undefined);
  // A volume without a source is an emptyDir by default.
  if (kind === undefined || kind === 'emptyDir') return emptyDirSetup(pod, volume, settings);
  const object = API_VOLUMES[kind] ?? projectedObject(volume);
  if (object && settings.staticReferences !== true && isStaticPod(pod))
    return `static pods may not reference ${object}`;
  if ((configMap || secret) && !settings.cluster) return 'not supported due to running kubelet in standalone mode';
  if (configMap) return configMapSetup(name, configMap);
  if (secret) return secretSetup(name, secret);
  if (projected) {
    if (!settings.cluster) return `cannot setup projected volume ${name} because kube client is not configured`;
    return projectedSetup(pod, name, projected, settings);
  }
  if (!behaves(settings, 'managedVolumes'))
    return `volume kind ${kind} is not supported by this agent yet; supported: ${SUPPORTED}`;
  const old = behaves(settings, 'oldKindsAreManaged');
  const scsi = behaves(settings, 'scsiKindsAreManaged');
  if (isManagedKind(kind) && (old || !isOldKind(kind)) && (scsi || !isScsiKind(kind))) return { name, kind };
  if (kind === 'gitRepo') return gitRepoSetup(volume, settings);
  const managed = [MANAGED, ...(scsi ? [SCSI] : []), ...(old ? [OLD] : [])].join(', ');
  return `volume kind ${kind} is not supported by this agent yet; supported: ${SUPPORTED}, ${managed}`;
}

/** What of the API server a projected volume needs. */
function projectedObject(volume: Volume): string | undefined {
  const needed = (volume.projected?.sources ?? []).flatMap((source) =>
    Object.entries(API_PROJECTIONS).filter(([kind]) => source[kind as keyof typeof source] !== undefined),
  );
  return needed[0]?.[1];
}

/** Volumes that the agent fills are read-only for containers, so mount points inside of them must be there before. */
function withNested(pod: Pod, made: VolumeSetup | string): VolumeSetup | string {
  if (typeof made === 'string' || !('files' in made || 'object' in made || 'sources' in made)) return made;
  const nested = nestedMounts(pod, made.name);
  if ('fault' in nested) return nested.fault;
  return nested.folders.length === 0 ? made : { ...made, nested: nested.folders };
}

/**
 * Folders that must exist in a volume which containers cannot write to, because another volume is mounted there:
 * with this volume at `/a` and another one at `/a/b/c`, the folder `b/c`. Only the outermost ones.
 */
export function nestedMounts(pod: Pod, volume: string): { folders: string[] } | { fault: string } {
  const folders = new Set<string>();
  for (const { volumeMounts = [] } of allContainers(pod)) {
    const all = volumeMounts.map((mount) => clean(mount.mountPath)).sort();
    for (const own of volumeMounts.filter(({ name }) => name === volume).map((mount) => clean(mount.mountPath))) {
      if (own.startsWith('../')) return { fault: `invalid container mount point ${own}` };
      const base = `${own}/`;
      const outer: string[] = [];
      for (const path of all) {
        if (!path.startsWith(base) || outer.some((prefix) => path.startsWith(prefix))) continue;
        outer.push(`${path}/`);
        folders.add(path.slice(base.length));
      }
    }
  }
  return { folders: [...folders] };
}

/** The path without `.`, empty parts and, where a part stands before it, `..`. */
function clean(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.length > 0 && parts.at(-1) !== '..') parts.pop();
    else if (!path.startsWith('/')) parts.push('..');
  }
  return `${path.startsWith('/') ? '/' : ''}${parts.join('/')}`;
}
