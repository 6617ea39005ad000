import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { ApiClient } from '../api/api-client.ts';
import type { AskCatalog } from '../../../machines/protocol/ask.ts';
import { codedError, whileForbidden, withCode } from './object-errors.ts';

/**
 * Which token: `audience` '' = the API server's default. One with `serviceAccountUid` (the account must be that one) is not
 * for a volume: it is made anew when it is asked for, and nobody is told that it is due.
 */
export type TokenParams = AskCatalog['token.Get']['params'] & { serviceAccountUid?: string };

/** Settings of {@link TokenManager}. */
export interface TokenManagerSettings {
  api: ApiClient;
  log: Logger;
  /** A token of the pod wants to be refreshed: its volumes are to be set up again, which asks for the token. */
  onDue?: (podUid: string) => void;
  now?: () => number;
  /** 0 to 1, for jitter. */
  random?: () => number;
}

interface Entry {
  params: TokenParams;
  /** '' once expired. */
  token: string;
  expiresAt: number;
  /** When a fresh one is wanted, in ms. */
  dueAt: number;
  /** `onDue` was called for this `dueAt`. */
  told: boolean;
}

interface TokenRequest {
  spec?: { expirationSeconds?: number };
  status?: { token?: string; expirationTimestamp?: string };
}

/** A token is refreshed after 24 h at the latest, and up to 10 s earlier than it must, so that not all are at once. */
const MAX_AGE_MS = 24 * 3600_000;
const JITTER_MS = 10_000;
/** Wait after a refresh that failed while the old token still lives. */
const RETRY_MS = 30_000;
/** Longest time of a Node.js timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Service-account tokens bound to pods (TokenRequest API), each until 80 % of its life is over or it is a day old.
 * While the API server is away an old token serves until it expires. No token ever enters a log.
 */
export class TokenManager {
  private readonly settings: TokenManagerSettings;
  private readonly entries = new Map<string, Entry>();
  private readonly asking = new Map<string, Promise<string>>();
  private readonly now: () => number;
  private timer: NodeJS.Timeout | null = null;
  private ringsAt = 0;
  private closed = false;

  constructor(settings: TokenManagerSettings) {
    this.settings = settings;
    this.now = settings.now ?? Date.now;
  }

  /** The token, from the cache while it is fresh; asks at the same time share one request. */
  async get(params: TokenParams): Promise<string> {
    const key = keyOf(params);
    const entry = this.entries.get(key);
    if (entry !== undefined && entry.token !== '' && this.now() < Math.min(entry.dueAt, entry.expiresAt))
      return entry.token;
    let asking = this.asking.get(key);
    if (asking === undefined) {
      asking = this.refresh(key, params).finally(() => {
        if (this.asking.get(key) === asking) this.asking.delete(key);
      });
      this.asking.set(key, asking);
    }
    return asking;
  }

  /** The same with the time of its end, for a CSI driver. */
  async issue(params: TokenParams): Promise<{ token: string; expirationTimestamp: string }> {
    const token = await this.get(params);
    const entry = this.entries.get(keyOf(params));
    const expiresAt = entry?.token === token ? entry.expiresAt : this.now();
    return { token, expirationTimestamp: `${new Date(expiresAt).toISOString().slice(0, 19)}Z` };
  }

  /** When the first of the pod's tokens wants to be refreshed, in ms since the epoch; null when it has none. */
  dueBefore(podUid: string): number | null {
    let due: number | null = null;
    for (const entry of this.entries.values()) {
      if (entry.params.podUid === podUid && (due === null || entry.dueAt < due)) due = entry.dueAt;
    }
    return due;
  }

  /** The pod is gone: its tokens are forgotten. */
  forget(podUid: string): void {
    for (const [key, { params }] of this.entries) if (params.podUid === podUid) this.entries.delete(key);
    for (const key of this.asking.keys()) if (key.endsWith(` ${podUid}`)) this.asking.delete(key);
    this.arm();
  }

  /** Forgets all tokens and ends the timer. */
  close(): void {
    this.closed = true;
    this.entries.clear();
    this.asking.clear();
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
  }

