import { isIP } from 'node:net';
import { NAME_TAG, isDomain } from './alternative-names.ts';
import type { AlternativeNames } from './alternative-names.ts';
import { DerError, derElement, derElements, derSequence, expectTag, TAG, ia5 } from './der.ts';

/** Names below an authority, by kind; domains in small letters. */
interface Subtrees {
  dns: string[];
  mail: string[];
  uri: string[];
  /** An address and its mask, 4 or 16 bytes each. */
  addresses: { base: Buffer; mask: Buffer }[];
}

/** What an authority may sign for (RFC 5280, 4.2.1.10). */
export interface NameConstraints {
  permitted: Subtrees;
  excluded: Subtrees;
  /** There are some of a kind that is not known, e.g. directory names: critical ones cannot be kept then. */
  unknown: boolean;
}

/** More comparisons of names with constraints are not made for one leaf (as Go before 1.26). */
export const MAX_COMPARISONS = 250_000;

/** Reads the extension's value. @throws DerError as Go does, also when nothing is constrained */
export function parseNameConstraints(value: Buffer): NameConstraints {
  const whole = derElement(value);
  const parts = derSequence(whole);
  const permitted = parts[0]?.tag === 0xa0 ? parts.shift() : undefined;
  const excluded = parts[0]?.tag === 0xa1 ? parts.shift() : undefined;
  const given = (permitted?.content.length ?? 0) + (excluded?.content.length ?? 0);
  if (parts.length > 0 || given === 0 || whole.whole.length !== value.length)
    throw new DerError('bad name constraints');
  const [first, second] = [subtrees(permitted?.content), subtrees(excluded?.content)];
  return { permitted: first.trees, excluded: second.trees, unknown: first.unknown || second.unknown };
}

function subtrees(content: Buffer = Buffer.alloc(0)): { trees: Subtrees; unknown: boolean } {
  const trees: Subtrees = { dns: [], mail: [], uri: [], addresses: [] };
  let unknown = false;
  for (const subtree of derElements(content)) {
    const { tag, content: bytes } = derElement(expectTag(subtree, TAG.sequence).content);
    if (tag === NAME_TAG.dns) trees.dns.push(domain(ia5(bytes)));
    else if (tag === NAME_TAG.uri) {
      const name = ia5(bytes);
      if (isIP(name) !== 0) throw new DerError('an address as constraint of URIs');
      trees.uri.push(domain(name));
    } else if (tag === NAME_TAG.mail) {
      const name = ia5(bytes);
      const box = name.includes('@') ? mailbox(name) : domain(name);
      if (box === null) throw new DerError('bad mailbox as constraint');
      trees.mail.push(box);
    } else if (tag === NAME_TAG.address) trees.addresses.push(network(bytes));
    else unknown = true;
  }
  return { trees, unknown };
}

function domain(name: string): string {
  if (!isDomain(name, true)) throw new DerError('bad domain as constraint');
  return name.toLowerCase();
}

function network(bytes: Buffer): { base: Buffer; mask: Buffer } {
  const half = bytes.length / 2;
  const mask = bytes.subarray(half);
  if (
    (half !== 4 && half !== 16) ||
    !/^1*0*$/.test([...mask].map((byte) => byte.toString(2).padStart(8, '0')).join(''))
  )
    throw new DerError('bad network as constraint');
  return { base: bytes.subarray(0, half), mask };
}

/**
 * Why names do not fit the constraints of authorities above them, by the rules of Go's crypto/x509; undefined when they do. `budget`
 * holds how many comparisons may be made yet.
 */
export function constraintFault(
  names: AlternativeNames,
  constraints: readonly NameConstraints[],
  budget: { left: number },
): string | undefined {
  const mail = names.mail.map(mailbox);
  const hosts = names.uriHosts.map(uriHost);
  if (mail.includes(null)) return 'cannot parse a mail address';
  if (hosts.includes(null)) return 'a URI without a domain cannot be matched against constraints';
  if (!names.dns.every((name) => isDomain(name))) return 'cannot parse a DNS name';
  for (const { permitted, excluded } of constraints) {
    const kinds: [kind: string, names: readonly unknown[], allow: unknown[], deny: unknown[], fits: Fits][] = [
      ['IP address', names.addresses, permitted.addresses, excluded.addresses, inNetwork as Fits],
      ['DNS name', names.dns.map((name) => name.toLowerCase()), permitted.dns, excluded.dns, isBelow as Fits],
      ['URI', hosts, permitted.uri, excluded.uri, isBelow as Fits],
      ['email address', mail, permitted.mail, excluded.mail, isMailBelow as Fits],
    ];
    for (const [kind, found, allow, deny, fits] of kinds) {
      budget.left -= found.length * (allow.length + deny.length);
      if (budget.left < 0) return 'too many name constraints';
      for (const name of found) {
        if (allow.length > 0 && !allow.some((constraint) => fits(name, constraint, false)))
          return `${kind} is not permitted by any constraint`;
        if (deny.some((constraint) => fits(name, constraint, true))) return `${kind} is excluded by a constraint`;
      }
    }
  }
  return undefined;
}

type Fits = (name: unknown, constraint: unknown, excludes: boolean) => boolean;

function inNetwork(address: Buffer, { base, mask }: { base: Buffer; mask: Buffer }): boolean {
  return (
    address.length === base.length &&
    address.every((byte, i) => (byte & (mask[i] ?? 0)) === ((base[i] ?? 0) & (mask[i] ?? 0)))
  );
}

/** A constraint with a dot at its start is for what is below only. A name with a star may be any of those that are excluded. */
function isBelow(name: string, constraint: string, excludes: boolean): boolean {
  if (constraint === '' || name === constraint) return true;
  if (name.endsWith(constraint.startsWith('.') ? constraint : `.${constraint}`)) return true;
  const dot = constraint.indexOf('.');
  return excludes && name.startsWith('*') && dot !== -1 && name.slice(name.indexOf('.')) === constraint.slice(dot);
}

function isMailBelow(box: string, constraint: string, excludes: boolean): boolean {
  if (constraint.includes('@')) return box === constraint;
  return isBelow(box.slice(box.lastIndexOf('@') + 1), constraint, excludes);
}

/** A mailbox of RFC 2821 with its domain in small letters and its other part without quotes; null when it is none. */
function mailbox(text: string): string | null {
  const quoted = /^"((?:[\x01-\x08\x0b\x0c\x0e-\x21\x23-\x5b\x5d-\x7f]|\\[\x01-\x09\x0b\x0c\x0e-\x7f])*)"@([^]*)$/.exec(
    text,
  );
  const plain = /^((?:[\w!#$%&'*+\-/=?^`{|}~.]|\\[^])+)@([^]*)$/.exec(text);
  const [, written = '', place = ''] = quoted ?? plain ?? [];
  const local = written.replace(/\\([^])/g, '$1');
  if ((quoted ?? plain) === null || !isDomain(place)) return null;
  if (quoted === null && /^\.|\.$|\.\./.test(local)) return null;
  return `${local}@${place.toLowerCase()}`;
}

/** The domain of a URI's host; null when it has none that could be compared. */
function uriHost(host: string): string | null {
  if (host === '' || host.endsWith(']')) return null;
  const [name = ''] = host.toLowerCase().split(':', 1);
  if (name === '' || /:.*:/.test(host) || isIP(name) !== 0 || host.startsWith('[')) return null;
  return name;
}
