import { appArmorProfile } from '../container-config/security-profiles.ts';
import type { Container, Pod } from '../protocol/api-types.ts';
import type { Rejection } from './rejection.ts';

const ANNOTATION = 'container.apparmor.security.beta.kubernetes.io/';

/**
 * Can the node confine the pod as it wants? Asked only before its start. `enabled`: the kernel has AppArmor on
 * (`/sys/kernel/security/apparmor` is there and `/sys/module/apparmor/parameters/enabled` begins with `Y`).
 */
export function checkAppArmor(pod: Pod, enabled: boolean): Rejection | null {
  if (pod.status?.phase !== 'Pending' || !wantsProfile(pod)) return null;
  if (!enabled) return refuse('AppArmor is not enabled on the host');
  for (const container of containersOf(pod)) {
    const answer = appArmorProfile(pod, container);
    const own = 'profile' in answer ? answer.profile : undefined;
    if (own?.profileType === 2 && !own.localhostRef?.trim()) return refuse(emptyName(own.localhostRef));
    if ('error' in answer && isNameless(pod, container)) return refuse(emptyName(undefined));
  }
  return null;
}

function refuse(why: string): Rejection {
  return { admit: false, reason: 'AppArmor', message: `Cannot enforce AppArmor: ${why}` };
}

/** As the Go type prints itself, in quotes. */
function emptyName(name: string | undefined): string {
  const shown = name === undefined ? 'nil' : `*${name}`;
  const printed = `&AppArmorProfile{Type:Localhost,LocalhostProfile:${shown},}`;
  return `invalid empty AppArmor profile name: ${JSON.stringify(printed)}`;
}

function isNameless(pod: Pod, container: Container): boolean {
  const own = container.securityContext?.appArmorProfile ?? pod.spec?.securityContext?.appArmorProfile;
  return own?.type === 'Localhost' && own.localhostProfile === undefined;
}

function wantsProfile(pod: Pod): boolean {
  const confines = (profile: { type: string } | undefined): boolean => !!profile && profile.type !== 'Unconfined';
  if (confines(pod.spec?.securityContext?.appArmorProfile)) return true;
  if (containersOf(pod).some((each) => confines(each.securityContext?.appArmorProfile))) return true;
  return Object.entries(pod.metadata?.annotations ?? {}).some(
    ([key, value]) => key.startsWith(ANNOTATION) && value !== 'unconfined',
  );
}

function containersOf(pod: Pod): Container[] {
  const { initContainers = [], containers = [], ephemeralContainers = [] } = pod.spec ?? {};
  return [...initContainers, ...containers, ...ephemeralContainers];
}
