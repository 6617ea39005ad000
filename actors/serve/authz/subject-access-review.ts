import { ExpiringCache } from '../authn/expiring-cache.ts';
import { withWebhookRetry } from '../authn/webhook-retry.ts';
import type { ApiClient } from '../../cluster/api/api-client.ts';
import type { AuthObserver } from '../authn/auth-observer.ts';
import type { Sleep } from '../authn/webhook-retry.ts';
import type { Access, Authorizer } from './authorizer.ts';

/** Options of {@link SubjectAccessAuthorizer}. */
export interface SubjectAccessOptions {
  api: ApiClient;
  nodeName: string;
  /** `authorization.webhook.cacheAuthorizedTTL`, ms. */
  allowedTtlMs: number;
  /** `authorization.webhook.cacheUnauthorizedTTL`, ms. */
  deniedTtlMs: number;
  /** A clock that nobody can set, ms. */
  steady: () => number;
  observer: AuthObserver;
  sleep?: Sleep;
}

/** Answers that are kept at most, as kubelet's webhook authorizer. */
const LIMIT = 8192;
/** What the client chose may not be longer than this to be kept: else it could fill the memory. */
const MAX_KEPT = 10_000;
/** Longest wait for one answer, ms. kubelet sets none: the API server itself ends a request after a minute, with 504. */
const LONGEST_WAIT_MS = 120_000;

/** `authorization.mode: Webhook`: asks the API server by SubjectAccessReview and remembers its answers. */
export class SubjectAccessAuthorizer implements Authorizer {
  private readonly options: SubjectAccessOptions;
  private readonly known: ExpiringCache<ReviewStatus>;
  private readonly ended = new AbortController();

  constructor(options: SubjectAccessOptions) {
    this.options = options;
    this.known = new ExpiringCache(LIMIT, options.steady);
  }

  async allows(access: Access): Promise<boolean> {
    const { allowedTtlMs, deniedTtlMs } = this.options;
    const spec = this.specOf(access);
    const key = JSON.stringify(spec);
    let status = this.known.get(key);
    if (status === undefined) {
      status = await this.review(spec);
      if (this.mayKeep(access)) this.known.set(key, status, status.allowed ? allowedTtlMs : deniedTtlMs);
    }
    if (status.denied && status.allowed) {
      throw new Error('webhook subject access review returned both allow and deny response');
    }
    return status.allowed;
  }

  /** Ends questions under way; later ones fail. */
  stop(): void {
    this.ended.abort();
  }

  private specOf({ user, verb, subresource }: Access): object {
    const on = { version: 'v1', resource: 'nodes', subresource, name: this.options.nodeName };
    const resourceAttributes = verb === '' ? on : { verb, ...on };
    return {
      resourceAttributes,
      user: user.name,
      ...(user.groups.length === 0 ? {} : { groups: user.groups }),
      ...(Object.keys(user.extra).length === 0 ? {} : { extra: user.extra }),
      ...(user.uid === '' ? {} : { uid: user.uid }),
    };
  }

  private async review(spec: object): Promise<ReviewStatus> {
    const { api, observer, sleep } = this.options;
    const { signal } = this.ended;
    const ask = (): Promise<ReviewAnswer | undefined> =>
      api.request({
        method: 'POST',
        on: { group: 'authorization.k8s.io', version: 'v1', resource: 'subjectaccessreviews' },
        body: { kind: 'SubjectAccessReview', apiVersion: 'authorization.k8s.io/v1', metadata: {}, spec },
        timeoutMs: LONGEST_WAIT_MS,
        signal,
      });
    const answer = await withWebhookRetry(ask, signal, observer.onSubjectAccessReview?.bind(observer), sleep);
    return { allowed: answer?.status?.allowed === true, denied: answer?.status?.denied === true };
  }

  private mayKeep({ verb, subresource, path }: Access): boolean {
    const fixed = 'v1'.length + 'nodes'.length + this.options.nodeName.length;
    return fixed + verb.length + subresource.length + Buffer.byteLength(path) < MAX_KEPT;
  }
}

interface ReviewStatus {
  allowed: boolean;
  denied: boolean;
}

/** `authorization.k8s.io/v1` SubjectAccessReview, in parts. */
interface ReviewAnswer {
  status?: Partial<ReviewStatus>;
}
