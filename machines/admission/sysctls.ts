import type { Pod } from '../protocol/api-types.ts';
import { normalSysctl, sysctlNamespace } from '../sandbox-config/sysctl-name.ts';
import type { Rejection } from './rejection.ts';

/** Sysctls that every pod may set, and the kernel from which on they belong to a namespace. */
const SAFE: [name: string, kernel: readonly [number, number]][] = [
  ['kernel.shm_rmid_forced', [0, 0]],
  ['net.ipv4.ip_local_port_range', [0, 0]],
  ['net.ipv4.tcp_syncookies', [0, 0]],
  ['net.ipv4.ping_group_range', [0, 0]],
  ['net.ipv4.ip_unprivileged_port_start', [0, 0]],
  ['net.ipv4.ip_local_reserved_ports', [3, 16]],
  ['net.ipv4.tcp_keepalive_time', [4, 5]],
  ['net.ipv4.tcp_fin_timeout', [4, 6]],
  ['net.ipv4.tcp_keepalive_intvl', [4, 5]],
  ['net.ipv4.tcp_keepalive_probes', [4, 5]],
  ['net.ipv4.tcp_rmem', [4, 15]],
  ['net.ipv4.tcp_wmem', [4, 15]],
];

/** Names of sysctls that every pod may set with a kernel (`uname -r`); those of any age when it is not known. */
export function safeSysctls(kernelVersion: string | undefined): string[] {
  const [, major = 0, minor = 0] = (/^(\d+)\.(\d+)/.exec(kernelVersion ?? '') ?? []).map(Number);
  return SAFE.filter(([, [a, b]]) => major > a || (major === a && minor >= b)).map(([name]) => name);
}

/** May the pod set its sysctls? `allowed` are names or patterns ending in `*` (`allowedUnsafeSysctls`, safe ones). */
export function checkSysctls(pod: Pod, allowed: () => readonly string[]): Rejection | null {
  const sysctls = pod.spec?.securityContext?.sysctls ?? [];
  for (const { name } of sysctls) {
    const problem = sysctlProblem(pod, normalSysctl(name), allowed());
    if (problem) return { admit: false, reason: 'SysctlForbidden', message: `forbidden sysctl: ${problem}` };
  }
  return null;
}

function sysctlProblem(pod: Pod, name: string, allowed: readonly string[]): string | null {
  const namespace = allowedNamespace(name, allowed);
  if (namespace === undefined) return `${JSON.stringify(name)} not allowlisted`;
  // In the node's own namespace it would change the node.
  const shared = namespace === 'IPC' ? pod.spec?.hostIPC : namespace === 'Net' && pod.spec?.hostNetwork;
  return shared ? `${JSON.stringify(name)} not allowed with host ${namespace} enabled` : null;
}

/** Namespace by the entry that allows the sysctl: an equal name before patterns. '' when the entry has none. */
function allowedNamespace(name: string, allowed: readonly string[]): 'IPC' | 'Net' | '' | undefined {
  let byPattern: 'IPC' | 'Net' | '' | undefined;
  for (const entry of allowed) {
    const normal = normalSysctl(entry);
    const star = normal.indexOf('*');
    if (star === -1) {
      if (normal === name) return sysctlNamespace(normal) ?? '';
    } else if (byPattern === undefined && name.startsWith(normal.slice(0, star))) {
      byPattern = sysctlNamespace(normal.slice(0, star)) ?? '';
    }
  }
  return byPattern;
}
