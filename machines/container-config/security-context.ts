import type { Container, Pod } from '../protocol/api-types.ts';
import { behaves } from '../protocol/behaviour.ts';
import { NamespaceMode } from '../protocol/cri-shapes.ts';
import type { LinuxContainerSecurityContext } from '../protocol/cri-shapes.ts';
import type { ImagePresent } from '../protocol/effects.ts';
import type { NodeSettings } from '../protocol/node-settings.ts';
import type { VolumeTraits } from '../protocol/volume-traits.ts';
import { extraGroups } from '../sandbox-config/extra-groups.ts';
import { formatPod } from '../sandbox-config/pod-identity.ts';
import { podNamespaces } from '../sandbox-config/pod-namespaces.ts';
import { configError } from './config-error.ts';
import type { Failed } from './config-error.ts';
import { appArmorProfile, oldAppArmorName, seccompProfile } from './security-profiles.ts';

type ContainerSecurity = NonNullable<Container['securityContext']>;

const MASKED_PATHS = [
  '/proc/asound',
  '/proc/acpi',
  '/proc/interrupts',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/proc/sched_debug',
  '/proc/scsi',
  '/sys/firmware',
  '/sys/devices/virtual/powercap',
];
const READONLY_PATHS = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'];
const MAX_UID = 2 ** 31 - 1;

/** The container's settings over those of the pod that a container inherits: user, group, non-root, SELinux. */
export function effectiveSecurity(pod: Pod, container: Container): ContainerSecurity {
  const { runAsUser, runAsGroup, runAsNonRoot, seLinuxOptions } = pod.spec?.securityContext ?? {};
  const out: Record<string, unknown> = { runAsUser, runAsGroup, runAsNonRoot, seLinuxOptions };
  for (const [key, value] of Object.entries(container.securityContext ?? {})) if (value !== undefined) out[key] = value;
  return out;
}

/** Why `runAsNonRoot` forbids this container with this image's user; null when it may run. */
export function runAsNonRootFault(pod: Pod, container: Container, image: ImagePresent): string | null {
  const security = effectiveSecurity(pod, container);
  if (security.runAsNonRoot !== true) return null;
  const where = `(pod: "${formatPod(pod)}", container: ${container.name})`;
  if (security.runAsUser !== undefined) {
    return security.runAsUser === 0 ? `container's runAsUser breaks non-root policy ${where}` : null;
  }
  const { uid, username } = imageUser(image);
  if (uid === null) {
    return `container has runAsNonRoot and image has non-numeric user (${username}), cannot verify user is non-root ${where}`;
  }
  if (uid === 0) return `container has runAsNonRoot and image will run as root ${where}`;
  if (uid > 0 && uid <= MAX_UID) return null;
  return `container has runAsNonRoot and image has an invalid user id (${uid}). (Must be 1-(${MAX_UID})): must be between 0 and ${MAX_UID}, inclusive ${where}`;
}

/** An image that names no user runs as root. */
function imageUser({ uid, username }: ImagePresent): { uid: number | null; username: string } {
  if (uid !== null) return { uid, username: '' };
  return username === '' ? { uid: 0, username } : { uid: null, username };
}

/**
 * The CRI security context of a container.
 *
 * @param more `targetId`: the container whose process namespace an ephemeral container joins, where the pod's containers do not share one anyway;
 *   `volumeTraits`: what is known of the pod's volumes
 */
export function containerSecurity(
  pod: Pod,
  container: Container,
  image: ImagePresent,
  settings: NodeSettings,
  { targetId, volumeTraits }: { targetId?: string; volumeTraits?: VolumeTraits } = {},
): { security: LinuxContainerSecurityContext } | Failed {
  const effective = effectiveSecurity(pod, container);
  const seccomp = seccompProfile(pod, container, settings);
  if ('error' in seccomp) return seccomp;
  const apparmor = appArmorProfile(pod, container);
  if ('error' in apparmor) return apparmor;
  const groups = supplementalGroups(pod, volumeTraits);
  if ('error' in groups) return groups;
  const unmasked = effective.procMount === 'Unmasked';
  const security: LinuxContainerSecurityContext = {
    privileged: effective.privileged === true,
    namespaceOptions: podNamespaces(pod),
    readonlyRootfs: effective.readOnlyRootFilesystem === true,
    supplementalGroups: groups.ids,
    noNewPrivs: effective.allowPrivilegeEscalation === false,
    maskedPaths: unmasked ? [] : [...MASKED_PATHS, ...(settings.extraMaskedPaths ?? [])],
    readonlyPaths: unmasked ? [] : [...READONLY_PATHS],
    seccomp: seccomp.profile,
  };
  if (apparmor.profile) {
    security.apparmor = apparmor.profile;
    if (behaves(settings, 'profilesHaveOldNames')) security.apparmorProfile = oldAppArmorName(apparmor.profile);
  }
  if (groups.policy !== undefined) security.supplementalGroupsPolicy = groups.policy;
  if (effective.capabilities) {
    const { add = [], drop = [] } = effective.capabilities;
    security.capabilities = { addCapabilities: [...add], dropCapabilities: [...drop] };
  }
  if (effective.seLinuxOptions) {
    const { user = '', role = '', type = '', level = '' } = effective.seLinuxOptions;
    security.selinuxOptions = { user, role, type, level };
  }
  setUser(security, effective, image);
  if (targetId !== undefined && security.namespaceOptions.pid === NamespaceMode.CONTAINER) {
    security.namespaceOptions = { ...security.namespaceOptions, pid: NamespaceMode.TARGET, targetId };
  }
  return { security };
}

function setUser(security: LinuxContainerSecurityContext, effective: ContainerSecurity, image: ImagePresent): void {
  if (effective.runAsGroup !== undefined) security.runAsGroup = { value: String(effective.runAsGroup) };
  if (effective.runAsUser !== undefined) {
    security.runAsUser = { value: String(effective.runAsUser) };
    return;
  }
  const { uid, username } = imageUser(image);
  if (uid !== null) security.runAsUser = { value: String(uid) };
  if (username !== '') security.runAsUsername = username;
}

function supplementalGroups(pod: Pod, traits: VolumeTraits | undefined): { ids: string[]; policy?: 0 | 1 } | Failed {
  const { fsGroup, supplementalGroups: more = [], supplementalGroupsPolicy: policy } = pod.spec?.securityContext ?? {};
  const ids = [...(fsGroup === undefined ? [] : [fsGroup]), ...more, ...extraGroups(pod, traits)].map(String);
  if (policy === undefined) return { ids };
  if (policy === 'Merge') return { ids, policy: 0 };
  return policy === 'Strict' ? { ids, policy: 1 } : configError(`unsupported supplementalGroupsPolicy: ${policy}`);
}
