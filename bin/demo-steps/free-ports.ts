import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';

/** Above the ports that services of a machine and kubelet's defaults use. */
const LOWEST = 11_000;
/** Linux' default for the first port that it gives away itself. */
const EPHEMERAL = 32_768;
/** Ports in a row that belong to one process. */
const STRIDE = 50;

let next: number | undefined;

/**
 * `count` different ports that nobody listens on right now, at any address. They lie below those that the kernel gives
 * to whoever connects or binds port 0: between this look and the bind of who gets them, nobody takes them by chance. Two
 * processes that ask at the same time look at different ones.
 */
export async function freePorts(count: number): Promise<number[]> {
  const end = Math.min(await firstEphemeral(), EPHEMERAL);
  const room = end - LOWEST;
  // a kernel whose own ports begin low leaves no room: then one of those has to do
  const narrow = room < 1_000;
  const out = new Set<number>();
  for (let tries = 0; out.size < count; tries++) {
    if (tries > 10_000) throw new Error(`no ${count} free ports from ${LOWEST} to ${end}`);
    next ??= (process.pid * STRIDE) % Math.max(1, room);
    const port = await bindable(narrow ? 0 : LOWEST + (next++ % room));
    if (port > 0) out.add(port);
  }
  return [...out];
}

async function firstEphemeral(): Promise<number> {
  const text = await readFile('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').catch(() => '');
  const first = Number(text.trim().split(/\s+/)[0]);
  return first > 0 ? first : EPHEMERAL;
}

/** The port once it was bound at all addresses and given back; 0 when it is taken. */
function bindable(port: number): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(0));
    server.listen({ port, exclusive: true }, () => {
      const address = server.address();
      const got = typeof address === 'object' && address !== null ? address.port : 0;
      server.close(() => resolve(got));
    });
  });
}
