import { ActorletError } from '../../machines/errors/define.ts';
import { serverErrors } from '../../machines/errors/server-errors.ts';

const ANSWER_WITHIN_MS = 5_000;

/** Reads JSON from the read-only port of an agent. Throws ActorletError SRV002 to SRV004. */
export async function agentAnswer(server: string, path: string): Promise<unknown> {
  const base = URL.parse(server);
  if (base === null || !/^https?:$/.test(base.protocol))
    throw new ActorletError(serverErrors.badServerUrl, { value: server });
  let status: number;
  let text: string;
  try {
    const response = await fetch(new URL(path, base), { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
    status = response.status;
    text = await response.text();
  } catch (cause) {
    throw new ActorletError(serverErrors.noAgent, { url: server, reason: networkReason(cause) }, { cause });
  }
  if (status !== 200)
    throw new ActorletError(serverErrors.notAnAgent, { url: server, reason: `HTTP status ${status}` });
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `fetch` says "fetch failed" and hides the reason in its cause. */
function networkReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return `no answer within ${ANSWER_WITHIN_MS / 1000} s`;
  const { cause } = error;
  if (cause instanceof Error) return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.message;
  return error.message;
}
