import type { Container, Pod, Volume } from '../protocol/api-types.ts';
import { behaves } from '../protocol/behaviour.ts';
import type { CriDevice, CriImageSpec, CriMount } from '../protocol/cri-shapes.ts';
import type { ContainerPreparation } from '../protocol/effects.ts';
import type { NodeSettings } from '../protocol/node-settings.ts';
import { absolutePath } from '../values/absolute-path.ts';
import { configError } from './config-error.ts';
import type { Failed } from './config-error.ts';
import type { EnvEntry } from '../protocol/cri-shapes.ts';
import type { VolumeTraits } from '../protocol/volume-traits.ts';
import { expand, orTooLong } from './expansion.ts';

const HOSTS = '/etc/hosts';
const PROPAGATION = new Map<string, 0 | 1 | 2>([
  ['None', 0],
  ['HostToContainer', 1],
  ['Bidirectional', 2],
]);
type MountSettings = Pick<NodeSettings, 'runtimeFeatures' | 'selinux' | 'behaviour'>;
type VolumeMount = NonNullable<Container['volumeMounts']>[number];

/** Key of a subPath mount in `host.PrepareContainer`; the worker finds what its folder is called (a volume of a claim is named by its PV there). */
function subPathKey(container: Container, mountIndex: number, volume: string): string {
  return `${volume}/${container.name}/${mountIndex}`;
}

/** Is `/etc/hosts` written and mounted by the agent? Not where the container mounts its own, nor before the pod has an address. */
function mountsHostsFile(pod: Pod, container: Container, podIPs: readonly string[]): boolean {
  if (podIPs.length === 0 && !pod.spec?.hostNetwork) return false;
  return !(container.volumeMounts ?? []).some((mount) => mount.mountPath === HOSTS);
}

/**
 * The subPath mounts of a container, expanded from its environment and checked, for `host.PrepareContainer`. Without
 * an environment (null) expressions stay as they are, for the worker to expand.
 */
export function subPathMounts(
  pod: Pod,
  container: Container,
  envs: readonly EnvEntry[] | null,
  volumePaths: Record<string, string>,
): { subPaths: ContainerPreparation['subPaths'] } | Failed {
  const subPaths: ContainerPreparation['subPaths'] = [];
  for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
    const found = subPathOf(mount, envs);
    if ('error' in found) return found;
    if (isImage(pod, mount.name)) {
      const key = subPathKey(container, index, mount.name);
      if (found.expand)
        subPaths.push({ key, volumePath: '', subPath: found.subPath, readOnly: true, expand: true, ofImage: true });
      continue;
    }
    const volumePath = pathOf(volumePaths, mount.name);
    if (volumePath === undefined) return noVolume(mount.name, 'mount', container);
    if (found.subPath === '') continue;
    subPaths.push({
      key: subPathKey(container, index, mount.name),
      volumePath,
      subPath: found.subPath,
      readOnly: isReadOnly(pod, mount),
      ...(found.expand && { expand: true as const }),
    });
  }
  return { subPaths };
}

/** Where things are on the host, as the effects before CreateContainer reported them. */
export interface MountPaths {
  /** By volume name. */
  volumePaths: Record<string, string>;
  volumeTraits?: VolumeTraits;
  /** Images of the pod's image volumes that the container mounts, by volume name. */
  imageVolumes?: Record<string, CriImageSpec>;
  /** By {@link subPathKey}. */
  subPaths: Record<string, string>;
  /** Host side of `/etc/hosts`, where {@link mountsHostsFile}. */
  hostsPath?: string | null;
  /** Host side of the termination message file. */
  terminationLogPath: string;
}

/** All mounts of a container: its volumes, `/etc/hosts`, the termination message file. `envs` as in {@link subPathMounts}. */
export function containerMounts(
  pod: Pod,
  container: Container,
  envs: readonly EnvEntry[] | null,
  podIPs: readonly string[],
  paths: MountPaths,
  settings: MountSettings,
): { mounts: CriMount[] } | Failed {
  const mounts: CriMount[] = [];
  for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
    const made = volumeMount(pod, container, mount, index, envs, paths, settings);
    if ('error' in made) return made;
    mounts.push(made);
  }
  const relabel = settings.selinux === true;
  if (paths.hostsPath && mountsHostsFile(pod, container, podIPs))
    mounts.push(plainMount(paths.hostsPath, HOSTS, relabel));
  const written = terminationMessagePath(container);
  const clean = behaves(settings, 'mountPathsAreClean') ? absolutePath(written) : absolute(written, settings);
  mounts.push(plainMount(paths.terminationLogPath, clean, relabel));
  return { mounts };
}

