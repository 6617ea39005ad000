import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, afterEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { bridgeRemoteCommand } from '../../../actors/serve/remote-command/bridge-remote-command.ts';
import type { CommandStreams } from '../../../actors/serve/remote-command/bridge-remote-command.ts';
import { PATIENCE_MS } from '../../tools/wait-for.ts';
import { startFakeSpdyRuntime } from './support/fake-spdy-runtime.ts';
import type { FakeSession, FakeSpdyRuntime } from './support/fake-spdy-runtime.ts';
import { ClientSession, silent, startUpgradeServer } from './support/upgrade-server.ts';
import type { UpgradeServer } from './support/upgrade-server.ts';

const ALL: CommandStreams = { stdin: true, stdout: true, stderr: true, tty: false };
const SUCCESS = '{"metadata":{},"status":"Success"}';

/** A binary message as a client sends it. */
function clientFrame(data: Buffer): Buffer {
  const head = Buffer.alloc(14);
  head.set([0x82, 0xff]);
  head.writeBigUInt64BE(BigInt(data.length), 2);
  return Buffer.concat([head, data]);
}

describe('the bridge from WebSocket to SPDY', () => {
  let runtime: FakeSpdyRuntime;
  let server: UpgradeServer;
  let controller = new AbortController();
  let activity = 0;

  async function start(
    play: (session: FakeSession) => void,
    options = ALL,
    refuse?: Parameters<typeof startFakeSpdyRuntime>[1],
    head?: Buffer,
  ): Promise<ClientSession> {
    runtime = await startFakeSpdyRuntime(play, refuse);
    controller = new AbortController();
    activity = 0;
    server = await startUpgradeServer((client) =>
      bridgeRemoteCommand({
        client: { ...client, head: head ?? client.head },
        protocol: 'v5.channel.k8s.io',
        target: runtime.url,
        options,
        log: silent,
        signal: controller.signal,
        onActivity: () => activity++,
      }),
    );
    return new ClientSession(server.url);
  }

  /** Every session must have ended by itself when a test is over. */
  afterEach(async () => {
    await Promise.all(server.served);
    for (let i = 0; i < 1_500 && (runtime.sockets.size > 0 || server.sockets.size > 0); i++) await sleep(20);
    const left = [runtime.sockets.size, server.sockets.size];
    await server.close();
    await runtime.close();
    assert.deepEqual(left, [0, 0], 'connections left at the runtime, at the server');
  });
  after(() => controller.abort());

  it('opens the streams in the order of client-go, greets, and ends with the status', async () => {
    const session = await start((s) => {
      void s.stream('stderr').then(async (stderr) => {
        assert.equal(s.request.headers['x-stream-protocol-version'], 'v4.channel.k8s.io');
        assert.deepEqual(s.opened, ['error', 'stdin', 'stdout', 'stderr']);
        stderr.end('oops');
        (await s.stream('stdout')).end('hello');
        (await s.stream('error')).end('{"status":"Failure"}', () => s.connection.close());
      });
    });
    assert.equal(await session.closed, 1000);
    assert.equal(session.ws.protocol, 'v5.channel.k8s.io');
    assert.deepEqual(session.received.get(1)?.[0], Buffer.alloc(0));
    assert.deepEqual([session.text(1), session.text(2), session.text(3)], ['hello', 'oops', '{"status":"Failure"}']);
    assert.ok(activity >= 2);
  });

  it('opens a resize stream, and no stderr, for a terminal', async () => {
    const session = await start(
      (s) => {
        void s.stream('resize').then(async (resize) => {
          assert.deepEqual(s.opened, ['error', 'stdin', 'stdout', 'resize']);
          for await (const chunk of resize as AsyncIterable<Buffer>) {
            (await s.stream('stdout')).end(chunk);
            (await s.stream('error')).end();
            break;
          }
        });
      },
      { ...ALL, tty: true },
    );
    await session.open();
    await session.send(4, '{"Width":80,"Height":24}');
    assert.equal(await session.closed, 1000);
    assert.equal(session.text(1), '{"Width":80,"Height":24}');
    assert.equal(session.text(3), SUCCESS);
  });

  it('takes the close signal as the end of stdin', async () => {
    const session = await start((s) => {
      void s.stream('stdin').then(async (stdin) => {
        const parts: Buffer[] = [];
        for await (const chunk of stdin as AsyncIterable<Buffer>) parts.push(chunk);
        (await s.stream('stdout')).end(Buffer.concat(parts));
        (await s.stream('stderr')).end();
        (await s.stream('error')).end();
      });
    });
    await session.open();
    await session.send(0, 'one ');
    await session.send(0, '');
    await session.send(77, 'an unknown channel');
    await session.send(1, 'not for writing');
    await session.send(0, 'two');
    session.closeChannel(0);
    await session.send(0, 'too late');
    assert.equal(await session.closed, 1000);
    assert.equal(session.text(1), 'one two');
  });

  it('ends the session after a malformed close signal', async () => {
    const session = await start(() => {});
    await session.open();
    session.ws.send(Buffer.from([255]));
    assert.equal(await session.closed, 1002);
  });

  it('ends the session after a message that is too long', async () => {
    const session = await start(() => {});
    await session.open();
    session.ws.send(Buffer.alloc(32 * 1024 * 1024 + 1));
    assert.equal(await session.closed, 1009);
  });

  it('holds back both sides, and loses nothing', async () => {
    let pushed = 0;
    let read = 0;
    const size = 30 * 1024 * 1024;
    const piece = Buffer.alloc(32 * 1024, 'z');
    let release: (() => void) | undefined;
    const session = await start((s) => {
      void s.stream('stderr').then(async (stderr) => {
        const [stdin, stdout, error] = await Promise.all(['stdin', 'stdout', 'error'].map((type) => s.stream(type)));
        assert.ok(stdin && stdout && error);
        for (; pushed < size; pushed += piece.length) {
          if (!stdout.write(piece)) await new Promise((resolve) => stdout.once('drain', resolve));
        }
        await new Promise<void>((resolve) => (release = resolve));
        for await (const chunk of stdin as AsyncIterable<Buffer>) read += chunk.length;
        for (const stream of [stdout, stderr, error]) stream.end();
      });
    });
    let got = 0;
    session.onMessage = (channel, data) => {
      if (channel === 1) got += data.length;
      return channel === 1;
    };
    await session.open();
    session.ws.pause();
    await sleep(300);
    assert.ok(pushed < size / 2, `the runtime wrote ${pushed} bytes for a client that does not read`);
    session.ws.resume();
    while (release === undefined) await sleep(20);
    assert.equal(got, size);
    let sent = 0;
    const sending = (async () => {
      for (; sent < size; sent += piece.length) await session.send(0, piece);
      session.closeChannel(0);
    })();
    await sleep(300);
    assert.ok(sent < size / 2, `the client sent ${sent} bytes to a command that does not read`);
    release();
    await sending;
    assert.equal(await session.closed, 1000);
    assert.equal(read, size);
  });

  it('hears the client on when the last of its input and the end of it came in one piece', async () => {
    const size = 128 * 1024;
    let input = 0;
    let finish = (): void => undefined;
    const play = async (s: FakeSession): Promise<void> => {
      const stderr = await s.stream('stderr');
      const [stdin, ...others] = await Promise.all(['stdin', 'stdout', 'error'].map((type) => s.stream(type)));
      finish = () => [...others, stderr].forEach((stream) => stream.end());
      for await (const chunk of stdin as AsyncIterable<Buffer>) input += chunk.length;
    };
    const head = Buffer.concat([
      clientFrame(Buffer.concat([Buffer.from([0]), Buffer.alloc(size)])),
      clientFrame(Buffer.from([255, 0])),
    ]);
    const session = await start((s) => void play(s), ALL, undefined, head);
    await session.open();
    while (input < size) await sleep(20);
    // client-go asks so each 5 s, and gives the command up when nobody answers.
    session.ws.ping();
    const heard = await Promise.race([
      once(session.ws, 'pong').then(() => true),
      sleep(PATIENCE_MS, false, { ref: false }),
    ]);
    finish();
    await session.closed;
    assert.ok(heard, 'the client is not read any more');
  });

  it('closes the connection to the runtime when the client vanishes', async () => {
    let lost: Promise<unknown> | undefined;
    const session = await start((s) => (lost = s.connection.closed));
    await session.open();
    await sleep(50);
    session.ws.terminate();
    await Promise.all(server.served);
    assert.equal(await lost, undefined); // GOAWAY came before the end
  });

  it('tells the client when the runtime vanishes', async () => {
    const session = await start((s) => void s.stream('stderr').then(() => s.socket.destroy()));
    assert.equal(await session.closed, 1000);
    const { status, reason, code, message } = session.status() as Record<string, unknown>;
    assert.deepEqual([status, reason, code], ['Failure', 'InternalError', 500]);
    assert.match(String(message), /^Internal error occurred: SPD003/);
  });

  it('gives the status also when the runtime leaves right after it', async () => {
    const session = await start((s) => {
      void s.stream('stderr').then(async () => {
        (await s.stream('error')).write('{"status":"Failure","reason":"NonZeroExitCode"}');
        setTimeout(() => s.socket.end(), 50);
      });
    });
    assert.equal(await session.closed, 1000);
    assert.equal((session.status() as { reason: string }).reason, 'NonZeroExitCode');
  });

  it('tells the client when the runtime breaks the protocol', async () => {
    const session = await start(
      (s) => void s.stream('stderr').then(() => s.socket.write(Buffer.from('800200060000000400000001', 'hex'))),
    );
    assert.equal(await session.closed, 1000);
    assert.match(session.text(3), /SPD00[123]/);
  });

  it("passes the runtime's refusal on, and answers 500 when it is not there", async () => {
    const session = await start(
      () => {},
      ALL,
      (_request, answer) => answer.writeHead(403, { 'Content-Type': 'text/plain' }).end('not you'),
    );
    await assert.rejects(session.open(), /Unexpected server response: 403/);
    await runtime.close();
    await assert.rejects(new ClientSession(server.url).open(), /Unexpected server response: 500/);
  });

  it('ends with its signal', async () => {
    const session = await start(() => {});
    await session.open();
    await sleep(50);
    controller.abort();
    assert.equal(await session.closed, 1001);
  });
});
