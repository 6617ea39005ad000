import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { WebSocket } from 'ws';
import { createCriClient } from '../../../cri/client/cri-client.ts';
import type { CriClient } from '../../../cri/client/cri-client.ts';
import { ContainerConfig, RuntimeServiceService } from '../../../cri/generated/runtime/v1/api.ts';
import { BUSYBOX_IMAGE } from '../../../cri/private-containerd/own-images.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { startStreamingApp } from '../../simulated/streaming/support/streaming-app.ts';
import type { StreamingApp } from '../../simulated/streaming/support/streaming-app.ts';
import { waitFor } from '../../tools/wait-for.ts';
import { startTestContainerd } from '../support/with-containerd.ts';
import type { TestContainerd } from '../support/with-containerd.ts';

const labels = {
  'io.kubernetes.pod.name': 'web',
  'io.kubernetes.pod.namespace': 'ns',
  'io.kubernetes.pod.uid': 'uid-streams',
};
const pod: Pod = {
  metadata: { name: 'web', namespace: 'ns', uid: 'uid-streams' },
  spec: {
    containers: [
      { name: 'app', stdin: true },
      { name: 'shell', stdin: true, tty: true },
    ],
  },
};
/** The server of the pod's port: says what it hears. */
const script = 'nc -ll -p 7000 -e cat & exec cat';

let containerd: TestContainerd;
let cri: CriClient;
let app: StreamingApp;

before(async () => {
  containerd = await startTestContainerd();
  const sandbox = await containerd.cri.runSandbox({ name: 'web', namespace: 'ns', uid: 'uid-streams', labels });
  for (const { name, tty = false } of pod.spec?.containers ?? []) {
    const config = ContainerConfig.fromPartial({
      metadata: { name, attempt: 0 },
      image: { image: BUSYBOX_IMAGE },
      command: ['sh', '-c', tty ? 'exec cat' : script],
      stdin: true,
      tty,
      labels: { ...labels, 'io.kubernetes.container.name': name },
      linux: { resources: {}, securityContext: { namespaceOptions: { network: 0, pid: 1, ipc: 0 } } },
    });
    const request = { podSandboxId: sandbox.id, config, sandboxConfig: sandbox.config };
    const { containerId } = await containerd.cri.call(RuntimeServiceService.createContainer, request);
    await containerd.cri.call(RuntimeServiceService.startContainer, { containerId });
  }
  cri = createCriClient({ endpoint: containerd.endpoint });
  app = await startStreamingApp({ node: { podNamed: () => pod }, cri });
});
after(async () => {
  await app.close();
  cri.close();
  await containerd.stop();
});

/** One WebSocket with the sub-protocols of Kubernetes: a byte for the channel, then bytes of it. */
class Channels {
  readonly #got = new Map<number, Buffer[]>();
  readonly closed: Promise<unknown>;
  readonly ws: WebSocket;
  onMessage: (channel: number, bytes: Buffer) => void = (channel, bytes) => {
    const parts = this.#got.get(channel);
    if (parts === undefined) this.#got.set(channel, [bytes]);
    else parts.push(bytes);
  };

  constructor(path: string, protocol: string) {
    this.ws = new WebSocket(`ws://127.0.0.1:${String(app.port)}${path}`, [protocol]);
    this.closed = once(this.ws, 'close');
    this.ws.on('message', (data: Buffer) => {
      this.onMessage(data[0] ?? -1, data.subarray(1));
    });
  }

