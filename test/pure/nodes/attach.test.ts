import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { pino } from 'pino';
import { attachContainer } from '../../../actors/node/fleet/attach-container.ts';
import { fleetClock } from '../../../actors/node/fleet/fleet-clock.ts';
import { planNodes } from '../../../actors/node/fleet/profile/plan-nodes.ts';
import { checkProfile } from '../../../actors/node/fleet/profile/read-profile.ts';
import { SimulatedMachine } from '../../../actors/node/fleet/simulated-machine.ts';
import { StreamServer } from '../../../actors/node/fleet/stream-server.ts';
import { SpdyConnection } from '../../../actors/serve/spdy/spdy-connection.ts';
import type { SpdyStream } from '../../../actors/serve/spdy/spdy-stream.ts';
import { waitFor } from '../../tools/wait-for.ts';

/** A container that runs on a machine of its own, and how to attach to it. */
async function started(t: TestContext, container: object) {
  const dir = mkdtempSync(join(tmpdir(), 'attach-'));
  const profile = checkProfile({ runtime: { containers: [container] } });
  const [node] = planNodes(profile, { count: 1, first: 0 });
  assert.ok(node !== undefined);
  const machine = new SimulatedMachine({
    ...{ node, profile, seed: 1, rootDir: dir, address: '192.0.2.1', timeoutMs: 1_000, clock: fleetClock() },
    log: pino({ level: 'silent' }),
  });
  const server = new StreamServer();
  await server.start();
  t.after(async () => {
    machine.runtime.stop();
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  });
  const { client, core } = machine.runtime;
  const sandboxConfig = {
    ...{ metadata: { name: 'p', namespace: 'n', uid: 'u', attempt: 0 }, logDirectory: join(dir, 'logs') },
  };
  const { podSandboxId } = await client.runtime.runPodSandbox({ config: sandboxConfig });
  await client.image.pullImage({ image: { image: 'app:1' } });
  const config = { metadata: { name: 'c', attempt: 0 }, image: { image: 'app:1' }, logPath: 'c/0.log' };
  const { containerId } = await client.runtime.createContainer({ podSandboxId, config, sandboxConfig });
  await client.runtime.startContainer({ containerId });
  const record = core.containers.find(containerId);
  assert.ok(record !== undefined);
  return {
    record,
    core,
    attach: (kinds: string[], tty = false) =>
      attached(server, kinds, (streams, closed) =>
        attachContainer({ core, logs: machine.logs, containerId, tty, streams, closed }),
      ),
  };
}

/** Connects as a client of the runtime does, and opens the streams of these kinds. */
async function attached(server: StreamServer, kinds: string[], serve: Parameters<StreamServer['offer']>[0]['serve']) {
  const { url } = server.offer({ kinds, serve });
  const headers = {
    ...{ connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'v4.channel.k8s.io' },
  };
  const asked = request(url, { method: 'POST', headers }).end();
  const [answer, socket, head] = (await once(asked, 'upgrade')) as [IncomingMessage, Duplex, Buffer];
  assert.equal(answer.headers['x-stream-protocol-version'], 'v4.channel.k8s.io');
  const connection = new SpdyConnection(socket, { role: 'client', head });
  const streams = new Map<string, SpdyStream>();
  for (const kind of kinds) streams.set(kind, await connection.openStream(new Map([['streamtype', kind]])));
  const read = (kind: string): Promise<string> => {
    const stream = streams.get(kind);
    // A client that goes does not hear the end.
    return stream === undefined ? Promise.resolve('') : text(stream).catch(() => '');
  };
  const [stdout, stderr, status] = ['stdout', 'stderr', 'error'].map(read) as [
    Promise<string>,
    Promise<string>,
    Promise<string>,
  ];
  return { connection, stdout, stderr, status: async () => JSON.parse(await status) as Record<string, unknown> };
}

const TICKS = {
  logs: [
    { text: 'tick', every: '5ms' },
    { text: 'trouble', stream: 'stderr', every: '5ms' },
  ],
};

test('who attaches hears what the container says, from then on, each on its stream, until it ends', async (t) => {
  const { record, core, attach } = await started(t, TICKS);
  const session = await attach(['error', 'stdin', 'stdout', 'stderr']);
  core.processes.writeLog(record, 'stdout', 'half', true);
  core.processes.writeLog(record, 'stdout', ' a line\n');
  core.processes.exit(record, 3);
  assert.match(await session.stdout, /^(tick\n)*half a line\n$/);
  assert.match(await session.stderr, /^(trouble\n)*$/);
  assert.deepEqual(await session.status(), { metadata: {}, status: 'Success' });
});

test('a container with a terminal says all on one stream, with the ends of lines of a terminal', async (t) => {
  const { record, core, attach } = await started(t, {});
  const session = await attach(['error', 'stdout', 'resize'], true);
  core.processes.writeLog(record, 'stdout', 'one\ntwo');
  core.processes.writeLog(record, 'stderr', 'three');
  core.processes.exit(record, 0);
  assert.equal(await session.stdout, 'one\r\ntwo\r\nthree\r\n');
});

test('nobody is told any more when the client is gone, and others are', async (t) => {
  const { record, core, attach } = await started(t, {});
  const gone = await attach(['error', 'stdout']);
  const stays = await attach(['error', 'stdout']);
  await waitFor('two to be attached', () => (record.exitWaiters?.size === 2 ? true : undefined));
  gone.connection.close();
  await waitFor('one to be forgotten', () => (record.exitWaiters?.size === 1 ? true : undefined));
  core.processes.writeLog(record, 'stdout', 'later');
  core.processes.exit(record, 0);
  assert.equal(await stays.stdout, 'later\n');
});

test('a container that has ended meanwhile is not attached to', async (t) => {
  const { record, core, attach } = await started(t, {});
  core.processes.exit(record, 0);
  const session = await attach(['error', 'stdout']);
  const { status, message, reason, code } = await session.status();
  assert.deepEqual([status, reason, code], ['Failure', 'InternalError', 500]);
  assert.equal(
    message,
    'Internal error occurred: error attaching to container: container is in CONTAINER_EXITED state',
  );
});

test('who does not read is let go, and costs no more than a megabyte', async (t) => {
  const { record, core, attach } = await started(t, {});
  const session = await attach(['error', 'stdin', 'stdout']);
  session.connection.closed.catch(() => undefined);
  await waitFor('it to be attached', () => (record.exitWaiters?.size === 1 ? true : undefined));
  // In one turn: nothing leaves meanwhile.
  for (let i = 0; i < 40; i++) core.processes.writeLog(record, 'stdout', 'x'.repeat(64 * 1024));
  assert.equal(record.exitWaiters, undefined);
  const { message } = await session.status();
  assert.equal(message, 'Internal error occurred: error attaching to container: what it says is not read');
});
