import type { About, NodeAnswer, Overview, PodLine, StepDetail, StepPage } from '../../inspector/inspector-api.ts';

/** An answer of the server that is no success. */
export class ServerError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  const response = await fetch(path, { headers: { accept: 'application/json' }, ...(signal ? { signal } : {}) });
  if (response.ok) return (await response.json()) as T;
  let text = response.statusText;
  try {
    const body = (await response.json()) as { error?: unknown };
    if (typeof body.error === 'string') text = body.error;
  } catch {
    // Not the server's own words; the status has to do.
  }
  throw new ServerError(response.status, text === '' ? `HTTP ${String(response.status)}` : text);
}

/** What a server that does not know of it has of it. */
async function orIfUnknown<T>(none: T, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof ServerError && error.status === 404) return none;
    throw error;
  }
}

const pod = (uid: string) => `api/pods/${encodeURIComponent(uid)}`;

/** The server's answers; addresses are relative to the page, so that it can live below any path. */
export const server = {
  about: () => get<About>('api/about'),
  pods: () => get<PodLine[]>('api/pods'),
  /** Null, too, of a server that does not know of it. */
  node: () => orIfUnknown(null, async () => (await get<NodeAnswer>('api/node')).node),
  /** The other machines that there is one of. */
  machines: () => orIfUnknown([], () => get<PodLine[]>('api/machines')),
  /** `at` null: of the newest moment. */
  overview: (at: number | null) => get<Overview>(`api/overview${at === null ? '' : `?at=${String(at)}`}`),
  steps: (uid: string, from: number, limit: number) =>
    get<StepPage>(`${pod(uid)}/steps?from=${String(from)}&limit=${String(limit)}`),
  detail: (uid: string, index: number, signal?: AbortSignal) =>
    get<StepDetail>(`${pod(uid)}/steps/${String(index)}`, signal),
  explain: (uid: string, index: number, signal?: AbortSignal) =>
    get<unknown>(`${pod(uid)}/explain?index=${String(index)}`, signal),
};

/** Address of the live messages. */
export function liveAddress(): string {
  const address = new URL('api/live', document.baseURI);
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
  return address.href;
}
