import type { Container, EphemeralContainer, Pod, Volume } from '../protocol/api-types.ts';
import type { ContainerPreparation, VolumeSetup } from '../protocol/effects.ts';
import type { NodeSettings } from '../protocol/node-settings.ts';
import { isStaticPod } from '../qos/critical-pod.ts';
import { podCgroup } from '../qos/pod-cgroup.ts';
import { amountsOf, units } from '../qos/resource-amounts.ts';
import { metadataFieldValue } from './downward-fields.ts';
import type { FieldValue } from './downward-fields.ts';
import { containerEnv } from './env.ts';
import { volumeResourceValue } from './resource-fields.ts';
import { subPathMounts } from './volume-mounts.ts';

/** API objects that a static pod may not reference, by volume kind, as the kubelet names them. */
const API_OBJECTS: Partial<Record<keyof Volume, string>> = {
  configMap: 'configmaps (via configmap volumes)',
  secret: 'secrets (via secret volumes)',
  csi: 'csidrivers (via CSI volumes)',
  glusterfs: 'endpoints (via glusterFS volumes)',
  persistentVolumeClaim: 'persistentvolumeclaims',
  ephemeral: 'persistentvolumeclaims (via ephemeral volumes)',
  azureFile: 'secrets (via azureFile volumes)',
};

/**
 * What `host.SetUpVolumes` is to do: the volumes that a container of the pod mounts, in the order of the spec,
 * with downward API fields resolved (metadata and resources only, so `podIPs` plays no part yet).
 * The error is the message of event `FailedMount`.
 */
export function volumeSetups(
  pod: Pod,
  _podIPs: readonly string[] | null,
  settings: NodeSettings,
): { volumes: VolumeSetup[] } | { error: string } {
  const used = mountedVolumes(pod);
  const volumes: VolumeSetup[] = [];
  for (const volume of pod.spec?.volumes ?? []) {
    if (!used.has(volume.name)) continue;
    const made = volumeSetup(pod, volume, settings);
    if (typeof made === 'string') {
      return { error: `MountVolume.SetUp failed for volume "${volume.name}" : ${made}` };
    }
    volumes.push(made);
  }
  return { volumes };
}

/**
 * The subPath mounts of a container for `host.PrepareContainer`, with `subPathExpr` expanded from its environment.
 * The error is the message of `CreateContainerConfigError`.
 */
export function subPathsNeeded(
  pod: Pod,
  container: Container | EphemeralContainer,
  podIPs: readonly string[],
  settings: NodeSettings,
  volumePaths: Record<string, string>,
): { subPaths: ContainerPreparation['subPaths'] } | { error: string } {
  const mounting: Container = container;
  if (!mounting.volumeMounts?.some((mount) => mount.subPath || mount.subPathExpr)) return { subPaths: [] };
  const env = containerEnv(pod, mounting, podIPs, settings);
  if ('error' in env) return { error: env.error.message };
  const found = subPathMounts(pod, mounting, env.envs, volumePaths);
  return 'error' in found ? { error: found.error.message } : found;
}

function mountedVolumes(pod: Pod): Set<string> {
  const { initContainers = [], containers = [], ephemeralContainers = [] } = pod.spec ?? {};
  const names = [...initContainers, ...containers, ...ephemeralContainers].flatMap((container) => [
    ...(container.volumeMounts ?? []).map((mount) => mount.name),
    ...(container.volumeDevices ?? []).map((device) => device.name),
  ]);
  return new Set(names);
}

/** One volume's set-up, or why there is none. */
function volumeSetup(pod: Pod, volume: Volume, settings: NodeSettings): VolumeSetup | string {
  const { name, hostPath, downwardAPI } = volume;
  if (hostPath) return { name, kind: 'hostPath', path: hostPath.path, type: hostPath.type ?? '' };
  if (downwardAPI) return downwardSetup(pod, name, downwardAPI, settings);
  const kind = (Object.keys(volume) as (keyof Volume)[]).find((key) => key !== 'name' && volume[key] !== undefined);
  // A volume without a source is an emptyDir by default.
  if (kind === undefined || kind === 'emptyDir') return emptyDirSetup(pod, volume, settings);
  const object = API_OBJECTS[kind] ?? projectedObject(volume);
  if (object && isStaticPod(pod)) return `static pods may not reference ${object}`;
  return `volume kind ${kind} is not supported by this agent yet; supported: emptyDir, hostPath, downwardAPI`;
}

function projectedObject(volume: Volume): string | undefined {
  for (const source of volume.projected?.sources ?? []) {
    if (source.secret) return 'secrets (via projected volumes)';
    if (source.configMap) return 'configmaps (via projected volumes)';
    if (source.serviceAccountToken) return 'serviceaccounts (via projected volumes)';
    if (source.clusterTrustBundle) return 'clustertrustbundles';
    if (source.podCertificate) return 'podcertificates';
  }
  return undefined;
}

/** In memory the size is bounded by the node, the pod's memory limit and `sizeLimit`, whichever is least. */
function emptyDirSetup(pod: Pod, { name, emptyDir }: Volume, settings: NodeSettings): VolumeSetup {
  const medium = emptyDir?.medium ?? '';
  const asked = units(amountsOf({ size: emptyDir?.sizeLimit ?? '0' })['size']);
  if (medium !== 'Memory') {
    return asked > 0 ? { name, kind: 'emptyDir', medium, sizeLimitBytes: asked } : { name, kind: 'emptyDir', medium };
  }
  const bounds = [settings.allocatable.memoryBytes, podCgroup(pod, settings).memoryLimitBytes ?? 0, asked];
  return { name, kind: 'emptyDir', medium, sizeLimitBytes: Math.min(...bounds.filter((bytes) => bytes > 0)) };
}

function downwardSetup(
  pod: Pod,
  name: string,
  source: NonNullable<Volume['downwardAPI']>,
  settings: NodeSettings,
): VolumeSetup | string {
  const files = new Map<string, { path: string; content: string; mode: number }>();
  const faults: string[] = [];
  for (const { path, fieldRef, resourceFieldRef, mode } of source.items ?? []) {
    let found: FieldValue = { value: '' };
    if (fieldRef) found = metadataFieldValue(fieldRef.fieldPath, pod);
    else if (resourceFieldRef) found = volumeResourceValue(resourceFieldRef, pod, settings);
    if ('fault' in found) faults.push(found.fault);
    else
      files.set(cleanPath(path), {
        path: cleanPath(path),
        content: found.value,
        mode: mode ?? source.defaultMode ?? 0o644,
      });
  }
  if (faults.length > 0) return faults.length === 1 ? (faults[0] ?? '') : `[${faults.join(', ')}]`;
  return { name, kind: 'downwardAPI', files: [...files.values()] };
}

function cleanPath(path: string): string {
  return path
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/');
}
