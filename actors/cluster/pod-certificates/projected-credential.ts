import type { Logger } from 'pino';
import { lacking, stepCredential } from '../../../machines/pod-certificates/credential.ts';
import type { Credential, CredentialMessage, CredentialOrder } from '../../../machines/pod-certificates/credential.ts';
import { BackOff } from '../../../machines/values/back-off.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { certificatesPem, pemBlocks } from '../../../machines/values/pem.ts';
import { codedError } from '../objects/object-errors.ts';
import { seenRequest } from './certificate-request.ts';
import type { PodCertificateRequest, Projection } from './certificate-request.ts';

/** What a volume shows. Secret: never log it. */
export interface CredentialBundle {
  /** PEM of PKCS #8. */
  key: string;
  /** PEM, the pod's certificate first. */
  chain: string;
}

/** What {@link ProjectedCredential} works with. */
export interface CredentialWays {
  log: Logger;
  now: () => number;
  random: () => number;
  /** The request as the API server has it; null when it has none, undefined while that is not known. */
  seen: (request: string) => PodCertificateRequest | null | undefined;
  /** Makes a key and a request. */
  ask: (signal: AbortSignal) => Promise<{ key: string; request: string; createdAt: number }>;
  /** What the volume shows has changed, or cannot be shown any more. */
  refresh: () => void;
  tell: (reason: string, message: string) => void;
}

const JITTER_MS = 5 * 60_000;
/** Wait after a request that could not be made: client-go's rate limiter begins at 5 ms and grows to 1000 s. */
const RETRY = { firstMs: 100, maxMs: 60_000 };

/** Carries out what the machine of one source orders, and keeps its keys in memory. */
export class ProjectedCredential {
  credential: Credential = { state: 'initial' };
  readonly volume: string;
  readonly index: number;
  readonly signerName: string;
  private readonly projection: Projection;
  private readonly ways: CredentialWays;
  private readonly backOff = new BackOff(RETRY);
  private readonly ending = new AbortController();
  private readonly waiting = new Set<() => void>();
  private bundle: CredentialBundle | null = null;
  /** Of the request that is waited for. */
  private askedKey: string | null = null;
  private asking = false;
  private retry: NodeJS.Timeout | null = null;

  constructor(projection: Projection, ways: CredentialWays) {
    this.projection = projection;
    this.ways = ways;
    this.volume = projection.volume;
    this.index = projection.index;
    this.signerName = projection.source.signerName;
  }

  /** Something may have changed. */
  look(): void {
    if (this.asking || this.retry !== null || this.ending.signal.aborted) return;
    const { seen, now, random } = this.ways;
    const request = 'request' in this.credential ? seen(this.credential.request) : null;
    if (request === undefined) return;
    const jitterMs = random() * JITTER_MS;
    const told = request === null ? null : seenRequest(request);
    this.step({ type: 'look', at: now(), seen: told, jitterMs }, request?.status?.certificateChain ?? '');
  }

  /** Key and certificates; waits so long for the first ones. */
  async get(timeoutMs: number): Promise<CredentialBundle> {
    if (this.notIssued) await this.firstOne(timeoutMs);
    const lacks = lacking(this.credential);
    if (lacks === null && this.bundle !== null) return this.bundle;
    throw codedError('NoCertificate', lacks ?? 'credential bundle is not issued yet');
  }

  /** Forgets the keys. */
  stop(): void {
    this.ending.abort();
    if (this.retry !== null) clearTimeout(this.retry);
    this.bundle = null;
    this.askedKey = null;
    this.wake();
  }

  private get notIssued(): boolean {
    const { state } = this.credential;
    return (state === 'initial' || state === 'wait') && !this.ending.signal.aborted;
  }

  private step(message: CredentialMessage, chain = ''): void {
    const before = this.credential;
    const { next, orders } = stepCredential(before, message);
    this.credential = next;
    if (next.state !== before.state) this.ways.log.debug({ ...this.about(), state: next.state }, 'Pod certificate');
    for (const order of orders) this.carryOut(order, chain);
  }

  private carryOut(order: CredentialOrder, chain: string): void {
    switch (order.do) {
      case 'ask':
        void this.ask();
        return;
      case 'adopt':
        this.bundle = { key: this.askedKey ?? '', chain: certificatesPem(pemBlocks(chain)) };
        this.askedKey = null;
        this.changed();
        return;
      case 'drop':
        this.askedKey = null;
        // Only a certificate that is asked for anew leaves the bundle as it is.
        if (lacking(this.credential) !== null) this.changed();
        else this.look();
        return;
      case 'tell':
        this.ways.tell(order.reason, order.message);
    }
  }

  /** Whoever waits is answered; when nobody does, the volume is set up again. */
  private changed(): void {
    const { state } = this.credential;
    if (state === 'initial') this.look();
    else if (this.waiting.size === 0) this.ways.refresh();
    if (!this.notIssued) this.wake();
  }

  private async ask(): Promise<void> {
    const { ask, log, random } = this.ways;
    const { signal } = this.ending;
    this.asking = true;
    try {
      const { key, request, createdAt } = await ask(signal);
      if (signal.aborted) return;
      this.backOff.reset();
      this.askedKey = key;
      this.step({ type: 'asked', request, createdAt, jitterMs: random() * JITTER_MS });
    } catch (error) {
      if (signal.aborted) return;
      const waitMs = this.backOff.next();
      log.warn({ ...this.about(), error: messageOf(error), waitMs }, 'Cannot request a pod certificate');
      this.retry = setTimeout(() => {
        this.retry = null;
        this.look();
      }, waitMs);
      this.retry.unref();
    } finally {
      this.asking = false;
    }
    // The watch may have told of the request before its answer was there.
    this.look();
  }

  private async firstOne(timeoutMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const told = (): void => {
        clearTimeout(timer);
        this.waiting.delete(told);
        resolve();
      };
      const timer = setTimeout(told, timeoutMs);
      this.waiting.add(told);
    });
  }

  private wake(): void {
    for (const tell of [...this.waiting]) tell();
  }

  private about(): object {
    const { namespace, name } = this.projection.pod.metadata ?? {};
    return { pod: `${namespace ?? ''}/${name ?? ''}`, volumeName: this.volume, sourceIndex: this.index };
  }
}
