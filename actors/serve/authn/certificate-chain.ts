import type { Certificate } from './certificate.ts';
import { MAX_COMPARISONS, constraintFault } from './name-constraints.ts';
import type { NameConstraints } from './name-constraints.ts';

/** Why a certificate is not trusted; in the words of Go's crypto/x509, which the readers of kubelet's log know. */
class CertificateError extends Error {
  constructor(message: string) {
    super(`x509: ${message}`);
    this.name = 'CertificateError';
  }
}

const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';
const ANY_USAGE = '2.5.29.37.0';
/** So many authorities are considered for one certificate, as with Go, then it is refused: certificates of strangers cost time. */
const MAX_CANDIDATES = 100;

/**
 * Builds a chain from the leaf over intermediates (which need no trust) to one of the roots and checks it for client
 * authentication at the time `now` (ms), by the rules of Go's `Certificate.Verify`, as kubelet does: a certificate
 * without extended key usages allows all of them; roots are checked as well. Stricter than Go: chains with rules about
 * policies are refused.
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
  const signatures = new Map<Certificate, Map<Certificate, CertificateError | null>>();
  const comparisons = { left: MAX_COMPARISONS };
  const search: Search = { intermediates: [], roots, now, considered: 0, problem: undefined, signatures, comparisons };
  if (roots.some(({ raw }) => raw.equals(leaf.raw))) return checkedWhole([leaf], search);
  search.intermediates = signedFromRoots(intermediates, search);
  const chain = extend([leaf], search);
  if (chain === undefined) throw search.problem ?? new CertificateError('certificate signed by unknown authority');
  return chain;
}

interface Search {
  intermediates: readonly Certificate[];
  roots: readonly Certificate[];
  now: number;
  considered: number;
  /** The first reason why a candidate was refused. */
  problem: CertificateError | undefined;
  /** What came of the signatures that were checked, by child and parent. */
  signatures: Map<Certificate, Map<Certificate, CertificateError | null>>;
  /** Names may yet be compared so often with constraints. */
  comparisons: { left: number };
}

/**
 * The intermediates that a root, or one of these, has signed. No chain leads over others, and only keys of these check
 * signatures: what strangers send costs as many checks with a root's key as they send certificates, however slow their own
 * keys are and whomever they signed with them.
 */
function signedFromRoots(intermediates: readonly Certificate[], search: Search): Certificate[] {
  const left = new Set(intermediates);
  const found: Certificate[] = [];
  const parents = [...search.roots];
  for (let parent = parents.shift(); parent !== undefined; parent = parents.shift()) {
    for (const child of left) {
      if (!parent.subject.equals(child.issuer)) continue;
      const fault = signatureFault(child, parent, search);
      if (fault === null) {
        left.delete(child);
        found.push(child);
        parents.push(child);
      } else search.problem ??= fault;
    }
  }
  return intermediates.filter((one) => found.includes(one));
}

function extend(chain: Certificate[], search: Search): Certificate[] | undefined {
  const child = chain.at(-1);
  if (child === undefined) return undefined;
  for (const isRoot of [true, false]) {
    for (const parent of candidates(child, isRoot ? search.roots : search.intermediates)) {
      if (++search.considered > MAX_CANDIDATES) {
        throw new CertificateError('signature check attempts limit reached while verifying certificate chain');
      }
      if (chain.some((one) => isSameEntity(one, parent))) continue;
      try {
        const fault = signatureFault(child, parent, search);
        if (fault !== null) throw fault;
        checkItself(parent, search.now);
        checkAuthority(parent, chain, isRoot);
        const longer = [...chain, parent];
        if (isRoot) return checkedWhole(longer, search);
        const whole = extend(longer, search);
        if (whole !== undefined) return whole;
      } catch (error) {
        if (!(error instanceof CertificateError) || search.considered > MAX_CANDIDATES) throw error;
        search.problem ??= error;
      }
    }
  }
  return undefined;
}

