import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { bridgeRemoteCommand } from '../../../actors/serve/remote-command/bridge-remote-command.ts';
import type { CommandStreams } from '../../../actors/serve/remote-command/bridge-remote-command.ts';
import { RuntimeServiceService } from '../../../cri/generated/runtime/v1/api.ts';
import { ClientSession, silent, startUpgradeServer } from '../../simulated/remote-command/support/upgrade-server.ts';
import type { UpgradeServer } from '../../simulated/remote-command/support/upgrade-server.ts';
import { waitFor } from '../../tools/wait-for.ts';
import { startTestContainerd } from '../support/with-containerd.ts';
import type { TestContainerd } from '../support/with-containerd.ts';

const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;
const RESIZE = 4;
const MIB = 1024 * 1024;

/** Of one connection: what its receiving and its sending end may hold at most, bytes. */
async function largestSocketBuffers(): Promise<number> {
  const files = ['tcp_rmem', 'tcp_wmem'].map((name) => readFile(`/proc/sys/net/ipv4/${name}`, 'utf8'));
  const largest = (await Promise.all(files)).map((text) => Number(text.trim().split(/\s+/)[2]));
  return largest.reduce((sum, bytes) => sum + bytes, 0);
}

describe('exec over WebSocket v5 by the SPDY server of a real containerd', () => {
  let c: TestContainerd;
  let container: string;
  let server: UpgradeServer;
  let next: { url: string; options: CommandStreams } | undefined;
  const controller = new AbortController();

  before(async () => {
    c = await startTestContainerd();
    const sandbox = await c.cri.runSandbox({ name: 'bridge' });
    container = await c.cri.runContainer(sandbox, 'c', ['sleep', '100000']);
    server = await startUpgradeServer((client) => {
      assert.ok(next);
      const target = new URL(next.url);
      const { options } = next;
      return bridgeRemoteCommand({
        client,
        protocol: 'v5.channel.k8s.io',
        target,
        options,
        log: silent,
        signal: controller.signal,
      });
    });
  });
  after(async () => {
    controller.abort();
    await server?.close();
    await c?.stop();
  });

  async function exec(cmd: string[], wish: Partial<CommandStreams> = {}): Promise<ClientSession> {
    const options = { stdin: false, stdout: true, stderr: true, tty: false, ...wish };
    const request = { containerId: container, cmd, ...options, stderr: options.stderr && !options.tty };
    next = { url: (await c.cri.call(RuntimeServiceService.exec, request)).url, options };
    const session = new ClientSession(server.url);
    await session.open();
    return session;
  }

  it('gives output, errors apart, and the exit code', async () => {
    const session = await exec(['sh', '-c', 'echo out; echo err >&2; exit 7']);
    assert.equal(await session.closed, 1000);
    assert.equal(session.text(STDOUT), 'out\n');
    assert.equal(session.text(STDERR), 'err\n');
    const { status, reason, details } = session.status() as Record<string, unknown>;
    assert.deepEqual([status, reason], ['Failure', 'NonZeroExitCode']);
    assert.deepEqual(details, { causes: [{ reason: 'ExitCode', message: '7' }] });
    await Promise.all(server.served);
  });

  it('says Success when the command ends well', async () => {
    const session = await exec(['true']);
    assert.equal(await session.closed, 1000);
    assert.equal((session.status() as { status: string }).status, 'Success');
  });

  it('half-closes stdin: a command reads 50 MB up to its end', async () => {
    const session = await exec(['sha256sum'], { stdin: true });
    const piece = randomBytes(32 * 1024);
    const hash = createHash('sha256');
    for (let sent = 0; sent < 50_000_000; sent += piece.length) {
      hash.update(piece);
      await session.send(STDIN, piece);
    }
    session.closeChannel(STDIN);
    assert.equal(await session.closed, 1000);
    assert.equal(session.text(STDOUT), `${hash.digest('hex')}  -\n`);
  });

  it('echoes what it is sent while both directions are full', async () => {
    const session = await exec(['cat'], { stdin: true });
    const piece = randomBytes(32 * 1024);
    const sent = createHash('sha256');
    const got = createHash('sha256');
    session.onMessage = (channel, data) => {
      if (channel === STDOUT) got.update(data);
      return channel === STDOUT;
    };
    for (let bytes = 0; bytes < 20 * MIB; bytes += piece.length) {
      sent.update(piece);
      await session.send(STDIN, piece);
    }
    session.closeChannel(STDIN);
    assert.equal(await session.closed, 1000);
    assert.equal(got.digest('hex'), sent.digest('hex'));
  });

  it('holds no more than its buffers when the client is slow, and loses nothing', async () => {
    const session = await exec(['sh', '-c', 'head -c 100000000 /dev/zero']);
    let bytes = 0;
    session.onMessage = (channel, data) => {
      if (channel === STDOUT) bytes += data.length;
      return channel === STDOUT;
    };
    session.ws.pause();
    const memory = () => process.memoryUsage().arrayBuffers;
    // until all buffers on the way are full
    let before = memory();
    await waitFor('nothing more to come', async () => {
      const earlier = before;
      await sleep(500);
      before = memory();
      return before <= earlier ? true : undefined;
    });
    await sleep(1000);
    assert.ok(memory() - before < 8 * MIB, `grew by ${memory() - before}`);
    assert.ok(bytes < 20 * MIB);
    session.ws.resume();
    assert.equal(await session.closed, 1000);
    assert.equal(bytes, 100_000_000);
    assert.equal((session.status() as { status: string }).status, 'Success');
  });

  it('holds no more than its buffers while the command does not read', async () => {
    const session = await exec(['sh', '-c', 'until test -e /tmp/read; do usleep 50000; done; wc -c'], { stdin: true });
    const piece = Buffer.alloc(32 * 1024, 'x');
    // What the kernel may hold of two connections, by its own measure of how fast they are, and more than that.
    const total = 2 * (await largestSocketBuffers()) + 64 * MIB;
    let sent = 0;
    const sending = (async () => {
      for (; sent < total; sent += piece.length) await session.send(STDIN, piece);
      session.closeChannel(STDIN);
    })();
    try {
      await waitFor('nothing more to be taken', async () => {
        const earlier = sent;
        await sleep(500);
        return sent === earlier ? true : undefined;
      });
      assert.ok(sent < total, 'all was taken');
    } finally {
      // Whatever was found, the command reads and the session ends: the tests after this one wait for it.
      await c.cri.exec(container, ['touch', '/tmp/read']);
      await sending;
    }
    assert.equal(await session.closed, 1000);
    assert.equal(session.text(STDOUT).trim(), String(sent));
  });

  it('tells the terminal its size, also later', async () => {
    // containerd sets the size beside the keys: the command looks until it is there
    const until = (size: string) => `until stty size | grep -x '${size}'; do usleep 50000; done`;
    const session = await exec(['sh', '-c', `${until('41 101')}; ${until('22 77')}; test -t 1 && exit 5`], {
      stdin: true,
      tty: true,
    });
    await session.send(RESIZE, JSON.stringify({ Width: 101, Height: 41 }));
    await waitFor('the first size', () => (session.text(STDOUT).includes('41 101') ? true : undefined));
    await session.send(RESIZE, JSON.stringify({ Width: 77, Height: 22 }));
    assert.equal(await session.closed, 1000);
    assert.match(session.text(STDOUT), /41 101\r\n[^]*22 77\r\n/);
    assert.equal(session.text(STDERR), '');
    assert.match(session.text(3), /"message":"5"/);
  });

  it('ends the stdin of the command when the client vanishes', async () => {
    const session = await exec(['sh', '-c', 'cat >/dev/null; echo gone >/tmp/gone; sleep 1'], { stdin: true });
    await session.send(STDIN, 'hello');
    await sleep(200);
    session.ws.terminate();
    await Promise.all(server.served);
    let seen = '';
    for (let i = 0; i < 300 && seen === ''; i++) {
      seen = (await c.cri.exec(container, ['cat', '/tmp/gone'])).out.replace(/^cat:.*\n/, '');
      await sleep(100);
    }
    assert.equal(seen, 'gone\n');
  });

  it("passes the runtime's refusal on before the handshake", async () => {
    next = {
      url: `${c.containerd.endpoint}`,
      options: { stdin: false, stdout: true, stderr: false, tty: false },
    };
    const url = (
      await c.cri.call(RuntimeServiceService.exec, {
        containerId: container,
        cmd: ['true'],
        tty: false,
        stdin: false,
        stdout: true,
        stderr: false,
      })
    ).url;
    next.url = url.replace(/[^/]*$/, 'unknown-token');
    const session = new ClientSession(server.url);
    await assert.rejects(session.open(), /Unexpected server response: 404/);
    await Promise.all(server.served);
  });
});
