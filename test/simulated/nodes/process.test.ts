import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { freePorts } from '../../../bin/demo-steps/free-ports.ts';
import { waitFor } from '../../tools/wait-for.ts';

const MAIN = fileURLToPath(new URL('../../../bin/actorlet.ts', import.meta.url));

/** `actorlet nodes` with an API server that takes connections and never says a word. */
async function withSilentServer(
  flags: readonly string[],
  body: (nodes: {
    ended: Promise<number | null>;
    asked: Promise<unknown>;
    end: () => void;
    dir: string;
  }) => Promise<void>,
): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'nodes-process-'));
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket.on('error', () => undefined));
  });
  const asked = new Promise((resolve) => server.once('connection', resolve));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const kubeconfig = join(dir, 'kubeconfig');
  const { port } = server.address() as AddressInfo;
  const file = {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'c' },
    clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${port}` } }],
    contexts: [{ name: 'c', context: { cluster: 'c' } }],
  };
  writeFileSync(kubeconfig, JSON.stringify(file));
  const args = ['nodes', '--kubeconfig', kubeconfig, '--count', '2', '--output', 'none', ...flags];
  const env = { ...process.env, TMPDIR: dir };
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'ignore', 'inherit'], env });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  try {
    await body({ ended, asked, end: () => child.kill('SIGTERM'), dir });
  } finally {
    child.kill('SIGKILL');
    await ended;
    for (const socket of open) socket.destroy();
    server.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

test('SIGTERM ends actorlet nodes in good order while it waits for the first answer of the API server', async () => {
  await withSilentServer([], async ({ ended, asked, end, dir }) => {
    await asked;
    end();
    assert.equal(
      await ended,
      0,
      'by itself, not by the signal, which the first process of a container would not even hear',
    );
    assert.deepEqual(readdirSync(dir), ['kubeconfig'], 'its folder is gone');
  });
});

test('/healthz is for probes: well once each node has been Ready, and /healthz/ping as soon as the process answers', async () => {
  const [port = 0] = await freePorts(1);
  await withSilentServer(['--port', '0', '--healthz-port', String(port)], async ({ end, ended }) => {
    const get = async (path: string) => {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`);
      return { status: answer.status, text: await answer.text() };
    };
    await waitFor('/healthz/ping', async () => (await get('/healthz/ping')).status === 200 || undefined);
    const { status, text } = await get('/healthz');
    assert.equal(status, 500);
    assert.match(text, /^\[\+\]ping ok\n\[-\]nodes failed/);
    assert.match((await get('/healthz/nodes')).text, /2 of 2 nodes have not been Ready yet/);
    end();
    assert.equal(await ended, 0);
  });
});
