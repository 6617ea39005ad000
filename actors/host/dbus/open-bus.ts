import type { Message, MessageBus } from 'dbus-native';

/** A way to a bus: the system's message bus, or (`direct`) systemd's own socket, which only root may use. */
export interface BusAddress {
  socket: string;
  direct: boolean;
}

/** The system's message bus. */
export const SYSTEM_BUS: BusAddress = { socket: '/run/dbus/system_bus_socket', direct: false };

/** How long it may take to connect and to be let in, ms: as long as any call. */
const CONNECT_MS = 25_000;

/** Who hears of a connection. */
export interface BusHearer {
  /** Signals that are asked for; a direct connection has all. */
  matches: readonly string[];
  onMessage: (message: Message) => void;
  /** It is closed, by whomever; also told when it was never there. */
  onClose: (cause: Error) => void;
}

/** A connection. */
export interface OpenBus {
  bus: MessageBus;
  /** Does it keep the process alive? At first it does not. */
  hold(on: boolean): void;
  /** Ends it at once. */
  destroy(): void;
}

/** Connects; rejects with the reason when that fails, or takes longer than `limitMs`: a daemon that hangs takes connections, and says nothing. */
export async function openBus(
  { socket, direct }: BusAddress,
  hearer: BusHearer,
  limitMs = CONNECT_MS,
): Promise<OpenBus> {
  // Loaded by nodes that need it only.
  const { default: dbus } = await import('dbus-native');
  const bus = dbus.createClient({ socket, direct, authMethods: ['EXTERNAL'] });
  const { connection } = bus;
  const stream = connection.stream as unknown as { ref(): void; unref(): void; destroy(error?: Error): void };
  connection.on('message', hearer.onMessage);
  const closed = new Promise<never>((_, reject) => {
    connection.on('error', reject);
    connection.on('close', (cause) => {
      const error = cause instanceof Error ? cause : new Error('the connection was closed');
      hearer.onClose(error);
      reject(error);
    });
  });
  closed.catch(() => undefined);
  const late = setTimeout(() => stream.destroy(new Error(`no answer within ${limitMs / 1000} s`)), limitMs);
  try {
    await Promise.race([new Promise<void>((resolve) => void connection.on('connect', resolve)), closed]);
    if (!direct) for (const match of hearer.matches) await Promise.race([bus.addMatch(match), closed]);
  } catch (error) {
    stream.destroy();
    throw error;
  } finally {
    clearTimeout(late);
  }
  stream.unref();
  return { bus, hold: (on) => (on ? stream.ref() : stream.unref()), destroy: () => stream.destroy() };
}

/** Is it an answer of this name (`org.freedesktop.DBus.Error...`), and not a failure on the way? */
export function dbusErrorName(error: unknown): string | undefined {
  return error instanceof Error ? (error as { dbusName?: string }).dbusName : undefined;
}
