import type { Container, Pod } from '../protocol/api-types.ts';
import type { ValidationGates } from './environment.ts';
import { descendingPath } from './names.ts';
import { duplicate, forbidden, invalid, notSupported, type Problems, rangeRule, required, tooLong } from './problem.ts';

type Spec = NonNullable<Pod['spec']>;
type PodSecurity = NonNullable<Spec['securityContext']>;
type ContainerSecurity = NonNullable<Container['securityContext']>;
type Profile = NonNullable<PodSecurity['seccompProfile']>;

const MAX_ID = 2 ** 31 - 1;
const PROFILE_TYPES = ['Localhost', 'RuntimeDefault', 'Unconfined'];
const SYSCTL = '^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$';

function* id(field: string, value: number | undefined): Problems {
  if (value !== undefined && (value < 0 || value > MAX_ID)) yield invalid(field, value, rangeRule(0, MAX_ID));
}

function* enumerated(field: string, value: string | undefined, supported: readonly string[]): Problems {
  if (value !== undefined && !supported.includes(value)) yield notSupported(field, value, supported);
}

function* seccomp(field: string, profile: Profile | undefined): Problems {
  if (!profile) return;
  if (!profile.type) yield required(`${field}.type`, 'type is required when seccompProfile is set');
  else yield* enumerated(`${field}.type`, profile.type, PROFILE_TYPES);
  const local = profile.localhostProfile;
  if (profile.type === 'Localhost') {
    if (local === undefined) yield required(`${field}.localhostProfile`, 'must be set when seccomp type is Localhost');
    else yield* descendingPath(`${field}.localhostProfile`, local);
  } else if (local !== undefined) {
    yield invalid(`${field}.localhostProfile`, local, 'can only be set when seccomp type is Localhost');
  }
}

function* appArmor(field: string, profile: Profile | undefined): Problems {
  if (!profile) return;
  if (!profile.type) yield required(`${field}.type`, 'type is required when appArmorProfile is set');
  else yield* enumerated(`${field}.type`, profile.type, PROFILE_TYPES);
  const local = profile.localhostProfile;
  const at = `${field}.localhostProfile`;
  if (profile.type === 'Localhost') {
    if (!local?.trim()) yield required(at, 'must be set when AppArmor type is Localhost');
    else if (local !== local.trim()) yield invalid(at, local, 'must not be padded with whitespace');
    if (local && local.length > 4095) yield tooLong(at, 4095);
  } else if (local !== undefined) yield invalid(at, local, 'can only be set when AppArmor type is Localhost');
}

/** `securityContext` of a container. */
export function* containerSecurity(field: string, context: ContainerSecurity | undefined, spec: Spec): Problems {
  if (!context) return;
  yield* id(`${field}.runAsUser`, context.runAsUser);
  yield* id(`${field}.runAsGroup`, context.runAsGroup);
  yield* enumerated(`${field}.procMount`, context.procMount, ['Default', 'Unmasked']);
  if (context.procMount === 'Unmasked' && spec.hostUsers !== false) {
    yield invalid(`${field}.procMount`, context.procMount, '`hostUsers` must be false to use `Unmasked`');
  }
  yield* seccomp(`${field}.seccompProfile`, context.seccompProfile);
  if (context.allowPrivilegeEscalation === false) {
    const start = 'cannot set `allowPrivilegeEscalation` to false and';
    if (context.privileged) yield invalid(field, context, `${start} \`privileged\` to true`);
    if (context.capabilities?.add?.includes('CAP_SYS_ADMIN')) {
      yield invalid(field, context, `${start} \`capabilities.Add\` CAP_SYS_ADMIN`);
    }
  }
  yield* appArmor(`${field}.appArmorProfile`, context.appArmorProfile);
}

function* sysctls(field: string, context: PodSecurity, spec: Spec): Problems {
  const names = new Set<string>();
  for (const [i, { name }] of (context.sysctls ?? []).entries()) {
    const at = `${field}[${i}].name`;
    if (!name) yield required(at);
    // eslint-disable-next-line no-restricted-syntax -- a constant, and the text is short
    else if (name.length > 253 || !new RegExp(SYSCTL).test(name)) {
      yield invalid(at, name, `must have at most 253 characters and match regex ${SYSCTL}`);
    } else if (names.has(name)) yield duplicate(at, name);
    names.add(name);
    const dotted = (name ?? '').replaceAll('/', '.');
    if (spec.hostNetwork && dotted.startsWith('net.')) {
      yield invalid(at, name, "may not be specified when 'hostNetwork' is true");
    }
    if (spec.hostIPC && /^(kernel\.(shm|msg|sem)|fs\.mqueue\.)/.test(dotted)) {
      yield invalid(at, name, "may not be specified when 'hostIPC' is true");
    }
  }
}

/** `spec.securityContext`, and the host namespaces that exclude each other. */
export function* podSecurity(spec: Spec, { userNamespacesHostNetwork = false }: ValidationGates): Problems {
  const field = 'spec.securityContext';
  const context = spec.securityContext ?? {};
  yield* id(`${field}.fsGroup`, context.fsGroup);
  yield* id(`${field}.runAsUser`, context.runAsUser);
  yield* id(`${field}.runAsGroup`, context.runAsGroup);
  for (const [i, group] of (context.supplementalGroups ?? []).entries())
    yield* id(`${field}.supplementalGroups[${i}]`, group);
  yield* sysctls(`${field}.sysctls`, context, spec);
  yield* enumerated(`${field}.fsGroupChangePolicy`, context.fsGroupChangePolicy, ['Always', 'OnRootMismatch']);
  yield* enumerated(`${field}.supplementalGroupsPolicy`, context.supplementalGroupsPolicy, ['Merge', 'Strict']);
  yield* enumerated(`${field}.seLinuxChangePolicy`, context.seLinuxChangePolicy, ['MountOption', 'Recursive']);
  yield* seccomp(`${field}.seccompProfile`, context.seccompProfile);
  yield* appArmor(`${field}.appArmorProfile`, context.appArmorProfile);
  if (spec.shareProcessNamespace && spec.hostPID) {
    yield invalid('spec.shareProcessNamespace', true, 'ShareProcessNamespace and HostPID cannot both be enabled');
  }
  if (spec.hostUsers === false) {
    for (const name of ['hostNetwork', 'hostPID', 'hostIPC'] as const) {
      if (name === 'hostNetwork' && userNamespacesHostNetwork) continue;
      if (spec[name]) yield forbidden(`spec.${name}`, 'when `hostUsers` is false');
    }
  }
}
