import { X509Certificate } from 'node:crypto';
import { parseExtensions } from './certificate-extensions.ts';
import type { Extensions } from './certificate-extensions.ts';
import {
  DerError,
  TAG,
  derBits,
  derElement,
  derElements,
  derOidOf,
  derSequence,
  derSmallInteger,
  derString,
  derTime,
  derUnsigned,
  expectTag,
} from './der.ts';
import type { DerElement } from './der.ts';
import { parsePublicKey } from './public-key.ts';
import type { PublicKey } from './public-key.ts';
import { parseSignatureAlgorithm } from './signature-algorithm.ts';
import type { SignatureAlgorithm } from './signature-algorithm.ts';

/** What chain building and the user's name need of a certificate (RFC 5280). */
export interface Certificate extends Extensions {
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
  signature: SignatureAlgorithm;
  /** The subject's key: its DER, and what it is if it can sign certificates. */
  spki: Buffer;
  publicKey: PublicKey | undefined;
  /** For signatures. */
  x509: X509Certificate;
}

/**
 * Takes a certificate apart, and refuses what Go's `x509.ParseCertificate` refuses: an authority may have been careful about what it
 * signs because nobody would read it otherwise.
 *
 * @throws DerError; what OpenSSL says of one that it cannot read
 */
export function parseCertificate(raw: Buffer): Certificate {
  const whole = derElement(raw);
  if (whole.whole.length !== raw.length) throw new DerError('trailing data');
  const [tbs, algorithm, bits] = derSequence(whole);
  const fields = derSequence(tbs);
  const version = fields[0]?.tag === 0xa0 ? derSmallInteger(derElement(fields.shift()?.content ?? raw)) + 1 : 1;
  if (version > 3) throw new DerError('invalid version');
  const [serial, inner, issuer, validity, subject, spki, ...more] = fields;
  const outer = expectTag(algorithm, TAG.sequence);
  if (!expectTag(inner, TAG.sequence).whole.equals(outer.whole))
    throw new DerError("inner and outer signature algorithm identifiers don't match");
  const [notBefore, notAfter] = derSequence(validity);
  namesOf(expectTag(issuer, TAG.sequence));
  derBits(bits);
  const x509 = new X509Certificate(raw);
  const key = expectTag(spki, TAG.sequence);
  return {
    // Certificates of before version 3 have no extensions, whatever stands there.
    ...parseExtensions(version === 3 ? more.find(({ tag }) => tag === 0xa3) : undefined),
    raw,
    version,
    serial: derUnsigned(serial),
    subject: expectTag(subject, TAG.sequence).whole,
    issuer: expectTag(issuer, TAG.sequence).whole,
    names: namesOf(expectTag(subject, TAG.sequence)),
    notBefore: derTime(notBefore),
    notAfter: derTime(notAfter),
    signature: parseSignatureAlgorithm(outer),
    spki: key.whole,
    publicKey: parsePublicKey(key, x509),
    x509,
  };
}

function namesOf(subject: DerElement): { oid: string; value: string }[] {
  return derElements(subject.content).flatMap((set) =>
    derElements(expectTag(set, TAG.set).content).map((pair) => {
      const [oid, value] = derSequence(pair);
      if (value === undefined) throw new DerError('name without a value');
      return { oid: derOidOf(oid), value: derString(value) };
    }),
  );
}
