import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import dbus from 'dbus-native';
import type { DBusConnection, Message } from 'dbus-native';

const ERROR = 'org.freedesktop.systemd1';

/** What a fake systemd does with a call: answers, tells the end of a job, breaks the connection off. */
export interface Reply {
  answer: (...body: [signature?: string, ...values: unknown[]]) => void;
  fail: (name: string) => void;
  /** The signal JobRemoved. */
  jobEnds: (job: string, result: string) => void;
  hangUp: () => void;
}

/** A bus with a systemd on it that does what a test says. */
export interface FakeSystemd {
  socket: string;
  /** Calls as they came: member and body. */
  calls: { member: string; body: unknown[] }[];
  /** How many connections there were. */
  connections: number;
}

/** Listens on a socket of its own until the test ends. `act`: what it does with each call to systemd's manager. */
export async function fakeSystemd(
  t: TestContext,
  act: (member: string, body: unknown[], reply: Reply) => void,
): Promise<FakeSystemd> {
  const folder = await mkdtemp(join(tmpdir(), 'actorlet-systemd-'));
  const socket = join(folder, 'bus');
  const fake: FakeSystemd = { socket, calls: [], connections: 0 };
  const open = new Set<DBusConnection>();
  const { server } = dbus.createServer((connection) => {
    fake.connections++;
    open.add(connection);
    // A connection that a test breaks off.
    connection.on('error', () => undefined);
    connection.on('message', (message) => handle(connection, message));
  }) as unknown as { server: Server };
  server.listen(socket);
  await once(server, 'listening');
  t.after(async () => {
    for (const connection of open) connection.stream.destroy();
    server.close();
    await rm(folder, { recursive: true });
  });
  return fake;

  function handle(connection: DBusConnection, message: Message): void {
    const { serial = 0, member = '', body = [] } = message;
    const send = (more: Message) => void connection.message({ serial: 1, ...more });
    const answer: Reply['answer'] = (signature, ...values) =>
      send({ type: 2, replySerial: serial, ...(signature !== undefined && { signature, body: values }) });
    if (member === 'Hello') return answer('s', ':1.1');
    if (member === 'AddMatch') return answer();
    fake.calls.push({ member, body });
    act(member, body, {
      answer,
      fail: (name) =>
        send({ type: 3, replySerial: serial, errorName: `${ERROR}.${name}`, signature: 's', body: [`it is ${name}`] }),
      jobEnds: (job, result) =>
        send({
          ...{ type: 4, path: '/org/freedesktop/systemd1', interface: `${ERROR}.Manager`, member: 'JobRemoved' },
          ...{ signature: 'uoss', body: [7, job, 'unit', result] },
        }),
      hangUp: () => connection.stream.destroy(),
    });
  }
}
