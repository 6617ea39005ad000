import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { ActorletError } from '../../../machines/errors/define.ts';
import { spdyErrors } from '../../../machines/errors/spdy-errors.ts';
import { dialUpgrade } from './dial-upgrade.ts';
import type { UpgradeAnswer } from './dial-upgrade.ts';

/** The streaming server switched to SPDY/3.1: its connection, with what it sent right after its answer. */
export interface UpgradedTarget {
  upgraded: true;
  socket: Duplex;
  head: Buffer;
  /** `X-Stream-Protocol-Version` of the answer; empty when it named none. */
  protocol: string;
}

/** The streaming server gave another answer. */
export interface RefusedTarget {
  upgraded: false;
  status: number;
  headers: IncomingHttpHeaders;
  /** At most 64 KiB of it. */
  body: Buffer;
}

const MAX_REFUSAL_BYTES = 64 * 1024;

/** client-go's and kubelet's dialers wait as long. */
const DIAL_TIMEOUT_MS = 30_000;

/**
 * Asks the URL that the runtime gave (http or https) to switch to SPDY/3.1 with one of these stream protocols. Rejects
 * with `SPD008` when it does not answer, and with `SPD007` when it switches to something else; `signal` ends the wait.
 * The URL's path is a secret for as long as it is valid, hence errors name the address only.
 */
export async function upgradeTarget(
  target: URL,
  protocols: readonly string[],
  signal: AbortSignal,
): Promise<UpgradedTarget | RefusedTarget> {
  let answer: UpgradeAnswer;
  try {
    answer = await dialUpgrade(target, {
      method: 'POST',
      headers: { Connection: 'Upgrade', Upgrade: 'SPDY/3.1', 'X-Stream-Protocol-Version': [...protocols] },
      ...{ signal, timeoutMs: DIAL_TIMEOUT_MS },
    });
  } catch (error) {
    const reason = (error instanceof Error && error.message) || String(error);
    throw new ActorletError(spdyErrors.unreachable, { address: target.host, reason }, { cause: error });
  }
  const { response } = answer;
  if (answer.kind === 'plain') {
    const body = await readSome(response);
    response.destroy();
    return { upgraded: false, status: response.statusCode ?? 502, headers: response.headers, body };
  }
  const { socket, head } = answer;
  const wrong = whatIsWrong(response);
  if (wrong !== null) {
    socket.destroy();
    throw new ActorletError(spdyErrors.upgradeRefused, { protocol: 'SPDY/3.1', reason: wrong });
  }
  socket.on('error', () => {}); // its 'close' follows; nobody may listen yet
  return { upgraded: true, socket, head, protocol: headerOf(response, 'x-stream-protocol-version').trim() };
}

function whatIsWrong(answer: IncomingMessage): string | null {
  const upgrade = headerOf(answer, 'upgrade').toLowerCase();
  const connection = headerOf(answer, 'connection').toLowerCase();
  return connection.includes('upgrade') && upgrade.includes('spdy/3.1')
    ? null
    : `it switched to ${upgrade || 'nothing'}`;
}

function headerOf(answer: IncomingMessage, name: string): string {
  const value = answer.headers[name];
  return typeof value === 'string' ? value : (value?.[0] ?? '');
}

async function readSome(answer: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of answer as AsyncIterable<Buffer>) {
    parts.push(part.subarray(0, MAX_REFUSAL_BYTES - bytes));
    bytes += part.length;
    if (bytes >= MAX_REFUSAL_BYTES) break;
  }
  return Buffer.concat(parts);
}
