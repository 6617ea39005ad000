/**
 * One podCertificate source of a projected volume (KEP-4317): from the request for a certificate to its refreshes. Keys and
 * certificates are no part of it; who hosts it keeps them in memory alone.
 *
 *     initial -> wait -> fresh <-> waitRefresh
 *                  \-> denied, failed <-/
 */
export type Credential =
  | { readonly state: 'initial' }
  | ({ readonly state: 'wait' } & Asked)
  | ({ readonly state: 'fresh' } & Validity)
  | ({ readonly state: 'waitRefresh' } & Asked & Validity)
  /** For good: the pod stays without. */
  | { readonly state: 'denied' | 'failed'; readonly reason: string; readonly message: string };

interface Asked {
  /** Name of the PodCertificateRequest. */
  readonly request: string;
  /** From then on, ms since the epoch, a request that is not seen counts as deleted. */
  readonly abandonAt: number;
}

interface Validity {
  /** ms since the epoch, as the next. */
  readonly beginRefreshAt: number;
  readonly notAfter: number;
  readonly overdueTold: boolean;
  readonly expiredTold: boolean;
}

/** A PodCertificateRequest as far as it matters here. */
export interface SeenRequest {
  /** `namespace/name`. */
  readonly name: string;
  readonly conditions: readonly { readonly type: string; readonly reason: string; readonly message: string }[];
  /** ms since the epoch; there when it is issued. */
  readonly beginRefreshAt?: number;
  readonly notAfter?: number;
}

/** What it hears. `jitterMs`: 0 to 5 min, so that the sources of a node do not ask in step. */
export type CredentialMessage =
  /** Look: something may have changed. `seen`: the request that is waited for, null when there is none to see. */
  | { readonly type: 'look'; readonly at: number; readonly seen: SeenRequest | null; readonly jitterMs: number }
  /** A request was made, at the API server's time `createdAt`. */
  | { readonly type: 'asked'; readonly request: string; readonly createdAt: number; readonly jitterMs: number };

/** What is to be done. */
export type CredentialOrder =
  /** Make a key and a request for it; `asked` comes back. */
  | { readonly do: 'ask' }
  /** The certificate of the request that was seen is there: its key is the one in use from now on. */
  | { readonly do: 'adopt' }
  /** The key of the request is of no use. */
  | { readonly do: 'drop' }
  | { readonly do: 'tell'; readonly reason: string; readonly message: string };

/** What became of a message. */
export interface CredentialStep {
  readonly next: Credential;
  readonly orders: readonly CredentialOrder[];
}

/** How long a request may stay unseen, or a certificate unrefreshed, ms (kubelet's `assumeDeletedThreshold`, `refreshOverdueDuration`). */
const LATE_MS = 10 * 60_000;

/** The next state, by the rules of kubelet's `handleProjection`. */
export function stepCredential(credential: Credential, message: CredentialMessage): CredentialStep {
  if (message.type === 'asked') return { next: asked(credential, message), orders: [] };
  switch (credential.state) {
    case 'initial':
      return { next: credential, orders: [{ do: 'ask' }] };
    case 'wait':
    case 'waitRefresh':
      return heard(credential, message);
    case 'fresh': {
      if (message.at < credential.beginRefreshAt) return { next: credential, orders: [] };
      const told = toldLate(credential, message.at);
      return { next: told.next, orders: [...told.orders, { do: 'ask' }] };
    }
    default:
      return { next: credential, orders: [] };
  }
}

/** What of it the metric `kubelet_podcertificate_states` tells at a time. */
export function metricState(credential: Credential, at: number): string {
  switch (credential.state) {
    case 'initial':
    case 'wait':
      return 'not_yet_issued';
    case 'denied':
    case 'failed':
      return credential.state;
    default:
      if (at > credential.notAfter) return 'expired';
      return at > credential.beginRefreshAt + LATE_MS ? 'overdue_for_refresh' : 'fresh';
  }
}

/** Why there is nothing to show, in kubelet's words; null when there is. */
export function lacking(credential: Credential): string | null {
  switch (credential.state) {
    case 'initial':
    case 'wait':
      return 'credential bundle is not issued yet';
    case 'denied':
    case 'failed':
      return `PodCertificateRequest was permanently ${credential.state}: ${because(credential, ' ')}`;
    default:
      return null;
  }
}

type Waiting = Extract<Credential, { state: 'wait' | 'waitRefresh' }>;
type Look = Extract<CredentialMessage, { type: 'look' }>;

function asked(credential: Credential, message: Extract<CredentialMessage, { type: 'asked' }>): Credential {
  const { request, createdAt, jitterMs } = message;
  const waits = { request, abandonAt: createdAt + LATE_MS + jitterMs };
  if (credential.state === 'initial') return { state: 'wait', ...waits };
  if (credential.state === 'fresh') return { ...credential, state: 'waitRefresh', ...waits };
  return credential;
}

function heard(credential: Waiting, { at, seen, jitterMs }: Look): CredentialStep {
  if (seen === null) {
    if (at <= credential.abandonAt) return { next: credential, orders: [] };
    const next: Credential = credential.state === 'wait' ? { state: 'initial' } : fresh(credential);
    return { next, orders: [{ do: 'drop' }] };
  }
  for (const { type, reason, message } of seen.conditions) {
    if (type === 'Denied' || type === 'Failed') {
      const was = type === 'Denied' ? 'was denied' : 'failed';
      const text = `PodCertificateRequest ${seen.name} ${was}, ${because({ reason, message }, ', ')}`;
      const next: Credential = { state: type === 'Denied' ? 'denied' : 'failed', reason, message };
      return { next, orders: [{ do: 'drop' }, { do: 'tell', reason: type, message: text }] };
    }
    if (type !== 'Issued') continue;
    const { beginRefreshAt = at, notAfter = at } = seen;
    const next: Credential = {
      ...{ state: 'fresh', beginRefreshAt: beginRefreshAt + jitterMs, notAfter },
      ...{ overdueTold: false, expiredTold: false },
    };
    return { next, orders: [{ do: 'adopt' }] };
  }
  return credential.state === 'wait' ? { next: credential, orders: [] } : toldLate(credential, at);
}

/** A certificate that should have been refreshed, or is over, is told of once. */
function toldLate<C extends Validity & Credential>(
  credential: C,
  at: number,
): { next: C; orders: readonly CredentialOrder[] } {
  const orders: CredentialOrder[] = [];
  const overdueTold = credential.overdueTold || at > credential.beginRefreshAt + LATE_MS;
  const expiredTold = credential.expiredTold || at > credential.notAfter;
  if (overdueTold && !credential.overdueTold)
    orders.push({ do: 'tell', reason: 'CertificateOverdueForRefresh', message: 'PodCertificate refresh overdue' });
  if (expiredTold && !credential.expiredTold)
    orders.push({ do: 'tell', reason: 'CertificateExpired', message: 'PodCertificate expired' });
  return { next: { ...credential, overdueTold, expiredTold }, orders };
}

function fresh({ beginRefreshAt, notAfter, overdueTold, expiredTold }: Validity): Credential {
  return { state: 'fresh', beginRefreshAt, notAfter, overdueTold, expiredTold };
}

/** Kubelet's events have a comma between the two, its volumes' errors have none. */
function because({ reason, message }: { reason: string; message: string }, between: ' ' | ', '): string {
  return `reason=${JSON.stringify(reason)}${between}message=${JSON.stringify(message)}`;
}
