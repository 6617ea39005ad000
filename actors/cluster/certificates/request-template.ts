import type { X509Certificate } from 'node:crypto';
import type { NodeAddresses } from '../../../machines/node-object/node-addresses.ts';
import { canonicalIp } from '../../configure/configuration/canonical-ip.ts';

/** What a certificate is requested for. */
export interface RequestTemplate {
  commonName: string;
  organizations: readonly string[];
  /** Sorted. */
  dnsNames: readonly string[];
  /** Sorted, each in its canonical form. */
  ips: readonly string[];
}

/** The subject of all certificates of a node. */
export function nodeTemplate(nodeName: string): RequestTemplate {
  return { commonName: `system:node:${nodeName}`, organizations: ['system:nodes'], dnsNames: [], ips: [] };
}

/**
 * Template of the serving certificate, null as long as the node has no address to request it for: an IP address, or,
 * with AllowDNSOnlyNodeCSR, a name.
 */
export function servingTemplate(
  nodeName: string,
  addresses: NodeAddresses,
  allowDnsOnly: boolean,
): RequestTemplate | null {
  const names = new Set<string>();
  const ips = new Set<string>();
  for (const { type, address } of addresses) {
    if (address === '') continue;
    const ip = canonicalIp(address);
    if (type === 'Hostname') {
      if (ip === undefined) names.add(address);
      else ips.add(ip);
    } else if (type === 'ExternalIP' || type === 'InternalIP') {
      if (ip !== undefined) ips.add(ip);
    } else if (type === 'ExternalDNS' || type === 'InternalDNS') names.add(address);
  }
  if (ips.size === 0 && !(allowDnsOnly && names.size > 0)) return null;
  return { ...nodeTemplate(nodeName), dnsNames: [...names].sort(), ips: [...ips].sort() };
}

/** Why a certificate is not what the template wants, '' when it is; more names than wanted are no reason. */
export function unsatisfied(leaf: X509Certificate, template: RequestTemplate): string {
  const subject = subjectOf(leaf);
  if (subject.commonName !== template.commonName) return 'Current certificate CN does not match requested CN';
  const names = new Set<string>();
  const ips = new Set<string>();
  for (const entry of (leaf.subjectAltName ?? '').split(', ')) {
    if (entry.startsWith('DNS:')) names.add(entry.slice(4));
    else if (entry.startsWith('IP Address:')) ips.add(canonicalIp(entry.slice(11)) ?? '');
  }
  if (template.dnsNames.some((name) => !names.has(name))) return 'Current certificate is missing requested DNS names';
  if (template.ips.some((ip) => !ips.has(ip))) return 'Current certificate is missing requested IP addresses';
  if (template.organizations.some((each) => !subject.organizations.includes(each)))
    return 'Current certificate is missing requested orgs';
  return '';
}

/** Whether two templates ask for the same. */
export function sameTemplate(a: RequestTemplate | null, b: RequestTemplate | null): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Common name and organizations of a certificate. */
function subjectOf(leaf: X509Certificate): { commonName: string; organizations: string[] } {
  const lines = leaf.subject.split(/[\n+]/);
  const of = (field: string): string[] =>
    lines.filter((line) => line.startsWith(field)).map((line) => line.slice(field.length));
  return { commonName: of('CN=').at(-1) ?? '', organizations: of('O=') };
}
