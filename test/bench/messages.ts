/**
 * Messages per second through supervisor -> shard -> supervisor: pods run in the real worker threads (supervisor
 * machine, ShardPool, journal on), and for each one PLEG's word that its address changed is taken by the supervisor,
 * journaled and stepped by its shard, and comes back as the pod's report.
 *   bin/bench messages [--pods 200] [--messages 40000] [--window 200] [--shards 2] [--no-journal]
 * `window`: messages under way at a time; 1 = the time of one round trip. Prints one JSON object; the workers' log
 * goes to standard error.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { createMetrics } from '../../actors/record/metrics/metrics-registry.ts';
import { ShardPool } from '../../actors/pods/shard/shard-pool.ts';
import type { FromShard } from '../../actors/pods/shard/shard-protocol.ts';
import { PodStore } from '../../actors/pods/store/pod-store.ts';
import { Supervisor } from '../../actors/pods/supervisor/supervisor.ts';
import { startSimulatedRuntime } from '../../cri/sim/simulated-runtime.ts';
import { containerHash } from '../../machines/container-config/container-hash.ts';
import type { Pod } from '../../machines/protocol/api-types.ts';
import type { ObservedPod } from '../../machines/protocol/observed.ts';
import { settings as podSettings } from '../pure/pod/pod-world.ts';
import { quantiles } from './figures.ts';

const { values } = parseArgs({
  allowNegative: true,
  options: {
    pods: { type: 'string', default: '200' },
    messages: { type: 'string', default: '40000' },
    window: { type: 'string', default: '200' },
    shards: { type: 'string', default: '2' },
    journal: { type: 'boolean', default: true },
  },
});
const shards = Number(values.shards);
const count = Number(values.pods);
const dir = mkdtempSync(join(tmpdir(), 'actorlet-messages-'));
const sim = await startSimulatedRuntime({ socket: join(dir, 'cri.sock'), seed: 1 });
const endpoint = `unix://${join(dir, 'cri.sock')}`;
for (const folder of ['root/pods', 'pod-logs', 'links']) mkdirSync(join(dir, folder), { recursive: true });

const log = pino({ level: 'error' });
const metrics = createMetrics();
const store = new PodStore();
const settings = {
  ...podSettings,
  rootDir: join(dir, 'root'),
  podLogsDir: join(dir, 'pod-logs'),
  cgroupsPerQOS: false,
};
const journal = values.journal ? { dir: join(dir, 'journal'), maxBytes: 1 << 28, agent: 'bench' } : null;

function podOf(i: number): Pod {
  const metadata = { name: `p${i}`, namespace: 'default', uid: `uid-${i}` };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [{ name: 'c', image: 'web:1' }] } };
}

function seenPod(i: number, at: number, ip: string): ObservedPod {
  const about = { labels: {}, annotations: {}, createdAt: 1_000 };
  const base = {
    finishedAt: 0,
    exitCode: 0,
    reason: '',
    message: '',
    image: 'web:1',
    imageRef: 'i',
    imageId: 'i',
    logPath: '',
  };
  return {
    uid: `uid-${i}`,
    name: `p${i}`,
    namespace: 'default',
    at,
    sandboxes: [
      { ...about, id: `s${i}`, attempt: 0, state: 'ready', ips: [ip], hostNetwork: false, runtimeHandler: '' },
    ],
    containers: [
      {
        ...about,
        ...base,
        id: `c${i}`,
        name: 'c',
        sandboxId: `s${i}`,
        state: 'running',
        startedAt: 1_000,
        hash: containerHash({ name: 'c', image: 'web:1' }),
        restartCount: 0,
      },
    ],
  };
}

const state = new Map<string, string>();
let onReport: (uid: string, ip: string) => void = () => undefined;
let onObserve: (uid: string) => void = () => undefined;
const pool = new ShardPool({
  shards,
  task: {
    settings,
    endpoint,
    imageEndpoint: '',
    containerLogsDir: join(dir, 'links'),
    journal,
    log: { format: 'json', verbosity: -1 },
  },
  log,
  metrics,
  onMessage: (_shard, message: FromShard) => {
    // PLEG's part: a pod that asks for a look is looked at.
    if (message.t === 'observe') onObserve(message.uid);
    if (message.t !== 'report') return;
    store.report(message.report);
    state.set(message.report.uid, message.report.state);
    onReport(message.report.uid, message.report.status.podIP ?? '');
  },
  onReplaced: () => undefined,
});
const supervisor = new Supervisor({
  shards,
  log,
  now: Date.now,
  store,
  runtimeState: () => ({ runtimeReady: true, networkReady: true, problem: '' }),
  remembered: () => null,
  post: (shard, uid, message) => pool.post(shard, { t: 'pod', uid, message }),
});
const started = Date.now();
for (let i = 0; i < count; i++)
  supervisor.take({ type: 'seen', at: started, observed: seenPod(i, started, '10.0.0.1') });

try {
  await pool.start();
  supervisor.take({
    type: 'config',
    at: started,
    update: { op: 'ADD', source: 'file', pods: Array.from({ length: count }, (_, i) => podOf(i)) },
  });
  supervisor.take({ type: 'sourcesReady', at: started });
  while ([...state.values()].filter((s) => s === 'syncing.running').length < count)
    await new Promise((resolve) => setTimeout(resolve, 20));

  const total = Number(values.messages);
  const window = Math.min(Number(values.window), count);
  const sentAt = new Map<string, { at: number; ip: string }>();
  const times: number[] = [];
  let sent = 0;
  const send = (i: number): void => {
    const ip = `10.${((sent >> 16) & 127) + 1}.${(sent >> 8) & 255}.${sent & 255}`;
    sent++;
    sentAt.set(`uid-${i}`, { at: performance.now(), ip });
    supervisor.take({ type: 'seen', at: Date.now(), observed: seenPod(i, Date.now(), ip) });
  };
  onObserve = (uid) => {
    const ip = sentAt.get(uid)?.ip;
    if (ip !== undefined)
      supervisor.take({ type: 'seen', at: Date.now(), observed: seenPod(Number(uid.slice(4)), Date.now(), ip) });
  };
  const began = performance.now();
  const cpu = process.cpuUsage();
  // Each pod of the window has one message under way: the next one is sent when the report has come.
  await new Promise<void>((resolve) => {
    onReport = (uid, ip) => {
      const mine = sentAt.get(uid);
      if (mine?.ip !== ip) return;
      times.push((performance.now() - mine.at) * 1_000);
      if (times.length === total) resolve();
      else if (sent < total) send(Number(uid.slice(4)));
    };
    for (let i = 0; i < window; i++) send(i);
  });
  const seconds = (performance.now() - began) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  process.stdout.write(
    `${JSON.stringify({
      messages: total,
      pods: count,
      shards,
      window,
      journal: values.journal,
      messagesPerSecond: Math.round(total / seconds),
      cpuUsPerMessage: Math.round((user + system) / total),
      roundTripUs: quantiles(times),
    })}\n`,
  );
} finally {
  await pool.stop();
  await sim.stop();
  rmSync(dir, { recursive: true, force: true });
}
