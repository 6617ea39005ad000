import type { Logger } from 'pino';
import type { UpgradeClient } from './accept-websocket.ts';
import { httpError, sendRawAnswer } from './raw-answer.ts';
import { upgradeTarget } from './upgrade-target.ts';
import type { UpgradedTarget } from './upgrade-target.ts';

/**
 * Connects to the runtime on behalf of a client whose handshake is not answered yet, so that it can be told in plain
 * HTTP what went wrong: the runtime's own answer when it refused, 500 when it cannot be reached, as kubelet's proxy
 * does. Undefined then, and when the client left or `signal` fired in the meantime.
 */
export async function dialForClient(
  client: UpgradeClient,
  target: URL,
  protocols: readonly string[],
  log: Logger,
  signal: AbortSignal,
): Promise<UpgradedTarget | undefined> {
  const { socket } = client;
  const left = new AbortController();
  const onLeft = () => left.abort();
  socket.on('error', () => {}); // its 'close' says all
  socket.once('close', onLeft);
  if (socket.destroyed) onLeft();
  try {
    const answer = await upgradeTarget(target, protocols, AbortSignal.any([signal, left.signal]));
    if (answer.upgraded) return answer;
    log.warn({ status: answer.status }, 'the runtime refused to stream');
    const type = answer.headers['content-type'];
    const headers: Record<string, string> = type === undefined ? {} : { 'Content-Type': type };
    sendRawAnswer(socket, { status: answer.status, headers, body: answer.body });
  } catch (error) {
    if (signal.aborted || left.signal.aborted) {
      socket.destroy();
      return undefined;
    }
    log.error({ err: error }, 'cannot reach the streaming server of the runtime');
    sendRawAnswer(
      socket,
      httpError(500, `error dialing backend: ${error instanceof Error ? error.message : 'unknown'}`),
    );
  } finally {
    socket.removeListener('close', onLeft);
  }
  return undefined;
}
