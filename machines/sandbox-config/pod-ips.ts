/** Is it an IPv6 address? */
export function isIPv6(ip: string): boolean {
  return ip.includes(':');
}

/**
 * At most one address a family, the node's primary family first (as `status.podIPs` has them).
 * Without node addresses IPv4 comes first.
 */
export function sortPodIPs(podIPs: readonly string[], nodeIPs: readonly string[]): string[] {
  const v6First = nodeIPs[0] !== undefined && isIPv6(nodeIPs[0]);
  const valid = podIPs.filter((ip) => ip !== '');
  const v4 = valid.find((ip) => !isIPv6(ip));
  const v6 = valid.find(isIPv6);
  return (v6First ? [v6, v4] : [v4, v6]).filter((ip) => ip !== undefined);
}
