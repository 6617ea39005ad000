import type { Pod } from '../protocol/api-types.ts';
import type { NodeSettings } from '../protocol/node-settings.ts';
import { podHostname } from '../sandbox-config/pod-hostname.ts';

const MANAGED = [
  '# Kubernetes-managed hosts file.',
  '127.0.0.1\tlocalhost',
  '::1\tlocalhost ip6-localhost ip6-loopback',
  'fe00::0\tip6-localnet',
  'fe00::0\tip6-mcastprefix',
  'fe00::1\tip6-allnodes',
  'fe00::2\tip6-allrouters',
];

/**
 * Content of the `/etc/hosts` that a pod's containers share: its addresses, name, FQDN and `hostAliases`; on the
 * host network the node's own file (`nodeHosts`) under the kubelet's header.
 */
export function hostsFile(
  pod: Pod,
  podIPs: readonly string[],
  settings: Pick<NodeSettings, 'clusterDomain' | 'nodeHosts'>,
  nodeHosts: string = settings.nodeHosts ?? '',
): string {
  if (pod.spec?.hostNetwork) {
    const { head, tail } = hostsAroundNodes(pod);
    return `${head}${nodeHosts}${tail}`;
  }
  const found = podHostname(pod, settings.clusterDomain);
  const { hostname, domain } = 'error' in found ? { hostname: '', domain: '' } : found;
  const names = domain === '' ? hostname : `${hostname}.${domain}\t${hostname}`;
  const lines = [...MANAGED, ...podIPs.map((ip) => `${ip}\t${names}`)];
  return `${lines.join('\n')}\n${aliases(pod)}`;
}

/** The file of a pod on the host network, around the node's own: what it begins with, and `hostAliases` after it. */
export function hostsAroundNodes(pod: Pod): { head: string; tail: string } {
  return { head: '# Kubernetes-managed hosts file (host network).\n', tail: aliases(pod) };
}

function aliases(pod: Pod): string {
  const entries = pod.spec?.hostAliases ?? [];
  if (entries.length === 0) return '';
  const lines = entries.map(({ ip, hostnames }) => `${ip}\t${(hostnames ?? []).join('\t')}`);
  return `\n# Entries added by HostAliases.\n${lines.join('\n')}\n`;
}