/** Where the container writes its termination message: `/dev/termination-log` by default. */
export function terminationMessagePath(container: Container): string {
  return container.terminationMessagePath || '/dev/termination-log';
}

/** Is the mount read-only, and all below it? Fails for what the runtime or the mount cannot do (KEP-3857). */
export function recursiveReadOnly(mount: VolumeMount, supported: boolean): { recursive: boolean } | { fault: string } {
  const mode = mount.recursiveReadOnly ?? 'Disabled';
  if (mode === 'Disabled') return { recursive: false };
  const asked = `volume "${mount.name}" requested recursive read-only mode, but it is`;
  if (!mount.readOnly) return { fault: `${asked} not read-only` };
  if (mount.mountPropagation !== undefined && mount.mountPropagation !== 'None') {
    return { fault: `${asked} not compatible with propagation "${mount.mountPropagation}"` };
  }
  if (mode === 'IfPossible') return { recursive: supported };
  if (mode !== 'Enabled') return { fault: `unknown recursive read-only mode "${mode}"` };
  return supported ? { recursive: true } : { fault: `${asked} not supported by the runtime` };
}

function volumeMount(
  pod: Pod,
  container: Container,
  mount: VolumeMount,
  index: number,
  envs: readonly EnvEntry[] | null,
  paths: MountPaths,
  settings: MountSettings,
): CriMount | Failed {
  const sub = subPathOf(mount, envs);
  if ('error' in sub) return sub;
  if (isImage(pod, mount.name)) return imageMount(container, mount, index, sub, paths, settings);
  const volumePath = pathOf(paths.volumePaths, mount.name);
  if (volumePath === undefined) return noVolume(mount.name, 'mount', container);
  const hostPath = sub.subPath === '' ? volumePath : paths.subPaths[subPathKey(container, index, mount.name)];
  if (hostPath === undefined) {
    return configError(`failed to prepare subPath for volumeMount "${mount.name}" of container "${container.name}"`);
  }
  const made = withModes(mount, hostPath, settings);
  if ('error' in made) return made;
  const selinuxRelabel = settings.selinux === true && isRelabelled(pod, mount.name, paths.volumeTraits, settings);
  return { ...made, readonly: isReadOnly(pod, mount), selinuxRelabel };
}

/** A volume of which the runtime mounts the image (KEP-4639): always read-only, its sub path is found in the image. */
function imageMount(
  container: Container,
  mount: VolumeMount,
  index: number,
  sub: { subPath: string; expand?: boolean },
  paths: MountPaths,
  settings: MountSettings,
): CriMount | Failed {
  const { withoutImageVolumes } = settings.runtimeFeatures;
  if (withoutImageVolumes !== undefined)
    return configError(
      `volume "${mount.name}" is an image, which container runtime ${withoutImageVolumes} cannot mount: containerd 2.1 and CRI-O 1.31 can`,
    );
  const image = Object.hasOwn(paths.imageVolumes ?? {}, mount.name) ? paths.imageVolumes?.[mount.name] : undefined;
  const subPath = sub.expand ? paths.subPaths[subPathKey(container, index, mount.name)] : sub.subPath;
  if (image === undefined || subPath === undefined) return noVolume(mount.name, 'mount', container);
  const made = withModes(mount, '', settings);
  if ('error' in made) return made;
  return { ...made, readonly: true, image, ...(subPath !== '' && { imageSubPath: subPath }) };
}

function withModes(mount: VolumeMount, hostPath: string, settings: MountSettings): CriMount | Failed {
  const propagation = PROPAGATION.get(mount.mountPropagation ?? 'None');
  if (propagation === undefined) return configError(`invalid MountPropagation mode: "${mount.mountPropagation}"`);
  const rro = recursiveReadOnly(mount, settings.runtimeFeatures.recursiveReadOnlyMounts);
  if ('fault' in rro) return configError(`failed to resolve recursive read-only mode: ${rro.fault}`);
  const made: CriMount = { ...plainMount(hostPath, absolute(mount.mountPath, settings)), propagation };
  if (rro.recursive) made.recursiveReadOnly = true;
  return made;
}

function isImage(pod: Pod, volume: string): boolean {
  return pod.spec?.volumes?.some((v) => v.name === volume && v.image !== undefined) ?? false;
}

function plainMount(hostPath: string, containerPath: string, selinuxRelabel = false): CriMount {
  return { containerPath, hostPath, readonly: false, selinuxRelabel, propagation: 0 };
}

