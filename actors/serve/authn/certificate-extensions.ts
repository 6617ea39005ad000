import { hasNames, parseAlternativeNames } from './alternative-names.ts';
import type { AlternativeNames } from './alternative-names.ts';
import {
  DerError,
  TAG,
  derBits,
  derBoolean,
  derElement,
  derElements,
  derOidOf,
  derSequence,
  derSmallInteger,
  expectTag,
} from './der.ts';
import type { DerElement } from './der.ts';
import { parseNameConstraints } from './name-constraints.ts';
import type { NameConstraints } from './name-constraints.ts';

/** What the extensions of a certificate say (RFC 5280, 4.2). */
export interface Extensions {
  /** BasicConstraints, when there is that extension; `pathLength` -1 = no limit. */
  basic?: { ca: boolean; pathLength: number };
  /** KeyUsage has keyCertSign; undefined without the extension, and when it names no usage that is known. */
  signsCertificates?: boolean;
  /** Extended key usages; empty without the extension, which allows all of them. */
  usages: readonly string[];
  /** Alternative names, with the bytes that they were read from. */
  altNames?: AlternativeNames & { raw: Buffer };
  nameConstraints?: NameConstraints;
  /** Rules about policies, which are not followed here. */
  policyRules?: true;
  subjectKeyId: Buffer;
  authorityKeyId: Buffer;
  /** Critical extensions that nobody here understands, by object identifier. */
  unhandledCritical: readonly string[];
}

const AUTHORITY_INFORMATION = '1.3.6.1.5.5.7.1.1';

/** A reader of one extension's value. Gives false for a value that is not understood. */
type Reader = (value: Buffer, out: Writable<Extensions>, critical: boolean) => boolean | undefined;
type Writable<T> = { -readonly [K in keyof T]: T[K] };

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  [
    '2.5.29.14',
    (value, out, critical) => {
      if (critical) throw new DerError('subject key identifier incorrectly marked critical');
      out.subjectKeyId = expectTag(derElement(value), TAG.octetString).content;
      return undefined;
    },
  ],
  ['2.5.29.15', (value, out) => void keyUsage(derBits(derElement(value)), out)],
  [
    '2.5.29.17',
    (value, out) => {
      out.altNames = { ...parseAlternativeNames(value), raw: value };
      return hasNames(out.altNames);
    },
  ],
  ['2.5.29.19', (value, out) => void (out.basic = basicConstraints(value))],
  [
    '2.5.29.30',
    (value, out) => {
      out.nameConstraints = parseNameConstraints(value);
      return !out.nameConstraints.unknown;
    },
  ],
  ['2.5.29.31', (value) => void derSequence(derElement(value)).forEach((point) => derSequence(point))],
  ['2.5.29.32', policies],
  ['2.5.29.33', (_value, out) => (out.policyRules = true)],
  [
    '2.5.29.35',
    (value, out, critical) => {
      if (critical) throw new DerError('authority key identifier incorrectly marked critical');
      const [first] = derSequence(derElement(value));
      if (first?.tag === 0x80) out.authorityKeyId = first.content;
      return undefined;
    },
  ],
  ['2.5.29.36', (_value, out) => (out.policyRules = true)],
  [
    '2.5.29.37',
    (value, out) => {
      out.usages = derSequence(derElement(value)).map(derOidOf);
      return undefined;
    },
  ],
  // It is about policies, which nobody asks for where there are no rules about them.
  ['2.5.29.54', (value) => void expectTag(derElement(value), TAG.integer)],
  [
    AUTHORITY_INFORMATION,
    (value, _out, critical) => {
      if (critical) throw new DerError('authority info access incorrectly marked critical');
      for (const access of derSequence(derElement(value))) derOidOf(derSequence(access)[0]);
      return undefined;
    },
  ],
]);

/** Reads the field of a certificate that holds its extensions. @throws DerError where Go's parser refuses them */
export function parseExtensions(field: DerElement | undefined): Extensions {
  const unhandledCritical: string[] = [];
  const out: Writable<Extensions> = {
    usages: [],
    subjectKeyId: Buffer.alloc(0),
    authorityKeyId: Buffer.alloc(0),
    unhandledCritical,
  };
  if (field === undefined) return out;
  const seen = new Set<string>();
  for (const extension of derSequence(derElement(field.content))) {
    const parts = derSequence(extension);
    const oid = derOidOf(parts[0]);
    if (seen.has(oid)) throw new DerError(`extension ${oid} twice`);
    seen.add(oid);
    const written = parts[1]?.tag === TAG.boolean ? parts[1] : undefined;
    const critical = written !== undefined && derBoolean(written);
    const { content } = expectTag(parts[written === undefined ? 1 : 2], TAG.octetString);
    const understood = READERS.get(oid)?.(content, out, critical) ?? READERS.has(oid);
    if (critical && !understood) unhandledCritical.push(oid);
  }
  return out;
}

function basicConstraints(value: Buffer): { ca: boolean; pathLength: number } {
  const parts = derSequence(derElement(value));
  const ca = parts[0]?.tag === TAG.boolean && derBoolean(parts[0]);
  const length = parts[parts[0]?.tag === TAG.boolean ? 1 : 0];
  return { ca, pathLength: length?.tag === TAG.integer ? derSmallInteger(length) : -1 };
}

/** Nine usages are known; keyCertSign is the sixth. */
function keyUsage(bits: Buffer, out: Writable<Extensions>): void {
  const [first = 0, second = 0] = bits;
  if (first !== 0 || (second & 0x80) !== 0) out.signsCertificates = (first & 0x04) !== 0;
}

function policies(value: Buffer): undefined {
  const seen = new Set<string>();
  for (const policy of derSequence(derElement(value))) {
    const id = expectTag(derElements(expectTag(policy, TAG.sequence).content)[0], TAG.oid).content.toString('hex');
    if (seen.has(id)) throw new DerError('a policy twice');
    seen.add(id);
  }
}
