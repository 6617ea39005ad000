import { TLSSocket } from 'node:tls';
import type { Socket } from 'node:net';
import type { DetailedPeerCertificate } from 'node:tls';
import { createHash } from 'node:crypto';
import { messageOf } from '../../../machines/values/message-of.ts';
import { parseCertificate } from './certificate.ts';
import { verifyChain } from './certificate-chain.ts';
import { ExpiringCache } from './expiring-cache.ts';
import type { AuthObserver } from './auth-observer.ts';
import type { Certificate } from './certificate.ts';
import type { Authenticator, AuthnRequest, UserInfo } from './user-info.ts';

/** Options of {@link X509Authenticator}. */
export interface X509Options {
  /** The authorities to trust now; another array means that they changed. */
  roots: () => readonly Certificate[];
  /** Feature gate AllowParsingUserUIDFromCertAuth. */
  withUid: boolean;
  /** Clock, ms. */
  /** Ms since the epoch: certificates have dates. */
  now: () => number;
  /** A clock that nobody can set, ms. */
  steady: () => number;
  observer: AuthObserver;
}

/** What a connection showed, and what came of looking at it. */
interface Peer {
  leaf: Certificate;
  intermediates: readonly Certificate[];
  /** The last good look: it holds for the same authorities while all of the chain is within its time. */
  good?: { roots: readonly Certificate[]; from: number; until: number; user: UserInfo | null };
  /** The last bad one: it holds for the same certificates until the clock comes to the beginning of one of them, or is set back. */
  bad?: {
    roots: readonly Certificate[];
    intermediates: readonly Certificate[];
    from: number;
    until: number;
    error: Error;
  };
}

/** A client sends a handful; more are not looked at. */
const MAX_INTERMEDIATES = 10;
const HINTS = 64;
const HINT_TTL_MS = 24 * 60 * 60 * 1000;

/**
 * Who a client certificate names (kubelet's x509 request authenticator). The chain is verified here and not by the TLS
 * layer, against the authorities of the moment, and time is looked at for each request: neither a long connection nor a
 * resumed TLS session outlives its certificate or its authority.
 */
export class X509Authenticator implements Authenticator {
  private readonly options: X509Options;
  private readonly peers = new WeakMap<TLSSocket, Peer | Error>();
  /** Intermediates by fingerprint of the leaf: a resumed TLS session has the leaf only. They need no trust. */
  private readonly hints: ExpiringCache<readonly Certificate[]>;

  constructor(options: X509Options) {
    this.options = options;
    this.hints = new ExpiringCache(HINTS, options.steady);
  }

  async authenticate({ socket }: AuthnRequest): Promise<UserInfo | null> {
    const peer = this.peerOf(socket);
    if (peer === null) return null;
    const now = this.options.now();
    this.options.observer.onClientCertificate?.((peer.leaf.notAfter - now) / 1000);
    const roots = this.options.roots();
    const { good } = peer;
    if (good?.roots === roots && now >= good.from && now <= good.until) return good.user;
    const fingerprint = peer.leaf.x509.fingerprint256;
    const known =
      peer.intermediates.length > 0 ? peer.intermediates : (this.hints.get(fingerprint) ?? peer.intermediates);
    const { bad } = peer;
    if (bad?.roots === roots && bad.intermediates === known && now >= bad.from && now < bad.until) throw bad.error;
    let chain: Certificate[];
    try {
      chain = verifyChain(peer.leaf, known, roots, now);
    } catch (cause) {
      const why = messageOf(cause);
      const error = new Error(`verifying certificate ${certificateIdentifier(peer.leaf)} failed: ${why}`, { cause });
      const beginnings = [peer.leaf, ...known, ...roots].map(({ notBefore }) => notBefore).filter((at) => at > now);
      peer.bad = { roots, intermediates: known, from: now, until: Math.min(...beginnings), error };
      throw error;
    }
    if (chain.length > 2) this.hints.set(fingerprint, known, HINT_TTL_MS);
    const user = certificateUser(peer.leaf, this.options.withUid);
    const from = Math.max(...chain.map(({ notBefore }) => notBefore));
    const until = Math.min(...chain.map(({ notAfter }) => notAfter));
    peer.good = { roots, from, until, user };
    return user;
  }

  private peerOf(socket: Socket): Peer | null {
    if (!(socket instanceof TLSSocket)) return null;
    let peer = this.peers.get(socket);
    if (peer === undefined) {
      const shown = shownBy(socket);
      if (shown[0] === undefined) return null;
      try {
        const [leaf, ...intermediates] = shown.map(parseCertificate);
        if (leaf === undefined) return null;
        peer = { leaf, intermediates };
      } catch (error) {
        peer = error instanceof Error ? error : new Error(String(error));
      }
      this.peers.set(socket, peer);
    }
    if (peer instanceof Error) throw peer;
    return peer;
  }
}

/** The certificates that the client sent, its own first; none without one. */
function shownBy(socket: TLSSocket): Buffer[] {
  const out: Buffer[] = [];
  // Without a certificate Node gives an object without fields.
  let next: Partial<DetailedPeerCertificate> | undefined = socket.getPeerCertificate(true);
  while (next?.raw !== undefined && out.length <= MAX_INTERMEDIATES) {
    const { raw } = next;
    if (out.some((seen) => seen.equals(raw))) break;
    out.push(raw);
    next = next.issuerCertificate;
  }
  return out;
}

const COMMON_NAME = '2.5.4.3';
const ORGANIZATION = '2.5.4.10';
/** Kubernetes' own attribute for the UID of a user (KEP-4828, `X509UID`). */
const USER_UID = '1.3.6.1.4.1.57683.2';

/**
 * The user that a verified client certificate names: common name (the last one, as Go takes it), organizations as
 * groups, the UID attribute when `withUid` (feature gate AllowParsingUserUIDFromCertAuth), and the certificate's
 * fingerprint as credential id. Null without a common name: no opinion then. Throws on a bad UID.
 */
export function certificateUser({ names, raw }: Certificate, withUid: boolean): UserInfo | null {
  const of = (oid: string): string[] => names.filter((name) => name.oid === oid).map(({ value }) => value);
  const name = of(COMMON_NAME).at(-1);
  if (name === undefined || name === '') return null;
  const uids = withUid ? of(USER_UID) : [];
  if (uids.length > 1) throw new Error(`expected 1 UID, but found multiple: [${uids.join(' ')}]`);
  if (uids[0] === '') throw new Error('UID cannot be an empty string');
  const id = createHash('sha256').update(raw).digest('hex');
  return {
    name,
    uid: uids[0] ?? '',
    groups: of(ORGANIZATION),
    extra: { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${id}`] },
  };
}

/** Serial number and key ids of a certificate, for messages. */
export function certificateIdentifier({ serial, subjectKeyId, authorityKeyId }: Certificate): string {
  const hex = (bytes: Buffer): string => (bytes.toString('hex').toUpperCase().match(/../g) ?? []).join(':');
  const number = serial.length === 0 ? 0n : BigInt.asIntN(serial.length * 8, BigInt(`0x${serial.toString('hex')}`));
  return `SN=${String(number)}, SKID=${hex(subjectKeyId)}, AKID=${hex(authorityKeyId)}`;
}