/** Those whose name is that of the issuer; first those whose key id is, too. */
function candidates({ issuer, authorityKeyId }: Certificate, from: readonly Certificate[]): Certificate[] {
  const rank = ({ subjectKeyId }: Certificate): number =>
    subjectKeyId.equals(authorityKeyId) ? 0 : subjectKeyId.length === 0 || authorityKeyId.length === 0 ? 1 : 2;
  return from.filter(({ subject }) => subject.equals(issuer)).sort((a, b) => rank(a) - rank(b));
}

/** Another certificate for the same name and key leads nowhere new. */
function isSameEntity(one: Certificate, other: Certificate): boolean {
  if (!one.subject.equals(other.subject) || !one.spki.equals(other.spki)) return false;
  const [names, others] = [one.altNames?.raw, other.altNames?.raw];
  return names === undefined || others === undefined ? names === others : names.equals(others);
}

function checkItself({ unhandledCritical, notBefore, notAfter }: Certificate, now: number): void {
  if (unhandledCritical.length > 0) throw new CertificateError('unhandled critical extension');
  const words = `certificate has expired or is not yet valid: current time ${time(now)} is`;
  if (now < notBefore) throw new CertificateError(`${words} before ${time(notBefore)}`);
  if (now > notAfter) throw new CertificateError(`${words} after ${time(notAfter)}`);
}

/** Why a signature does not count; each is looked at once. */
function signatureFault(child: Certificate, parent: Certificate, { signatures }: Search): CertificateError | null {
  const known = signatures.get(child) ?? new Map<Certificate, CertificateError | null>();
  signatures.set(child, known);
  const before = known.get(parent);
  if (before !== undefined) return before;
  const words = faultOf(child, parent);
  const fault = words === undefined ? null : new CertificateError(words);
  known.set(parent, fault);
  return fault;
}

function faultOf(child: Certificate, parent: Certificate): string | undefined {
  const { version, basic, signsCertificates, publicKey } = parent;
  if ((version === 3 && basic === undefined) || basic?.ca === false || signsCertificates === false)
    return 'invalid signature: parent certificate cannot sign this kind of certificate';
  const { oid, kind } = child.signature;
  if (kind === undefined) return `cannot verify signature: insecure or unknown algorithm ${oid}`;
  const unknown = 'certificate signed by unknown authority';
  if (publicKey?.kind !== kind) return `${unknown}: its key is of another kind than the signature`;
  if (publicKey.weakness !== undefined) return `${unknown}: ${publicKey.weakness}`;
  try {
    return child.x509.verify(publicKey.key) ? undefined : unknown;
  } catch {
    return unknown;
  }
}

function checkAuthority({ basic }: Certificate, below: readonly Certificate[], isRoot: boolean): void {
  if (!isRoot && basic?.ca !== true) {
    throw new CertificateError('certificate is not authorized to sign other certificates');
  }
  if (basic !== undefined && basic.pathLength >= 0 && below.length - 1 > basic.pathLength) {
    throw new CertificateError('too many intermediates for path length constraint');
  }
}

/** What is said of a chain that is complete: policies, extended key usages, which nest, and names. */
function checkedWhole(chain: Certificate[], { comparisons }: Search): Certificate[] {
  if (chain.length > 1 && chain.some(({ policyRules }) => policyRules === true))
    throw new CertificateError('no valid chains built: rules about policies are not followed');
  for (const { usages } of chain) {
    if (usages.length === 0 || usages.includes(ANY_USAGE) || usages.includes(CLIENT_AUTH)) continue;
    throw new CertificateError('certificate specifies an incompatible key usage');
  }
  const above: NameConstraints[] = [];
  for (const { altNames, nameConstraints } of [...chain].reverse()) {
    const fault =
      altNames === undefined || above.length === 0 ? undefined : constraintFault(altNames, above, comparisons);
    if (fault !== undefined)
      throw new CertificateError(
        `a root or intermediate certificate is not authorized to sign for this name: ${fault}`,
      );
    if (nameConstraints !== undefined) above.push(nameConstraints);
  }
  return chain;
}

function time(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z');
}
