import { normalSysctl } from './sysctl-name.ts';
import type { Pod } from '../protocol/api-types.ts';
import { behaves } from '../protocol/behaviour.ts';
import type { LinuxSandboxSecurityContext, SandboxConfig } from '../protocol/cri-shapes.ts';
import type { HostResolver, NodeSettings } from '../protocol/node-settings.ts';
import { cgroupParent } from '../qos/pod-cgroup.ts';
import { podLimits, podRequests } from '../qos/pod-resources.ts';
import { amountsOf } from '../qos/resource-amounts.ts';
import type { VolumeTraits } from '../protocol/volume-traits.ts';
import { podDns } from './dns.ts';
import type { PodWarning } from './dns.ts';
import { extraGroups } from './extra-groups.ts';
import { linuxResources } from './linux-resources.ts';
import { kernelHostname } from './pod-hostname.ts';
import { podIdentity, podLogDirectory } from './pod-identity.ts';
import { podNamespaces } from './pod-namespaces.ts';
import { LABEL } from '../protocol/runtime-labels.ts';
import { entryOf } from '../values/entry-of.ts';
import { isIPv6 } from './pod-ips.ts';

/**
 * The CRI config of a pod's sandbox, as the kubelet makes it. Ask {@link sandboxConfigError} first: with an
 * invalid host name this one has none. `attempt`: 0 for the first sandbox, one more for each later one. `found`: its volumes' traits,
 * and the node's resolver as it is now.
 */
export function sandboxConfig(
  pod: Pod,
  attempt: number,
  settings: NodeSettings,
  found: { traits?: VolumeTraits | undefined; resolver?: HostResolver | undefined } = {},
): SandboxConfig {
  const { traits, resolver } = found;
  const { name, namespace, uid } = podIdentity(pod);
  const hostname = pod.spec?.hostNetwork ? { hostname: '' } : kernelHostname(pod, settings.clusterDomain);
  return {
    metadata: { name, uid, namespace, attempt },
    hostname: 'error' in hostname ? '' : hostname.hostname,
    logDirectory: podLogDirectory(pod, settings.podLogsDir),
    dnsConfig: podDns(pod, settings, resolver).dns,
    portMappings: portMappings(pod),
    labels: {
      ...pod.metadata?.labels,
      [LABEL.podName]: name,
      [LABEL.podNamespace]: namespace,
      [LABEL.podUid]: uid,
    },
    annotations: { ...pod.metadata?.annotations },
    linux: sandboxLinux(pod, settings, traits),
  };
}

/** Why no sandbox can be made of this pod, as event `FailedCreatePodSandBox` ends; null when one can be made. */
export function sandboxConfigError(pod: Pod, settings: Pick<NodeSettings, 'clusterDomain'>): string | null {
  if (pod.spec?.hostNetwork) return null;
  const hostname = kernelHostname(pod, settings.clusterDomain);
  return 'error' in hostname ? hostname.error : null;
}

/** Warning events that go with the sandbox's config: `MissingClusterDNS`, `DNSConfigForming`. */
export function sandboxWarnings(pod: Pod, settings: NodeSettings, resolver?: HostResolver): PodWarning[] {
  return podDns(pod, settings, resolver).warnings;
}

function sandboxLinux(pod: Pod, settings: NodeSettings, traits: VolumeTraits | undefined): SandboxConfig['linux'] {
  const requests = podRequests(pod, { excludeOverhead: true });
  const limits = podLimits(pod, { excludeOverhead: true });
  const linux: SandboxConfig['linux'] = {
    cgroupParent: cgroupParent(pod, settings),
    securityContext: sandboxSecurity(pod, traits),
    sysctls: sandboxSysctls(pod, settings),
    resources: linuxResources(
      { cpuRequest: requests['cpu'], cpuLimit: limits['cpu'], memoryLimit: limits['memory'] },
      settings,
    ),
  };
  if (pod.spec?.overhead) {
    const { cpu = 0n, memory = 0n } = amountsOf(pod.spec.overhead);
    linux.overhead = linuxResources({ cpuRequest: cpu, cpuLimit: cpu, memoryLimit: memory }, settings);
  }
  return linux;
}

/** By the names with dots, since not every runtime knows those with slashes (`kernel/shm_rmid_forced`). */
function sandboxSysctls(pod: Pod, settings: Pick<NodeSettings, 'behaviour'>): Record<string, string> {
  const nameOf = behaves(settings, 'dottedSysctls') ? normalSysctl : (name: string): string => name;
  const sysctls = pod.spec?.securityContext?.sysctls ?? [];
  return Object.fromEntries(sysctls.map(({ name, value }) => [nameOf(name), value]));
}

function sandboxSecurity(pod: Pod, traits: VolumeTraits | undefined): LinuxSandboxSecurityContext {
  const spec = pod.spec;
  const sc = spec?.securityContext ?? {};
  const containers = [
    ...(spec?.initContainers ?? []),
    ...(spec?.containers ?? []),
    ...(spec?.ephemeralContainers ?? []),
  ];
  // Those of volumes count here only for a pod that says how it is to run (kubelet).
  const extra = spec?.securityContext === undefined ? [] : extraGroups(pod, traits);
  const groups = [...(sc.fsGroup === undefined ? [] : [sc.fsGroup]), ...extra, ...(sc.supplementalGroups ?? [])];
  const security: LinuxSandboxSecurityContext = {
    namespaceOptions: podNamespaces(pod),
    privileged: containers.some((c) => c.securityContext?.privileged === true),
    // Always the runtime's default: a pod-level profile is for its containers, the pause process needs nothing.
    seccomp: { profileType: 0 },
    supplementalGroups: groups.map(String),
  };
  if (sc.runAsUser !== undefined) security.runAsUser = { value: String(sc.runAsUser) };
  if (sc.runAsGroup !== undefined) security.runAsGroup = { value: String(sc.runAsGroup) };
  if (sc.supplementalGroupsPolicy) security.supplementalGroupsPolicy = sc.supplementalGroupsPolicy === 'Strict' ? 1 : 0;
  if (sc.seLinuxOptions) {
    const { user = '', role = '', type = '', level = '' } = sc.seLinuxOptions;
    security.selinuxOptions = { user, role, type, level };
  }
  return security;
}

const PROTOCOLS: Record<string, 0 | 1 | 2> = { TCP: 0, UDP: 1, SCTP: 2 };

/** The ports of the regular containers; one that repeats within a container (by name, or by all its values) counts once. */
function portMappings(pod: Pod): SandboxConfig['portMappings'] {
  const out: SandboxConfig['portMappings'] = [];
  for (const container of pod.spec?.containers ?? []) {
    const seen = new Set<string>();
    for (const { name, containerPort, hostPort = 0, hostIP = '', protocol = 'TCP' } of container.ports ?? []) {
      const family = hostIP === '' ? 'any' : isIPv6(hostIP) ? 'v6' : 'v4';
      const key = name || `${family}-${protocol}-${hostIP}:${containerPort}:${hostPort}`;
      if (seen.has(key)) continue;
      seen.add(key);
      out.push({ protocol: entryOf(PROTOCOLS, protocol) ?? 0, containerPort, hostPort, hostIp: hostIP });
    }
  }
  return out;
}
