import type { Container, Pod } from '../protocol/api-types.ts';
import type { SecurityProfile } from '../protocol/cri-shapes.ts';
import type { NodeSettings } from '../protocol/node-settings.ts';
import { configError } from './config-error.ts';
import type { Failed } from './config-error.ts';

/** Deprecated annotation, still read because static pods carry it without the field. */
const APPARMOR_ANNOTATION = 'container.apparmor.security.beta.kubernetes.io/';

/** The container's seccomp profile, else the pod's, else none or (`seccompDefault`) the runtime's. */
export function seccompProfile(
  pod: Pod,
  container: Container,
  settings: Pick<NodeSettings, 'seccompDefault' | 'rootDir'>,
): { profile: SecurityProfile } | Failed {
  const own = container.securityContext?.seccompProfile ?? pod.spec?.securityContext?.seccompProfile;
  if (!own) return { profile: { profileType: settings.seccompDefault ? 0 : 1 } };
  if (own.type === 'RuntimeDefault') return { profile: { profileType: 0 } };
  if (own.type !== 'Localhost') return { profile: { profileType: 1 } };
  if (!own.localhostProfile) {
    return configError('localhostProfile must be set if seccompProfile type is Localhost.');
  }
  const localhostRef = `${settings.rootDir}/seccomp/${own.localhostProfile}`.replace(/\/+/g, '/');
  return { profile: { profileType: 2, localhostRef } };
}

/** The container's AppArmor profile: its field, its annotation, the pod's field; none when nothing says. */
export function appArmorProfile(pod: Pod, container: Container): { profile?: SecurityProfile } | Failed {
  const own =
    container.securityContext?.appArmorProfile ??
    annotatedProfile(pod, container.name) ??
    pod.spec?.securityContext?.appArmorProfile;
  if (!own) return {};
  switch (own.type) {
    case 'RuntimeDefault':
      return { profile: { profileType: 0 } };
    case 'Unconfined':
      return { profile: { profileType: 1 } };
    case 'Localhost':
      if (own.localhostProfile === undefined) return configError('missing localhost apparmor profile name');
      return { profile: { profileType: 2, localhostRef: own.localhostProfile } };
    default:
      return configError(`unknown apparmor profile type: "${own.type}"`);
  }
}

/** An AppArmor profile in the words of the annotation that was there before the field, as CRI's `apparmor_profile` has it. */
export function oldAppArmorName({ profileType, localhostRef = '' }: SecurityProfile): string {
  if (profileType === 0) return 'runtime/default';
  return profileType === 1 ? 'unconfined' : `localhost/${localhostRef}`;
}

function annotatedProfile(pod: Pod, name: string): { type: string; localhostProfile?: string } | undefined {
  const value = pod.metadata?.annotations?.[APPARMOR_ANNOTATION + name];
  if (value === 'runtime/default') return { type: 'RuntimeDefault' };
  if (value === 'unconfined') return { type: 'Unconfined' };
  return value?.startsWith('localhost/') ? { type: 'Localhost', localhostProfile: value.slice(10) } : undefined;
}
