import type { Node } from '../../../machines/node-object/node-types.ts';
import { isIPv6 } from '../../../machines/sandbox-config/pod-ips.ts';
import { canonicalIp } from '../../configure/configuration/canonical-ip.ts';

/**
 * A node's addresses as pods are told them, by its object (GetNodeHostIPs): the first InternalIP, or else ExternalIP, and the first one of
 * the other family.
 */
export function hostIPsOf(node: Node): string[] {
  const of = (wanted: string): string[] =>
    (node.status?.addresses ?? []).flatMap(({ type, address }) =>
      type === wanted ? (canonicalIp(address) ?? []) : [],
    );
  const [first, ...others] = [...of('InternalIP'), ...of('ExternalIP')];
  if (first === undefined) return [];
  const second = others.find((ip) => isIPv6(ip) !== isIPv6(first));
  return second === undefined ? [first] : [first, second];
}
