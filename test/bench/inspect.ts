/**
 * What the inspector costs, in one run: CPU of an agent for each message of its shards with the inspector off, on with
 * nobody looking, and on with a page and a client of Stately's protocol that listen; then the API's times with many pods,
 * and those of a step far into a pod's life.
 *   bin/bench inspect [--pods 200] [--seconds 15] [--list 1000,5000] [--steps 100000]
 * Each agent runs the same pods with an exec probe each second on a simulated runtime. Prints one JSON object.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { WebSocket } from 'ws';
import { Inspector } from '../../actors/inspect/inspector/inspector.ts';
import { startInspectorServer } from '../../actors/inspect/inspector/inspector-server.ts';
import { startSimulatedRuntime } from '../../cri/sim/simulated-runtime.ts';
import { journalingShard } from '../pure/journal/journal-fixture.ts';
import { podNamed, startOf, startPods } from '../pure/inspector/made-journal.ts';
import { startAgent } from '../simulated/agent/support/agent.ts';
import { manifest, PRESENT, putAtOnce } from '../simulated/agent/support/bench.ts';
import { quantiles, ratio } from './figures.ts';

const { values } = parseArgs({
  options: {
    pods: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '15' },
    list: { type: 'string', default: '1000,5000' },
    steps: { type: 'string', default: '100000' },
  },
});
const round = (x: number): number => Math.round(x * 10) / 10;

type How = 'off' | 'idle' | 'watched';

/** CPU and memory of an agent whose pods are probed each second. */
async function agentCost(how: How): Promise<{ messages: number; cpuUsPerMessage: number; rssMiB: number }> {
  const dir = mkdtempSync(join(tmpdir(), 'actorlet-inspect-'));
  const socket = join(dir, 'cri.sock');
  const sim = await startSimulatedRuntime({ socket, script: { images: [PRESENT] }, seed: 1 });
  const inspect = how === 'off' ? null : { host: '127.0.0.1', port: 0 };
  const agent = await startAgent({ dir, endpoint: `unix://${socket}`, settings: { shards: 1, inspect } });
  const sockets: WebSocket[] = [];
  try {
    const readinessProbe = { exec: { command: ['true'] }, periodSeconds: 1 };
    const count = Number(values.pods);
    const pods = Array.from({ length: count }, (_, i) => manifest(`pod-${i}`, {}, { readinessProbe }));
    putAtOnce(join(dir, 'manifests'), 'pods.yaml', pods);
    while ((await agent.rows()).filter((r) => r.state === 'syncing.running').length < count) await sleep(250);
    if (how === 'watched') {
      const address = /"address":"(http:[^"]+)"/.exec(readFileSync(agent.logFile, 'utf8'))?.[1] ?? '';
      const { host, searchParams } = new URL(address);
      const token = searchParams.get('token') ?? '';
      const headers = { authorization: `Bearer ${token}` };
      sockets.push(new WebSocket(`ws://${host}/api/live`, { headers }));
      sockets.push(new WebSocket(`ws://${host}/stately?token=${token}&pod=pod-0-node`));
    }
    await sleep(5_000);
    const handled = async () =>
      [...(await agent.metrics()).matchAll(/^actorlet_shard_messages_total\{[^}]*\} (\d+)/gm)]
        .map(([, n]) => Number(n))
        .reduce((a, b) => a + b, 0);
    const before = { messages: await handled(), cpuMs: (await agent.usage()).cpuMs };
    await sleep(Number(values.seconds) * 1_000);
    const usage = await agent.usage();
    const messages = (await handled()) - before.messages;
    return {
      messages,
      cpuUsPerMessage: Math.round(((usage.cpuMs - before.cpuMs) * 1_000) / messages),
      rssMiB: usage.rssMiB,
    };
  } finally {
    for (const client of sockets) client.terminate();
    await agent.stop();
    await sim.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Serves the files of a folder, and asks. */
async function served<T>(dir: string, use: (get: (path: string) => Promise<number>) => Promise<T>) {
  const inspector = new Inspector({ mode: 'files', paths: [dir] }, 'bench');
  const began = performance.now();
  await inspector.refresh();
  const indexMs = Math.round(performance.now() - began);
  const token = 'bench';
  const log = pino({ level: 'silent' });
  const server = await startInspectorServer({ inspector, address: { host: '127.0.0.1', port: 0 }, token, log });
  const headers = { authorization: `Bearer ${token}`, 'accept-encoding': 'gzip' };
  const get = (path: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const from = performance.now();
      const asked = request({ host: '127.0.0.1', port: server.port, path, headers }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`${path}: ${String(response.statusCode)}`));
        response.resume().on('end', () => resolve(performance.now() - from));
      });
      asked.on('error', reject);
      asked.end();
    });
  try {
    return { indexMs, rssMiB: Math.round(process.memoryUsage.rss() / 2 ** 20), ...(await use(get)) };
  } finally {
    await server.close();
  }
}

async function timesOf(get: (path: string) => Promise<number>, path: string, rounds = 30) {
  const times: number[] = [];
  for (let i = 0; i < rounds; i++) times.push(await get(path));
  return quantiles(times);
}

async function listOf(count: number) {
  const dir = mkdtempSync(join(tmpdir(), 'actorlet-list-'));
  try {
    const shard = journalingShard(dir, { maxBytes: 1 << 30 });
    await startPods(
      shard,
      Array.from({ length: count }, (_, i) => podNamed(`pod-${i}`)),
    );
    shard.close();
    return await served(dir, async (get) => ({ pods: count, listMs: await timesOf(get, '/api/pods') }));
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function longLife(total: number) {
  const dir = mkdtempSync(join(tmpdir(), 'actorlet-long-'));
  try {
    const shard = journalingShard(dir, { maxBytes: 1 << 30 });
    shard.post('web', startOf(podNamed('web')));
    for (let i = 1; i < total; i++) {
      shard.post('web', { type: 'runtime.state', at: 1_000 + i, runtimeReady: i % 2 === 0, networkReady: true });
      if (i % 64 === 0) await turn();
    }
    await turn();
    await turn();
    shard.close();
    return await served(dir, async (get) => {
      const firstMs = Math.round(await get(`/api/pods/web/steps/${total - 1}`));
      const nextMs = await timesOf(get, `/api/pods/web/steps/${total - 2}`);
      const anywhere: number[] = [];
      for (let i = 0; i < 50; i++) anywhere.push(await get(`/api/pods/web/steps/${(i * 7_919) % total}`));
      const pageMs = await timesOf(get, `/api/pods/web/steps?from=${total - 2_000}&limit=2000`, 10);
      return { steps: total, firstMs, nextMs, anywhereMs: quantiles(anywhere), pageMs };
    });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

const off = await agentCost('off');
const idle = await agentCost('idle');
const watched = await agentCost('watched');
const lists = [];
for (const count of values.list.split(',')) lists.push(await listOf(Number(count)));
const long = await longLife(Number(values.steps));
const figures = {
  agent: {
    ...{ off, idle, watched },
    idleToOff: ratio(idle.cpuUsPerMessage, off.cpuUsPerMessage),
    watchedToOff: ratio(watched.cpuUsPerMessage, off.cpuUsPerMessage),
    extraMiB: round(idle.rssMiB - off.rssMiB),
  },
  lists,
  long,
};
process.stdout.write(`${JSON.stringify(figures)}\n`);
