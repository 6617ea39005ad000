import type { Certificate } from './certificate.ts';

/** Why a certificate is not trusted; in the words of Go's crypto/x509, which the readers of kubelet's log know. */
class CertificateError extends Error {
  constructor(message: string) {
    super(`x509: ${message}`);
    this.name = 'CertificateError';
  }
}

/** Signatures that count: SHA-1 and older ones, and DSA, do not. */
const STRONG = new Set([
  ...['1.2.840.113549.1.1.10', '1.2.840.113549.1.1.11', '1.2.840.113549.1.1.12', '1.2.840.113549.1.1.13'],
  ...['1.2.840.10045.4.3.2', '1.2.840.10045.4.3.3', '1.2.840.10045.4.3.4', '1.3.101.112'],
]);
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';
const ANY_USAGE = '2.5.29.37.0';
/** So many signatures are checked for one certificate, then it is refused: certificates of strangers cost time. */
const MAX_SIGNATURES = 100;

/**
 * Builds a chain from the leaf over intermediates (which need no trust) to one of the roots and checks it for client
 * authentication at the time `now` (ms), by the rules of Go's `Certificate.Verify`, as kubelet does: a certificate
 * without extended key usages allows all of them; roots are checked as well. One rule is stricter: a chain with name
 * constraints is refused when the leaf has alternative names.
 * @returns the chain, leaf first
 * @throws CertificateError
 */
export function verifyChain(
  leaf: Certificate,
  intermediates: readonly Certificate[],
  roots: readonly Certificate[],
  now: number,
): Certificate[] {
  checkItself(leaf, now);
  if (roots.some(({ raw }) => raw.equals(leaf.raw))) return checkedUsage([leaf]);
  const search: Search = { intermediates, roots, now, signatures: 0, problem: undefined };
  const chain = extend([leaf], search);
  if (chain === undefined) throw search.problem ?? new CertificateError('certificate signed by unknown authority');
  return chain;
}

interface Search {
  intermediates: readonly Certificate[];
  roots: readonly Certificate[];
  now: number;
  signatures: number;
  /** The first reason why a candidate was refused. */
  problem: CertificateError | undefined;
}

function extend(chain: Certificate[], search: Search): Certificate[] | undefined {
  const child = chain.at(-1);
  if (child === undefined) return undefined;
  for (const isRoot of [true, false]) {
    for (const parent of isRoot ? search.roots : search.intermediates) {
      if (!parent.subject.equals(child.issuer)) continue;
      if (chain.some(({ raw }) => raw.equals(parent.raw))) continue;
      if (++search.signatures > MAX_SIGNATURES) {
        throw new CertificateError('signature check attempts limit reached while verifying certificate chain');
      }
      try {
        checkSignature(child, parent);
        checkItself(parent, search.now);
        checkAuthority(parent, chain, isRoot);
        const longer = [...chain, parent];
        if (isRoot) return checkedUsage(longer);
        const whole = extend(longer, search);
        if (whole !== undefined) return whole;
      } catch (error) {
        if (!(error instanceof CertificateError) || search.signatures > MAX_SIGNATURES) throw error;
        search.problem ??= error;
      }
    }
  }
  return undefined;
}

function checkItself({ unhandledCritical, notBefore, notAfter }: Certificate, now: number): void {
  if (unhandledCritical.length > 0) throw new CertificateError('unhandled critical extension');
  const words = `certificate has expired or is not yet valid: current time ${time(now)} is`;
  if (now < notBefore) throw new CertificateError(`${words} before ${time(notBefore)}`);
  if (now > notAfter) throw new CertificateError(`${words} after ${time(notAfter)}`);
}

function checkSignature(child: Certificate, parent: Certificate): void {
  const noAuthority =
    (parent.version === 3 && parent.basic === undefined) ||
    parent.basic?.ca === false ||
    parent.signsCertificates === false;
  if (noAuthority)
    throw new CertificateError('invalid signature: parent certificate cannot sign this kind of certificate');
  if (!STRONG.has(child.signatureAlgorithm)) {
    throw new CertificateError(`cannot verify signature: insecure or unknown algorithm ${child.signatureAlgorithm}`);
  }
  let good: boolean;
  try {
    good = child.x509.verify(parent.x509.publicKey);
  } catch {
    // Keys of another kind than the signature.
    good = false;
  }
  if (!good) throw new CertificateError('certificate signed by unknown authority');
}

function checkAuthority(
  { basic, hasNameConstraints }: Certificate,
  below: readonly Certificate[],
  isRoot: boolean,
): void {
  if (!isRoot && basic?.ca !== true) {
    throw new CertificateError('certificate is not authorized to sign other certificates');
  }
  if (basic !== undefined && basic.pathLength >= 0 && below.length - 1 > basic.pathLength) {
    throw new CertificateError('too many intermediates for path length constraint');
  }
  if (hasNameConstraints && below.some(({ hasAltNames }) => hasAltNames)) {
    throw new CertificateError('name constraints of an authority are not understood');
  }
}

/** Extended key usages nest: each certificate of the chain that names some must name this one. */
function checkedUsage(chain: Certificate[]): Certificate[] {
  for (const { usages } of chain) {
    if (usages.length === 0 || usages.includes(ANY_USAGE) || usages.includes(CLIENT_AUTH)) continue;
    throw new CertificateError('certificate specifies an incompatible key usage');
  }
  return chain;
}

function time(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z');
}
