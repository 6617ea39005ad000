import type { Credentials, Identity } from '../api/credentials.ts';
import type { KeyPair } from './key-pair.ts';

/** Longest time that a request waits for the first certificate before it goes out without one, in ms. */
const FIRST_WAIT_MS = 10_000;

/**
 * Credentials that follow a certificate manager: the next request takes the new certificate and with it a new connection;
 * what runs on the old one comes to its end there. Without a certificate, requests are anonymous, as in kubelet.
 */
export class RotatingCredentials implements Credentials {
  private readonly pair: () => KeyPair | null;
  private readonly waitMs: number;
  private last: { pair: KeyPair; identity: Identity } | undefined;
  private readonly waiting = new Set<() => void>();

  constructor(pair: () => KeyPair | null, waitMs = FIRST_WAIT_MS) {
    this.pair = pair;
    this.waitMs = waitMs;
  }

  current(): Identity | Promise<Identity> {
    return this.identity() ?? this.first();
  }

  rejected(identity: Identity): boolean {
    return this.identity() !== identity && this.pair() !== null;
  }

  /** Tells that there is another certificate. */
  changed(): void {
    for (const go of this.waiting) go();
  }

  private identity(): Identity | undefined {
    const pair = this.pair();
    if (pair === null) return undefined;
    if (this.last?.pair !== pair) this.last = { pair, identity: { cert: pair.cert, key: pair.key } };
    return this.last.identity;
  }

  private first(): Promise<Identity> {
    return new Promise((resolve) => {
      const go = (): void => {
        clearTimeout(timer);
        this.waiting.delete(go);
        resolve(this.identity() ?? ANONYMOUS);
      };
      const timer = setTimeout(go, this.waitMs).unref();
      this.waiting.add(go);
    });
  }
}

const ANONYMOUS: Identity = {};
