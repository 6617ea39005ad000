import type { Pod } from '../protocol/api-types.ts';
import type { HostResolver, NodeSettings } from '../protocol/node-settings.ts';
import { formatPod, podIdentity } from './pod-identity.ts';
import { isIPv6 } from './pod-ips.ts';

const MAX_NAMESERVERS = 3;
/** Most names of a search list. */
export const MAX_SEARCHES = 32;
/** Most characters of a search list. */
export const MAX_SEARCH_CHARACTERS = 2048;
/** Most characters of one name: glibc aborts on longer search paths. */
export const MAX_SEARCH_LENGTH = 253;

/** CRI `DNSConfig`. */
export interface DnsConfig {
  servers: string[];
  searches: string[];
  options: string[];
}

/** A warning event about a pod. */
export interface PodWarning {
  reason: string;
  message: string;
}

type DnsSettings = Pick<
  NodeSettings,
  'clusterDNS' | 'clusterDomain' | 'givenIPs' | 'hostResolver' | 'nodeIPs' | 'resolvConf'
>;

/**
 * The pod's resolver settings by `dnsPolicy` and `dnsConfig`, within the resolver's limits, and the warnings that
 * go with them (`MissingClusterDNS`, `DNSConfigForming`). ClusterFirst without a cluster DNS falls back to Default.
 *
 * @param resolver the node's resolver file as it is now
 */
export function podDns(
  pod: Pod,
  node: DnsSettings,
  resolver: HostResolver = node.hostResolver,
): { dns: DnsConfig; warnings: PodWarning[] } {
  const settings = { ...node, hostResolver: resolver };
  const warnings: PodWarning[] = [];
  let dns = baseDns(pod, settings, warnings);
  const own = pod.spec?.dnsConfig;
  if (own) {
    dns = {
      servers: unique([...dns.servers, ...(own.nameservers ?? [])]),
      searches: unique([...dns.searches, ...(own.searches ?? [])]),
      options: mergeOptions(dns.options, own.options ?? []),
    };
  }
  return {
    dns: { ...dns, servers: fitServers(dns.servers, warnings), searches: fitSearches(dns.searches, warnings) },
    warnings,
  };
}

function baseDns(pod: Pod, settings: DnsSettings, warnings: PodWarning[]): DnsConfig {
  const policy = pod.spec?.dnsPolicy ?? 'ClusterFirst';
  if (policy === 'None') return { servers: [], searches: [], options: [] };
  const hostDns = policy === 'Default' || (policy === 'ClusterFirst' && pod.spec?.hostNetwork === true);
  if (!hostDns && settings.clusterDNS.length > 0) {
    return {
      servers: [...settings.clusterDNS],
      searches: clusterSearches(pod, settings),
      options: ['ndots:5'],
    };
  }
  if (!hostDns) {
    const message =
      'kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.';
    warnings.push({ reason: 'MissingClusterDNS', message: `pod: "${formatPod(pod)}". ${message}` });
  }
  return nodeDns(settings);
}

/** The node's own resolver; a node without one (`resolvConf: ""`) points at itself, which switches look-ups off. */
function nodeDns({ hostResolver, givenIPs, nodeIPs, resolvConf }: DnsSettings): DnsConfig {
  const { nameservers, searches, options } = hostResolver;
  // A file that says nothing is taken at its word.
  if (resolvConf !== undefined || nameservers.length + searches.length + options.length > 0) {
    return { servers: [...nameservers], searches: [...searches], options: [...options] };
  }
  const servers = (givenIPs ?? nodeIPs).map((ip) => (isIPv6(ip) ? '::1' : '127.0.0.1'));
  return { servers: servers.length > 0 ? servers : ['127.0.0.1'], searches: ['.'], options: [] };
}

function clusterSearches(pod: Pod, { clusterDomain, hostResolver }: DnsSettings): string[] {
  if (clusterDomain === '') return [...hostResolver.searches];
  const { namespace } = podIdentity(pod);
  const own = [`${namespace}.svc.${clusterDomain}`, `svc.${clusterDomain}`, clusterDomain];
  return unique([...own, ...hostResolver.searches]);
}

function mergeOptions(options: string[], own: readonly { name?: string; value?: string }[]): string[] {
  const merged = new Map<string, string>();
  for (const option of options) {
    const colon = option.indexOf(':');
    if (colon < 0) merged.set(option, '');
    else merged.set(option.slice(0, colon), option.slice(colon + 1));
  }
  for (const { name = '', value = '' } of own) merged.set(name, value);
  return [...merged].map(([name, value]) => (value === '' ? name : `${name}:${value}`));
}

function fitServers(servers: string[], warnings: PodWarning[]): string[] {
  if (servers.length <= MAX_NAMESERVERS) return servers;
  const kept = servers.slice(0, MAX_NAMESERVERS);
  warnings.push({
    reason: 'DNSConfigForming',
    message: `Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: ${kept.join(' ')}`,
  });
  return kept;
}

function fitSearches(searches: string[], warnings: PodWarning[]): string[] {
  const kept = searches.slice(0, MAX_SEARCHES).filter((search) => search.length <= MAX_SEARCH_LENGTH);
  while (kept.join(' ').length > MAX_SEARCH_CHARACTERS) kept.pop();
  if (kept.length === searches.length) return searches;
  warnings.push({
    reason: 'DNSConfigForming',
    message: `Search Line limits were exceeded, some search paths have been omitted, the applied search line is: ${kept.join(' ')}`,
  });
  return kept;
}

function unique(values: string[]): string[] {
  return [...new Set(values)];
}
