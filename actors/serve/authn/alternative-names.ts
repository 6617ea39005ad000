import { parseGoUrl } from '../../../machines/values/go-url.ts';
import { DerError, derElement, derSequence, ia5 } from './der.ts';

/** Subject alternative names of the kinds that Go's crypto/x509 knows. */
export interface AlternativeNames {
  dns: readonly string[];
  mail: readonly string[];
  /** Hosts of the URIs, with their ports, as Go's `net/url` finds them; '' for a URI without one. */
  uriHosts: readonly string[];
  /** 4 or 16 bytes each. */
  addresses: readonly Buffer[];
}

/** Tags of a GeneralName. */
export const NAME_TAG = { mail: 0x81, dns: 0x82, uri: 0x86, address: 0x87 } as const;

/** Reads the extension's value. @throws DerError as Go does */
export function parseAlternativeNames(value: Buffer): AlternativeNames {
  const names = { dns: [] as string[], mail: [] as string[], uriHosts: [] as string[], addresses: [] as Buffer[] };
  for (const { tag, content } of derSequence(derElement(value))) {
    if (tag === NAME_TAG.dns) names.dns.push(ia5(content));
    else if (tag === NAME_TAG.mail) names.mail.push(ia5(content));
    else if (tag === NAME_TAG.uri) names.uriHosts.push(hostOf(ia5(content)));
    else if (tag === NAME_TAG.address) {
      if (content.length !== 4 && content.length !== 16) throw new DerError('bad address in a name');
      names.addresses.push(content);
    }
  }
  return names;
}

/** There is a name of a kind that is known. */
export function hasNames({ dns, mail, uriHosts, addresses }: AlternativeNames): boolean {
  return dns.length + mail.length + uriHosts.length + addresses.length > 0;
}

function hostOf(uri: string): string {
  let host;
  try {
    ({ host } = parseGoUrl(uri));
  } catch (cause) {
    throw new DerError(`bad URI in a name (${String(cause)})`);
  }
  if (!isDomain(host)) throw new DerError('bad URI in a name');
  return host;
}

/** Go's `domainNameValid`: labels of visible letters, none of them empty; a constraint may begin with a dot. */
export function isDomain(name: string, asConstraint = false): boolean {
  const labels = asConstraint && name.startsWith('.') ? name.slice(1) : name;
  return name === '' || /^[!-\-/-~]+(\.[!-\-/-~]+)*$/.test(labels);
}
