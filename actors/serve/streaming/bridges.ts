import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import type { REMOTE_COMMAND_V5 } from './protocols.ts';
import type { RemoteCommandOptions } from './stream-options.ts';

/** The connection of a client that asked for another protocol, not answered yet. */
export interface StreamClient {
  request: IncomingMessage;
  socket: Duplex;
  /** What came after the head of the request. */
  head: Buffer;
}

/** What both bridges are told. */
export interface BridgeOptions {
  client: StreamClient;
  target: URL;
  log: Logger;
  /** Ends both sides. */
  signal: AbortSignal;
}

/**
 * Those who speak with a client what the runtime's streaming server does not understand, and SPDY with the runtime. Each
 * answers the client's request itself and resolves when both sides are closed.
 */
export interface StreamBridges {
  remoteCommand(
    options: BridgeOptions & { protocol: typeof REMOTE_COMMAND_V5; options: RemoteCommandOptions },
  ): Promise<void>;
  portForward(options: BridgeOptions): Promise<void>;
}

/** Loaded with the first client that needs one: most do not. */
export const ownBridges: StreamBridges = {
  async remoteCommand(options) {
    const { bridgeRemoteCommand } = await import('../remote-command/bridge-remote-command.ts');
    await bridgeRemoteCommand(options);
  },
  async portForward(options) {
    const { tunnelPortForward } = await import('../remote-command/tunnel-port-forward.ts');
    await tunnelPortForward(options);
  },
};
