import type { Logger } from 'pino';
import { ActorletError } from '../../../machines/errors/define.ts';
import { certificateErrors } from '../../../machines/errors/certificate-errors.ts';
import { backOffMs } from '../../../machines/values/back-off.ts';
import { unlessAborted } from '../../host/time/unless-aborted.ts';
import { ApiStatusError } from '../api/api-client.ts';
import type { ApiClient } from '../api/api-client.ts';
import type { CertificateStore } from './certificate-store.ts';
import { realClock } from './clock.ts';
import type { Clock } from './clock.ts';
import { createRequest, waitForCertificate } from './csr-api.ts';
import { usagesFor } from './csr-name.ts';
import type { SignerName } from './csr-name.ts';
import { readKey, readKeyPair } from './key-pair.ts';
import type { KeyPair } from './key-pair.ts';
import { sameTemplate, unsatisfied } from './request-template.ts';
import type { RequestTemplate } from './request-template.ts';
import { rotationDeadline } from './rotation-deadline.ts';
import { makeRequest, newKey } from './x509.ts';

/** What a manager works with. */
export interface CertificateManagerOptions {
  signer: SignerName;
  store: CertificateStore;
  /** What the certificate must be for now; null when nothing can be requested yet. */
  template: () => RequestTemplate | null;
  /** The way to the signer, taken for each try; null = never ask, use what the store has. */
  api: ((current: KeyPair | null) => { api: ApiClient; release: () => void }) | null;
  /** A certificate to begin with when the store has none; it is replaced at once. */
  initial?: { cert: string; key: string };
  /** A new certificate is in use, or the one in use is no more (null). */
  onChange?: (pair: KeyPair | null) => void;
  /** Age in seconds of a certificate that was replaced (`*_rotation_seconds`). */
  onRotated?: (seconds: number) => void;
  /** A try has failed (`*_renew_errors`). */
  onRenewFailure?: () => void;
  log: Logger;
  clock?: Clock;
}

/** Longest wait for approval and signature before a new request is made. */
const CERTIFICATE_WAIT_MS = 15 * 60_000;
/** Pauses of a try that fails: 2, 4, 8, 16 s and a tenth more at random, then this long each time. */
const PAUSES = { firstMs: 2_000, maxMs: 32_000 };
/** How often the wanted names are compared with the certificate's, and the pause between two rotations. */
const LOOK_MS = 1_000;
/** Timers of Node end at 24 days, and do not count while the machine sleeps. */
const LONGEST_SLEEP_MS = 3_600_000;

/**
 * Keeps one certificate of the node valid: asks for it by CertificateSigningRequest, stores it, and asks for the next
 * one after 70 to 90 % of its life or when other names are wanted (client-go `util/certificate`).
 */
export class CertificateManager {
  private readonly options: CertificateManagerOptions;
  private readonly clock: Clock;
  private readonly log: Logger;
  private readonly stopping = new AbortController();
  private pair: KeyPair | null;
  private rotateNow: boolean;
  private healthy = false;
  private lastTemplate: RequestTemplate | null = null;
  /** Ends the wait for a request's certificate. */
  private request: AbortController | undefined;
  /** Ends the wait for the deadline. */
  private wait: AbortController | undefined;
  private running: Promise<unknown> | undefined;

  /** Reads the store. Throws CERT006 when what it has cannot be read. */
  constructor(options: CertificateManagerOptions) {
    this.options = options;
    this.clock = options.clock ?? realClock;
    this.log = options.log.child({ logger: options.signer });
    ({ pair: this.pair, rotateNow: this.rotateNow } = this.begin());
  }

  /** The certificate in use; null when there is none yet, or it has expired. */
  current(): KeyPair | null {
    return this.pair !== null && this.clock.now() <= this.pair.leaf.validToDate.getTime() ? this.pair : null;
  }

  /** Seconds until the certificate expires; infinite without one (`*_ttl_seconds`). */
  ttlSeconds(): number {
    const pair = this.current();
    return pair === null ? Infinity : Math.trunc((pair.leaf.validToDate.getTime() - this.clock.now()) / 1000);
  }

  /** Whether the API server seems to be alive, by what the last request got. */
  serverHealthy(): boolean {
    return this.healthy;
  }

  /** Begins to rotate, until `stop`. */
  start(): void {
    if (this.options.api === null) {
      this.log.debug('Certificate rotation is not enabled, no connection to the apiserver');
      return;
    }
    this.log.debug('Certificate rotation is enabled');
    this.running ??= Promise.all([this.rotateForever(), this.watchTemplate()]);
  }

