import { DerError, TAG, derElement, derOidOf, derSequence, derSmallInteger, expectTag } from './der.ts';
import type { DerElement } from './der.ts';

/** Kinds of keys that sign certificates. */
export type KeyKind = 'rsa' | 'ec' | 'ed25519';

/** Signatures that count: SHA-1 and older ones, SHA-224 and DSA do not, as with Go's crypto/x509. */
const STRONG: ReadonlyMap<string, KeyKind> = new Map([
  ['1.2.840.113549.1.1.11', 'rsa'],
  ['1.2.840.113549.1.1.12', 'rsa'],
  ['1.2.840.113549.1.1.13', 'rsa'],
  ['1.2.840.10045.4.3.2', 'ec'],
  ['1.2.840.10045.4.3.3', 'ec'],
  ['1.2.840.10045.4.3.4', 'ec'],
]);
const ED25519 = '1.3.101.112';
const PSS = '1.2.840.113549.1.1.10';
const MGF1 = '1.2.840.113549.1.1.8';
/** SHA-256, 384 and 512 with the length of their salt, which is that of the hash. */
const PSS_SALTS: ReadonlyMap<string, number> = new Map([
  ['2.16.840.1.101.3.4.2.1', 32],
  ['2.16.840.1.101.3.4.2.2', 48],
  ['2.16.840.1.101.3.4.2.3', 64],
]);

/** An algorithm of a certificate. */
export interface SignatureAlgorithm {
  oid: string;
  /** Kind of the key that makes such signatures; undefined when they do not count. */
  kind: KeyKind | undefined;
}

/** Reads an AlgorithmIdentifier. @throws DerError */
export function parseSignatureAlgorithm(algorithm: DerElement): SignatureAlgorithm {
  const [id, parameters] = derSequence(algorithm);
  const oid = derOidOf(id);
  if (oid === ED25519) return { oid, kind: parameters === undefined ? 'ed25519' : undefined };
  if (oid === PSS) return { oid, kind: isStrongPss(parameters) ? 'rsa' : undefined };
  return { oid, kind: STRONG.get(oid) };
}

/** The same hash for the message and its mask, as long a salt, and the usual trailer: all else is refused by Go, too. */
function isStrongPss(parameters: DerElement | undefined): boolean {
  try {
    const fields = derSequence(parameters);
    const field = (tag: number) => fields.find((one) => one.tag === tag);
    const [hash, noHashParameters] = algorithmIn(field(0xa0));
    const mask = derSequence(derElement(field(0xa1)?.content ?? Buffer.alloc(0)));
    const [maskHash, noMaskParameters] = algorithmOf(mask[1]);
    const salt = derSmallInteger(derElement(field(0xa2)?.content ?? Buffer.alloc(0)));
    const trailer = field(0xa3);
    return (
      noHashParameters &&
      noMaskParameters &&
      derOidOf(mask[0]) === MGF1 &&
      maskHash === hash &&
      PSS_SALTS.get(hash) === salt &&
      (trailer === undefined || derSmallInteger(derElement(trailer.content)) === 1)
    );
  } catch (error) {
    if (error instanceof DerError) return false;
    throw error;
  }
}

function algorithmIn(field: DerElement | undefined): [oid: string, noParameters: boolean] {
  return algorithmOf(derElement(field?.content ?? Buffer.alloc(0)));
}

function algorithmOf(element: DerElement | undefined): [oid: string, noParameters: boolean] {
  const [oid, parameters] = derSequence(element);
  return [derOidOf(oid), parameters === undefined || isNull(parameters)];
}

/** An element that is NULL. */
export function isNull({ tag, content }: DerElement): boolean {
  return tag === TAG.null && content.length === 0;
}

/** The id and the parameters of a key's algorithm. */
export function keyAlgorithm(spki: DerElement): { oid: string; parameters: DerElement | undefined; key: DerElement } {
  const [algorithm, key] = derSequence(spki);
  const [id, parameters] = derSequence(algorithm);
  return { oid: derOidOf(id), parameters, key: expectTag(key, TAG.bitString) };
}
