import { withWebhookRetry } from './webhook-retry.ts';
import type { ApiClient } from '../../cluster/api/api-client.ts';
import type { AuthObserver } from './auth-observer.ts';
import type { UserInfo } from './user-info.ts';
import type { Sleep } from './webhook-retry.ts';

/** Asks who has a token; null = nobody. Rejects when the API server gives no answer, or says why it cannot tell. */
export type ReviewToken = (token: string, signal: AbortSignal) => Promise<UserInfo | null>;

/** Asks the API server by TokenReview, for no audience in particular, as kubelet does. */
export function tokenReview(api: ApiClient, observer: AuthObserver, sleep?: Sleep): ReviewToken {
  return async (token, signal) => {
    const onAnswer = observer.onTokenReview?.bind(observer);
    const answer = await withWebhookRetry(() => create(api, token, signal), signal, onAnswer, sleep);
    const { status } = answer;
    if (status?.authenticated !== true) {
      if (status?.error !== undefined && status.error !== '') throw new Error(status.error);
      return null;
    }
    const { username = '', uid = '', groups = [], extra = {} } = status.user ?? {};
    return { name: username, uid, groups, extra };
  };
}

/** `authentication.k8s.io/v1` TokenReview, in parts. */
interface TokenReviewAnswer {
  status?: {
    authenticated?: boolean;
    error?: string;
    user?: { username?: string; uid?: string; groups?: string[]; extra?: Record<string, string[]> };
  };
}

async function create(api: ApiClient, token: string, signal: AbortSignal): Promise<TokenReviewAnswer> {
  const answer = await api.request<TokenReviewAnswer | undefined>({
    method: 'POST',
    on: { group: 'authentication.k8s.io', version: 'v1', resource: 'tokenreviews' },
    body: { kind: 'TokenReview', apiVersion: 'authentication.k8s.io/v1', metadata: {}, spec: { token } },
    signal,
  });
  return answer ?? {};
}
