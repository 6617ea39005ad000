import type { KeyObject, X509Certificate } from 'node:crypto';
import { DerError, derBits, derElement, derSequence, derUnsigned } from './der.ts';
import type { DerElement } from './der.ts';
import { isNull, keyAlgorithm } from './signature-algorithm.ts';
import type { KeyKind } from './signature-algorithm.ts';

/** A key of a certificate, as far as it can sign others. */
export interface PublicKey {
  kind: KeyKind;
  key: KeyObject;
  /** Why Go's crypto checks no signature with it. */
  weakness: string | undefined;
}

const RSA = '1.2.840.113549.1.1.1';
const EC = '1.2.840.10045.2.1';
const ED25519 = '1.3.101.112';
const MIN_RSA_BITS = 1024;
/** Go's TLS ends a handshake with larger ones: a signature with them costs too much. */
const MAX_RSA_BITS = 8192;
/** P-224, P-256, P-384 and P-521 by OpenSSL's names. */
const CURVES: ReadonlySet<string> = new Set(['secp224r1', 'prime256v1', 'secp384r1', 'secp521r1']);
const UNCOMPRESSED = 4;

/**
 * Looks at the key of a certificate by the rules of Go's crypto/x509. Undefined for kinds that sign no certificates; a
 * client may have one.
 *
 * @throws DerError for one that Go's parser or its TLS refuses
 */
export function parsePublicKey(spki: DerElement, x509: X509Certificate): PublicKey | undefined {
  const { oid, parameters, key: bits } = keyAlgorithm(spki);
  const kind = oid === RSA ? 'rsa' : oid === EC ? 'ec' : oid === ED25519 ? 'ed25519' : undefined;
  if (kind === undefined) return undefined;
  let key;
  try {
    key = x509.publicKey;
  } catch (cause) {
    throw new DerError(`bad key (${String(cause)})`);
  }
  const { modulusLength = 0, publicExponent = 0n, namedCurve = '' } = key.asymmetricKeyDetails ?? {};
  if (kind === 'ec') {
    if (!CURVES.has(namedCurve) || derBits(bits)[0] !== UNCOMPRESSED)
      throw new DerError('bad key: unsupported elliptic curve');
    return { kind, key, weakness: undefined };
  }
  if (kind === 'ed25519') {
    if (parameters !== undefined) throw new DerError('bad key: parameters');
    return { kind, key, weakness: undefined };
  }
  if (parameters === undefined || !isNull(parameters)) throw new DerError('bad key: RSA key missing NULL parameters');
  for (const number of derSequence(derElement(derBits(bits))).slice(0, 2))
    if (derUnsigned(number).every((byte) => byte === 0)) throw new DerError('bad key: a number that is not positive');
  if (modulusLength > MAX_RSA_BITS) throw new DerError(`bad key: RSA key larger than ${MAX_RSA_BITS} bits`);
  const weakness =
    modulusLength < MIN_RSA_BITS
      ? `crypto/rsa: ${modulusLength}-bit keys are insecure`
      : publicExponent < 2n || publicExponent > 0x7fffffffn || publicExponent % 2n === 0n
        ? 'crypto/rsa: bad public exponent'
        : undefined;
  return { kind, key, weakness };
}
