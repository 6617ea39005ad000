import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

/** The raw connection of a request that asked for another protocol (`Connection: Upgrade`). */
export interface Upgrade {
  socket: Duplex;
  /** What the client sent after the head of its request. */
  head: Buffer;
}

const upgrades = new WeakMap<IncomingMessage, Upgrade>();

/** Notes the raw connection of a request; the listener of the server's `upgrade` event does it. */
export function rememberUpgrade(request: IncomingMessage, upgrade: Upgrade): void {
  upgrades.set(request, upgrade);
}

/** The raw connection when this request asked for another protocol; a route that takes it calls `reply.hijack()`. */
export function upgradeOf(request: IncomingMessage): Upgrade | undefined {
  return upgrades.get(request);
}
