import { X509Certificate } from 'node:crypto';
import {
  DerError,
  TAG,
  derElement,
  derElements,
  derOid,
  derSmallInteger,
  derString,
  derTime,
  expectTag,
} from './der.ts';
import type { DerElement } from './der.ts';

/** What chain building and the user's name need of a certificate (RFC 5280). */
export interface Certificate {
  /** The whole certificate as DER. */
  raw: Buffer;
  version: number;
  /** Bytes of the INTEGER. */
  serial: Buffer;
  /** Names as DER: they are compared byte by byte. */
  subject: Buffer;
  issuer: Buffer;
  /** Attributes of the subject, in order. */
  names: readonly { oid: string; value: string }[];
  /** ms since 1970; both ends belong to the life of the certificate. */
  notBefore: number;
  notAfter: number;
  signatureAlgorithm: string;
  /** BasicConstraints, when there is that extension; `pathLength` -1 = no limit. */
  basic: { ca: boolean; pathLength: number } | undefined;
  /** Bit string of KeyUsage: has it keyCertSign? undefined without the extension. */
  signsCertificates: boolean | undefined;
  /** Extended key usages; empty without the extension, which allows all of them. */
  usages: readonly string[];
  hasAltNames: boolean;
  hasNameConstraints: boolean;
  /** Critical extensions that nobody here understands. */
  unhandledCritical: readonly string[];
  subjectKeyId: Buffer;
  authorityKeyId: Buffer;
  /** For signatures. */
  x509: X509Certificate;
}

/** Extensions that may be critical: those of Go's crypto/x509, but for policies, which nobody uses here. */
const UNDERSTOOD = new Set(['2.5.29.15', '2.5.29.17', '2.5.29.19', '2.5.29.30', '2.5.29.31', '2.5.29.32', '2.5.29.37']);

/** Takes a certificate apart. Throws when it is malformed. */
export function parseCertificate(raw: Buffer): Certificate {
  const [tbs, algorithm] = derElements(expectTag(derElement(raw), TAG.sequence).content);
  const fields = derElements(expectTag(tbs, TAG.sequence).content);
  const versioned = fields[0]?.tag === 0xa0;
  const version = versioned && fields[0] ? derSmallInteger(derElement(fields[0].content).content) + 1 : 1;
  const [serial, , issuer, validity, subject] = versioned ? fields.slice(1) : fields;
  const [notBefore, notAfter] = derElements(expectTag(validity, TAG.sequence).content);
  const extensions = extensionsOf(fields.find(({ tag }) => tag === 0xa3));
  const value = (oid: string): Buffer | undefined => extensions.find((extension) => extension.oid === oid)?.value;
  const basic = value('2.5.29.19');
  const keyUsage = value('2.5.29.15');
  const usages = value('2.5.29.37');
  const keyId = value('2.5.29.14');
  const authority = value('2.5.29.35');
  return {
    raw,
    version,
    serial: expectTag(serial, TAG.integer).content,
    subject: expectTag(subject, TAG.sequence).whole,
    issuer: expectTag(issuer, TAG.sequence).whole,
    names: namesOf(expectTag(subject, TAG.sequence)),
    notBefore: derTime(notBefore),
    notAfter: derTime(notAfter),
    signatureAlgorithm: derOid(expectTag(derElements(expectTag(algorithm, TAG.sequence).content)[0], TAG.oid).content),
    basic: basic && basicConstraints(basic),
    signsCertificates: keyUsage && signsCertificates(keyUsage),
    usages: usages === undefined ? [] : derElements(derElement(usages).content).map(({ content }) => derOid(content)),
    hasAltNames: value('2.5.29.17') !== undefined,
    hasNameConstraints: value('2.5.29.30') !== undefined,
    unhandledCritical: extensions.filter((one) => one.critical && !UNDERSTOOD.has(one.oid)).map(({ oid }) => oid),
    subjectKeyId: keyId === undefined ? Buffer.alloc(0) : derElement(keyId).content,
    authorityKeyId:
      (authority && derElements(derElement(authority).content).find(({ tag }) => tag === 0x80)?.content) ??
      Buffer.alloc(0),
    x509: new X509Certificate(raw),
  };
}

interface Extension {
  oid: string;
  critical: boolean;
  value: Buffer;
}

function extensionsOf(field: DerElement | undefined): Extension[] {
  if (field === undefined) return [];
  const seen = new Set<string>();
  return derElements(expectTag(derElement(field.content), TAG.sequence).content).map((extension) => {
    const parts = derElements(expectTag(extension, TAG.sequence).content);
    const oid = derOid(expectTag(parts[0], TAG.oid).content);
    if (seen.has(oid)) throw new DerError(`extension ${oid} twice`);
    seen.add(oid);
    const critical = parts[1]?.tag === TAG.boolean && parts[1].content[0] !== 0;
    return { oid, critical, value: expectTag(parts.at(-1), TAG.octetString).content };
  });
}

function namesOf(subject: DerElement): { oid: string; value: string }[] {
  return derElements(subject.content).flatMap((set) =>
    derElements(expectTag(set, TAG.set).content).map((pair) => {
      const [oid, value] = derElements(expectTag(pair, TAG.sequence).content);
      if (value === undefined) throw new DerError('name without a value');
      return { oid: derOid(expectTag(oid, TAG.oid).content), value: derString(value) };
    }),
  );
}

function basicConstraints(value: Buffer): { ca: boolean; pathLength: number } {
  const parts = derElements(expectTag(derElement(value), TAG.sequence).content);
  const ca = parts[0]?.tag === TAG.boolean && parts[0].content[0] !== 0;
  const length = parts.find(({ tag }) => tag === TAG.integer);
  return { ca, pathLength: length === undefined ? -1 : derSmallInteger(length.content) };
}

/** keyCertSign is bit 5; the first byte of a BIT STRING counts unused bits. */
function signsCertificates(value: Buffer): boolean {
  return ((expectTag(derElement(value), TAG.bitString).content[1] ?? 0) & 0x04) !== 0;
}