  /** Ends at once; the certificate stays readable. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.request?.abort();
    this.wait?.abort();
    await this.running;
  }

  private get stopped(): boolean {
    return this.stopping.signal.aborted;
  }

  private begin(): { pair: KeyPair | null; rotateNow: boolean } {
    const { store, initial } = this.options;
    const stored = store.current();
    if (stored !== null && this.clock.now() < stored.leaf.validToDate.getTime())
      return { pair: stored, rotateNow: false };
    if (initial === undefined) return { pair: null, rotateNow: true };
    const pair = readKeyPair(initial.cert, initial.key);
    try {
      store.update(initial.cert, initial.key, new Date(this.clock.now()));
    } catch (err) {
      this.log.error({ err }, 'Unable to set the cert/key pair to the bootstrap certificate');
    }
    return { pair, rotateNow: true };
  }

  private async rotateForever(): Promise<void> {
    while (!this.stopped) {
      if (await this.due()) await this.rotateUntilDone();
      await this.clock.sleep(LOOK_MS, this.stopping.signal);
    }
  }

  /** Waits for the time to rotate; false when there is nothing to do after all. */
  private async due(): Promise<boolean> {
    const deadline = this.nextDeadline();
    if (deadline > this.clock.now()) {
      this.log.debug({ deadline: new Date(deadline).toISOString() }, 'Waiting for next certificate rotation');
      const wait = new AbortController();
      this.wait = wait;
      while (!wait.signal.aborted && !this.stopped) {
        const left = deadline - this.clock.now();
        if (left <= 0) break;
        await this.clock.sleep(Math.min(left, LONGEST_SLEEP_MS), wait.signal);
      }
      this.wait = undefined;
      if (wait.signal.aborted) {
        if (sameTemplate(this.lastTemplate, this.options.template())) return false;
        this.log.debug('Certificate template changed, rotating');
      }
    }
    return !this.stopped && this.options.template() !== null;
  }

  private nextDeadline(): number {
    const at = this.clock.now();
    if (this.rotateNow) {
      this.rotateNow = false;
      return at;
    }
    if (this.pair === null || this.unsatisfied() !== '') return at;
    const deadline = rotationDeadline(this.pair.leaf, this.clock.random());
    this.log.debug(
      { expiration: this.pair.leaf.validToDate.toISOString(), deadline: new Date(deadline).toISOString() },
      'Certificate rotation deadline determined',
    );
    return deadline;
  }

  private unsatisfied(): string {
    const template = this.options.template();
    if (this.pair === null) return 'There is no certificate';
    return template === null ? '' : unsatisfied(this.pair.leaf, template);
  }

  private async rotateUntilDone(): Promise<void> {
    for (let failures = 1; !this.stopped; failures++) {
      if (await this.rotateOnce()) return;
      const pause = backOffMs(failures, PAUSES);
      const growing = pause < PAUSES.maxMs;
      if (!growing && backOffMs(failures - 1, PAUSES) < pause)
        this.log.error('Reached backoff limit, still unable to rotate certs');
      await this.clock.sleep(growing ? pause * (1 + 0.1 * this.clock.random()) : pause, this.stopping.signal);
    }
  }

  /** One try: key, request, certificate, store. False when it failed, which is logged and counted. */
  private async rotateOnce(): Promise<boolean> {
    this.log.debug('Rotating certificates');
    try {
      const old = this.pair;
      const { cert, key } = await this.obtain();
      this.pair = this.options.store.update(cert, key, new Date(this.clock.now()));
      this.healthy = true;
      if (old !== null) this.options.onRotated?.((this.clock.now() - old.leaf.validFromDate.getTime()) / 1000);
      this.log.info({ expiration: this.pair.leaf.validToDate.toISOString() }, 'Certificate rotated');
      this.options.onChange?.(this.pair);
      return true;
    } catch (err) {
      if (this.stopped) return false;
      this.options.onRenewFailure?.();
      this.log.error({ err }, 'Unable to rotate the certificate; it is tried again');
      return false;
    }
  }

  private async obtain(): Promise<{ cert: string; key: string }> {
    const { signer } = this.options;
    const { log, clock } = this;
    const template = this.options.template();
    if (template === null) throw new Error('unable to create a csr, no template available');
    const key = newKey();
    const { signal } = this.stopping;
    const request = await unlessAborted(makeRequest(key, template), signal);
    const way = this.options.api?.(this.current());
    if (way === undefined) throw new Error('no connection to the API server');
    const { api } = way;
    try {
      const usages = usagesFor(signer, readKey(key));
      const wish = { api, request, name: '', signer, usages, template, key, now: () => clock.now(), log, signal };
      const ref = await createRequest(wish).catch((error: unknown) => this.refused(error));
      this.lastTemplate = template;
      return { cert: await this.issued(api, ref), key };
    } finally {
      way.release();
    }
  }

  private async issued(api: ApiClient, ref: { name: string; uid: string }): Promise<string> {
    const waiting = new AbortController();
    const minutes = CERTIFICATE_WAIT_MS / 60_000;
    this.request = waiting;
    const late = new ActorletError(certificateErrors.notSigned, { name: ref.name, minutes });
    void this.clock.sleep(CERTIFICATE_WAIT_MS, waiting.signal).then(() => waiting.abort(late));
    if (this.stopped) waiting.abort();
    try {
      return await waitForCertificate(api, ref, this.log, waiting.signal);
    } finally {
      this.request = undefined;
      waiting.abort();
    }
  }

  /** Tells from what the server said whether it is alive: its own refusals are signs of life, a proxy's are not. */
  private refused(error: unknown): never {
    this.healthy = error instanceof ApiStatusError && [401, 403, 404].includes(error.status);
    if (!(error instanceof ApiStatusError)) throw error;
    throw new ActorletError(certificateErrors.cannotRequest, { reason: error.message }, { cause: error });
  }

  /** Other names are wanted, and not yet asked for: gives up the waiting request, or wakes the rotation. */
  private async watchTemplate(): Promise<void> {
    for (; !this.stopped; await this.clock.sleep(LOOK_MS, this.stopping.signal)) {
      if (this.unsatisfied() === '' || sameTemplate(this.lastTemplate, this.options.template())) continue;
      this.request?.abort(new Error('other names are wanted now'));
      this.wait?.abort();
    }
  }
}