/** With SELinux the runtime labels a volume that is the pod's own, or whose plugin says so; what is the node's (hostPath) keeps its labels. */
function isRelabelled(pod: Pod, name: string, traits: VolumeTraits | undefined, settings: MountSettings): boolean {
  if (traits?.relabelled?.includes(name)) return true;
  const volume = pod.spec?.volumes?.find((v) => v.name === name);
  if (volume?.gitRepo !== undefined && behaves(settings, 'gitReposAreRelabelled')) return true;
  return volume !== undefined && (volume.emptyDir !== undefined || isReadOnlyKind(volume));
}

function subPathOf(
  mount: VolumeMount,
  envs: readonly EnvEntry[] | null,
): { subPath: string; expand?: boolean } | Failed {
  let subPath = mount.subPath ?? '';
  if (mount.subPathExpr) {
    if (envs === null) return { subPath: mount.subPathExpr, expand: true };
    const expanded = expandSubPath(mount.subPathExpr, envs);
    if ('fault' in expanded) return configError(expanded.fault);
    subPath = expanded.subPath;
  }
  if (subPath.startsWith('/')) return configError(`error SubPath \`${subPath}\` must not be an absolute path`);
  if (subPath.split('/').includes('..')) {
    return configError(`unable to provision SubPath \`${subPath}\`: must not contain '..'`);
  }
  return { subPath };
}

/** A `subPathExpr` with `$(NAME)` replaced; every name must have a value that is not empty. */
export function expandSubPath(expression: string, envs: readonly EnvEntry[]): { subPath: string } | { fault: string } {
  const values = new Map(envs.map(({ key, value }) => [key, value]));
  const missing = new Set<string>();
  const valueOf = (name: string): string => {
    const value = values.get(name) ?? '';
    if (value === '') missing.add(name);
    return value;
  };
  const subPath = orTooLong(
    () => expand(expression, valueOf),
    (fault) => ({ fault }),
  );
  if (typeof subPath === 'object') return subPath;
  return missing.size > 0 ? { fault: `missing value for ${[...missing].sort().join(', ')}` } : { subPath };
}

function isReadOnly(pod: Pod, mount: VolumeMount): boolean {
  const volume = pod.spec?.volumes?.find((v) => v.name === mount.name);
  return mount.readOnly === true || (volume !== undefined && (isReadOnlyKind(volume) || isReadOnlySource(volume)));
}

/** The source says that nobody writes to the volume, whatever mounts of it say. */
function isReadOnlySource({ persistentVolumeClaim, nfs, csi, iscsi, fc, flexVolume }: Volume): boolean {
  return [persistentVolumeClaim, nfs, csi, iscsi, fc, flexVolume].some((source) => source?.readOnly === true);
}

/** The block volumes of a container, as devices. */
export function containerDevices(
  pod: Pod,
  container: Container,
  volumePaths: Record<string, string>,
  settings: NodeSettings,
): { devices: CriDevice[] } | Failed {
  const devices: CriDevice[] = [];
  for (const { name, devicePath } of container.volumeDevices ?? []) {
    if (!devicePath.startsWith('/') && behaves(settings, 'devicePathsAreAbsolute'))
      return configError(`error DevicePath \`${devicePath}\` must be an absolute path`);
    const hostPath = pathOf(volumePaths, name);
    if (hostPath === undefined) return noVolume(name, 'pass', container);
    const volume = pod.spec?.volumes?.find((each) => each.name === name);
    const permissions = volume !== undefined && isReadOnlySource(volume) ? 'r' : 'mrw';
    devices.push({ containerPath: devicePath, hostPath, permissions });
  }
  return { devices };
}

/** Volumes that the agent fills: a container may never write to them. */
function isReadOnlyKind(volume: Volume): boolean {
  return Boolean(volume.downwardAPI ?? volume.configMap ?? volume.secret ?? volume.projected);
}

/** A volume may be called `constructor`: only own keys count. */
function pathOf(paths: Record<string, string>, volume: string): string | undefined {
  return Object.hasOwn(paths, volume) ? paths[volume] : undefined;
}

function noVolume(volume: string, what: 'mount' | 'pass', container: Container): Failed {
  return configError(`cannot find volume "${volume}" to ${what} into container "${container.name}"`);
}

/** Where something is mounted: a path that has a root stays as it was written (kubelet makeMounts). */
function absolute(path: string, settings: MountSettings): string {
  if (path.startsWith('/')) return path;
  return behaves(settings, 'mountPathsAreClean') ? absolutePath(path) : `/${path}`;
}
