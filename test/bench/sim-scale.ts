/**
 * Many pods on one agent and the simulated runtime, in one run: RSS and CPU of the agent without pods, time until
 * all run, RSS and idle CPU with all of them, time until everything is gone.
 *   bin/bench sim-scale [--pods 2000] [--shards 2] [--idle 10] [--journal DIR] [--files]
 * `--journal DIR` leaves the agent's message log there (for test/bench/replay.ts); `--files` gives each pod a file
 * of its own instead of one file with many documents. Prints one JSON object; compare within one machine only.
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startSimulatedRuntime } from '../../cri/sim/simulated-runtime.ts';
import { startAgent } from '../simulated/agent/support/agent.ts';
import { manifest, PRESENT, putAtOnce } from '../simulated/agent/support/bench.ts';

const { values } = parseArgs({
  options: {
    pods: { type: 'string', default: '2000' },
    shards: { type: 'string', default: '2' },
    idle: { type: 'string', default: '10' },
    journal: { type: 'string' },
    files: { type: 'boolean', default: false },
    trace: { type: 'boolean', default: false },
  },
});
const pods = Number(values.pods);

const dir = mkdtempSync(join(tmpdir(), 'actorlet-scale-'));
const socket = join(dir, 'cri.sock');
const sim = await startSimulatedRuntime({ socket, script: { images: [PRESENT] }, seed: 1 });
const agent = await startAgent({ dir, endpoint: `unix://${socket}`, settings: { shards: Number(values.shards) } });
try {
  await sleep(3_000);
  const empty = await agent.usage();
  const manifests = Array.from({ length: pods }, (_, i) => manifest(`pod-${i}`));
  let from = performance.now();
  if (values.files) manifests.forEach((pod, i) => putAtOnce(join(dir, 'manifests'), `pod-${i}.yaml`, [pod]));
  else putAtOnce(join(dir, 'manifests'), 'pods.yaml', manifests);
  const count = async () => (await agent.rows()).filter((r) => r.state === 'syncing.running').length;
  for (let n = 0; n < pods; await sleep(250)) {
    n = await count();
    if (values.trace) process.stderr.write(`${((performance.now() - from) / 1000).toFixed(1)} s: ${n} run\n`);
  }
  const runningSeconds = (performance.now() - from) / 1000;
  const atRunning = await agent.usage();
  await sleep(Number(values.idle) * 1_000);
  const settled = await agent.usage();

  from = performance.now();
  rmSync(join(dir, 'manifests'), { recursive: true });
  for (;;) {
    const left = await agent.tracked();
    if (values.trace) process.stderr.write(`${((performance.now() - from) / 1000).toFixed(1)} s: ${left} are left\n`);
    if (left === 0 && sim.state.sandboxes.size === 0) break;
    await sleep(250);
  }
  const goneSeconds = (performance.now() - from) / 1000;
  const atEnd = await agent.usage();
  const round = (x: number) => Math.round(x * 10) / 10;
  const calls = sim.state.calls.counts;
  process.stdout.write(
    `${JSON.stringify({
      pods,
      rssMiB: { empty: empty.rssMiB, allRunning: atRunning.rssMiB, settled: settled.rssMiB, gone: atEnd.rssMiB },
      heapsMiB: { empty: empty.heaps, settled: settled.heaps, gone: atEnd.heaps },
      secondsToAllRunning: round(runningSeconds),
      cpuMsPerPodStart: round((atRunning.cpuMs - empty.cpuMs) / pods),
      idleCpuPercent: round((settled.cpuMs - atRunning.cpuMs) / (Number(values.idle) * 10)),
      secondsToAllGone: round(goneSeconds),
      cpuMsPerPodEnd: round((atEnd.cpuMs - settled.cpuMs) / pods),
      calls,
    })}\n`,
  );
  await agent.stop();
  if (values.journal !== undefined) cpSync(join(dir, 'journal'), values.journal, { recursive: true });
} finally {
  await agent.kill();
  await sim.stop();
  rmSync(dir, { recursive: true, force: true });
}