  bytes(channel: number): Buffer {
    return Buffer.concat(this.#got.get(channel) ?? []);
  }

  text(channel: number): string {
    return this.bytes(channel).toString();
  }

  send(channel: number, bytes: Buffer | string): Promise<void> {
    const message = Buffer.concat([Buffer.from([channel]), Buffer.from(bytes)]);
    return new Promise((resolve, reject) => {
      this.ws.send(message, (error) => {
        if (error) reject(error);
        else resolve();
      });
    });
  }

  until(channel: number, text: string): Promise<true> {
    const explain = () => `channel ${String(channel)}: ${this.text(channel)}; error: ${this.text(3)}`;
    return waitFor(text, () => (this.text(channel).includes(text) ? true : undefined), explain);
  }
}

async function open(path: string, protocol = 'v4.channel.k8s.io'): Promise<Channels> {
  const channels = new Channels(path, protocol);
  await once(channels.ws, 'open');
  assert.equal(channels.ws.protocol, protocol);
  return channels;
}

function exec(container: string, command: string, flags: string, protocol?: string): Promise<Channels> {
  const query = new URLSearchParams([
    ['command', 'sh'],
    ['command', '-c'],
    ['command', command],
  ]);
  return open(`/exec/ns/web/${container}?${flags}&${query.toString()}`, protocol);
}

const nothingOpen = () =>
  waitFor('streams to end', () => (app.routes.open + app.sockets.size === 0 ? true : undefined));

for (const protocol of ['v4.channel.k8s.io', 'v5.channel.k8s.io']) {
  test(`${protocol}: output, errors and exit code`, async () => {
    const run = await exec('app', 'echo out; echo err >&2; exit 7', 'output=1&error=1', protocol);
    await run.closed;
    assert.deepEqual([run.text(1), run.text(2)], ['out\n', 'err\n']);
    const status = JSON.parse(run.text(3)) as { status: string; reason: string; details: { causes: object[] } };
    assert.deepEqual([status.status, status.reason], ['Failure', 'NonZeroExitCode']);
    assert.deepEqual(status.details.causes, [{ reason: 'ExitCode', message: '7' }]);
    const fine = await exec('app', 'true', 'output=1', protocol);
    await fine.closed;
    assert.equal((JSON.parse(fine.text(3)) as { status: string }).status, 'Success');
    await nothingOpen();
  });

  test(`${protocol}: a terminal, its size and its keys`, async () => {
    const shell = await exec(
      'app',
      'while read line; do echo "<$line>"; stty size; done',
      'input=1&output=1&tty=1',
      protocol,
    );
    await shell.send(0, 'hello\n');
    await shell.until(1, '<hello>');
    for (const [Width, Height] of [
      [91, 33],
      [101, 43],
    ]) {
      await shell.send(4, JSON.stringify({ Width, Height }));
      // containerd sets the size beside the keys: look again until it is there
      await waitFor('the size', async () => {
        await shell.send(0, 'look\n');
        return shell.text(1).includes(`${String(Height)} ${String(Width)}`) ? true : undefined;
      });
    }
    await shell.send(0, '\u0004');
    await shell.closed;
    await nothingOpen();
  });

  test(`${protocol}: 50 MB in and out`, async () => {
    const total = 50 << 20;
    const copy = await exec('app', `head -c ${String(total)}`, 'input=1&output=1', protocol);
    const [sent, received] = [createHash('sha256'), createHash('sha256')];
    let count = 0;
    copy.onMessage = (channel, bytes) => {
      if (channel !== 1) return;
      received.update(bytes);
      count += bytes.length;
    };
    const block = randomBytes(1 << 15);
    for (let at = 0; at < total; at += block.length) {
      block.writeUInt32LE(at);
      sent.update(block);
      await copy.send(0, block);
    }
    await copy.closed;
    assert.equal(count, total);
    assert.equal(received.digest('hex'), sent.digest('hex'));
    await nothingOpen();
  });

  test(`${protocol}: attach hears the container and is heard`, async () => {
    const attached = await open('/attach/ns/web/app?input=1&output=1&error=1', protocol);
    await attached.send(0, `hello from ${protocol}\n`);
    await attached.until(1, `hello from ${protocol}\n`);
    attached.ws.close();
    await attached.closed;
    const terminal = await open('/attach/ns/web/uid-streams/shell?input=1&output=1', protocol);
    await terminal.send(0, 'typed\n');
    // the terminal's echo, and what cat says
    await waitFor('both', () => (terminal.text(1).split('typed').length >= 3 ? true : undefined));
    terminal.ws.close();
    await terminal.closed;
    await nothingOpen();
  });

  test(`${protocol}: a client that is gone ends its stream`, async () => {
    const sleeping = await exec('app', 'exec sleep 1000', 'output=1', protocol);
    await waitFor('the stream', () => (app.routes.open === 1 ? true : undefined));
    sleeping.ws.terminate();
    await nothingOpen();
  });
}

test('v5: stdin ends by its own, and the answer still comes', async () => {
  const count = await exec('app', 'wc -c', 'input=1&output=1', 'v5.channel.k8s.io');
  await count.send(0, '12345');
  await count.send(255, Buffer.from([0]));
  await count.closed;
  assert.equal(count.text(1).trim(), '5');
});

test('base64 sub-protocol', async () => {
  const run = new Channels('/exec/ns/web/app?output=1&command=echo&command=hi', 'v4.base64.channel.k8s.io');
  const texts: string[] = [];
  run.ws.on('message', (data: Buffer) => texts.push(data.toString()));
  await run.closed;
  const out = texts
    .filter((text) => text.startsWith('1'))
    .map((text) => Buffer.from(text.slice(1), 'base64').toString());
  assert.equal(out.join(''), 'hi\n');
});

test('port-forward by WebSocket: 8 MB through a port and back', async () => {
  const forward = await open('/portForward/ns/web?port=7000', 'v4.channel.k8s.io');
  // two channels for each port, data and errors; each begins with the port's number
  await waitFor('the greetings', () => (forward.bytes(1).length >= 2 ? true : undefined));
  assert.deepEqual([forward.bytes(0).readUInt16LE(0), forward.bytes(1).readUInt16LE(0)], [7000, 7000]);
  const sent = randomBytes(8 << 20);
  for (let at = 0; at < sent.length; at += 1 << 15) await forward.send(0, sent.subarray(at, at + (1 << 15)));
  await waitFor('all of it', () => (forward.bytes(0).length >= sent.length + 2 ? true : undefined));
  assert.ok(forward.bytes(0).subarray(2).equals(sent));
  forward.ws.close();
  await forward.closed;
  await nothingOpen();
});

test('port-forward by WebSocket: a port that nobody serves', async () => {
  const forward = await open('/portForward/ns/web?port=7001', 'v4.channel.k8s.io');
  await waitFor('an error', () => (forward.bytes(1).length > 2 ? true : undefined));
  assert.match(forward.text(1), /7001/);
  forward.ws.close();
  await forward.closed;
  await nothingOpen();
});

test('a plain request, and a stream that containerd refuses', async () => {
  const response = await fetch(`http://127.0.0.1:${String(app.port)}/exec/ns/web/app?output=1&command=ls`, {
    headers: { connection: 'close' },
  });
  assert.deepEqual([response.status, await response.text()], [500, 'Upgrade request required\n']);
  const ws = new WebSocket(`ws://127.0.0.1:${String(app.port)}/exec/ns/web/app?output=1&command=ls`, ['odd.k8s.io']);
  const [, answer] = (await once(ws, 'unexpected-response')) as [unknown, { statusCode: number }];
  assert.ok(answer.statusCode >= 400, String(answer.statusCode));
  ws.on('error', () => undefined);
  ws.terminate();
  await nothingOpen();
});

test('run: output, and a command that fails', async () => {
  const ask = async (cmd: string): Promise<[number, string]> => {
    const path = `http://127.0.0.1:${String(app.port)}/run/ns/web/app?cmd=${encodeURIComponent(cmd)}`;
    const response = await fetch(path, { method: 'POST' });
    return [response.status, await response.text()];
  };
  assert.deepEqual(await ask('echo hello'), [200, 'hello\n']);
  const [status, text] = await ask('ls /absent');
  assert.equal(status, 500);
  assert.match(text, /^command 'ls \/absent' exited with 1: ls: .*absent/);
});

test('the end of the server is the end of all streams', async () => {
  const streams = [];
  for (const protocol of ['v4.channel.k8s.io', 'v5.channel.k8s.io']) {
    streams.push(await exec('app', 'exec sleep 1000', 'input=1&output=1', protocol));
  }
  assert.equal(app.routes.open, 2);
  await app.close();
  await Promise.all(streams.map(({ closed }) => closed));
  assert.equal(app.routes.open, 0);
});