  private async refresh(key: string, params: TokenParams): Promise<string> {
    const old = this.entries.get(key);
    let fresh: Entry;
    try {
      fresh = await this.request(params);
    } catch (thrown) {
      const error = withCode(thrown);
      if (old === undefined) throw codedError(error.code, `failed to fetch token: ${error.message}`, error);
      if (this.now() >= old.expiresAt) {
        old.token = '';
        this.retryLater(old);
        throw codedError(error.code, `token ${printedKey(params)} expired and refresh failed: ${error.message}`, error);
      }
      this.settings.log.error({ err: error, cacheKey: printedKey(params) }, "Couldn't update token");
      this.retryLater(old);
      return old.token;
    }
    // A pod that was forgotten meanwhile leaves nothing behind.
    if (this.asking.has(key) && !this.closed) {
      this.entries.set(key, fresh);
      this.arm();
    }
    return fresh.token;
  }

  private async request(params: TokenParams): Promise<Entry> {
    const { api, random = Math.random } = this.settings;
    const { namespace, serviceAccount, serviceAccountUid, podName, podUid, audience, expirationSeconds } = params;
    const body = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      ...(serviceAccountUid !== undefined && { metadata: { uid: serviceAccountUid } }),
      spec: {
        audiences: audience === '' ? [] : [audience],
        expirationSeconds,
        boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: podName, uid: podUid },
      },
    };
    const began = this.now();
    const answer = await whileForbidden(
      () =>
        api.request<TokenRequest>({
          method: 'POST',
          on: { group: '', version: 'v1', resource: 'serviceaccounts', namespace },
          name: serviceAccount,
          subresource: 'token',
          body,
        }),
      (ms) => delay(ms, undefined, { ref: false }),
    );
    const token = answer.status?.token ?? '';
    const lifeMs = (answer.spec?.expirationSeconds ?? expirationSeconds) * 1000;
    const told = Date.parse(answer.status?.expirationTimestamp ?? '');
    const expiresAt = Number.isNaN(told) ? began + lifeMs : told;
    if (token === '') throw codedError('InvalidAnswer', 'the API server answered without a token');
    const dueAt = expiresAt - lifeMs + Math.min(0.8 * lifeMs, MAX_AGE_MS) - random() * Math.min(JITTER_MS, lifeMs / 10);
    return { params, token, expiresAt, dueAt, told: serviceAccountUid !== undefined };
  }

  private retryLater(entry: Entry): void {
    const { random = Math.random } = this.settings;
    entry.dueAt = this.now() + RETRY_MS * (0.75 + random() / 2);
    entry.told = entry.params.serviceAccountUid !== undefined;
    this.arm();
  }

  /**
   * One timer for the first token that is due; also wipes what has expired. A timer that rings too early is left as it is: Node
   * keeps the list of an unref'd timer's duration until that is over, so one set anew for each pod that goes would leave a list for hours.
   */
  private arm(): void {
    const { onDue } = this.settings;
    if (onDue === undefined) return;
    let next = Infinity;
    for (const { dueAt, told } of this.entries.values()) if (!told) next = Math.min(next, dueAt);
    const at = this.now();
    if (next === Infinity || (this.timer !== null && this.ringsAt <= next && next > at)) return;
    if (this.timer !== null) clearTimeout(this.timer);
    const wait = Math.min(MAX_TIMER_MS, Math.max(0, next - at));
    this.ringsAt = at + wait;
    this.timer = setTimeout(() => {
      this.timer = null;
      this.tellDue();
    }, wait);
    this.timer.unref();
  }

  private tellDue(): void {
    const at = this.now();
    const pods = new Set<string>();
    for (const entry of this.entries.values()) {
      if (at >= entry.expiresAt) entry.token = '';
      if (entry.told || at < entry.dueAt) continue;
      entry.told = true;
      pods.add(entry.params.podUid);
    }
    this.arm();
    for (const uid of pods) this.settings.onDue?.(uid);
  }
}

/** Ends with the pod's UID; see `forget`. */
function keyOf(params: TokenParams): string {
  const { namespace, serviceAccount, serviceAccountUid = '', podName, podUid, audience, expirationSeconds } = params;
  const account = `${serviceAccount} ${serviceAccountUid}`;
  return [namespace, account, podName, expirationSeconds, JSON.stringify(audience), podUid].join(' ');
}

/** What may be printed of a key. */
function printedKey({ namespace, serviceAccount, podName }: TokenParams): string {
  return `"${serviceAccount}"/"${namespace}"/"${podName}"`;
}
