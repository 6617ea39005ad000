/**
 * How long from the moment at which memory is below its threshold until a pod is told to end: with the watch between looks, and
 * with the looks alone (each 10 s, kubelet's way where the kernel's notifications are off, and always on cgroup v2).
 * A child takes memory for real, at 256 MiB/s; what there is of it is /proc/meminfo. Prints JSON; ms.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { meminfoBytes } from '../../actors/resources/machine/machine-facts.ts';
import { machineClock } from '../../actors/host/time/clock.ts';
import { evictionManager } from '../../actors/resources/eviction/eviction-manager.ts';
import { makePod } from '../pure/eviction/eviction-bench.ts';
import { fakeNode } from '../pure/eviction/fake-node.ts';

const MI = 2 ** 20;
const TAKER = `const a=[];const t=setInterval(()=>a.push(Buffer.alloc(${String(16 * MI)},1))>=60&&clearInterval(t),62);setTimeout(()=>process.exit(),14000)`;

function available(): number {
  const text = readFileSync('/proc/meminfo', 'utf8');
  return meminfoBytes(text, 'MemFree') + meminfoBytes(text, 'Inactive(file)');
}

/** One trial. `offset`: so long after a look the fall begins, ms. */
async function trial(watched: boolean, offset: number): Promise<number> {
  const capacity = meminfoBytes(readFileSync('/proc/meminfo', 'utf8'), 'MemTotal');
  const threshold = available() - 512 * MI;
  const node = fakeNode({ pods: [makePod('taker')] });
  let toldAt = 0;
  const nodeAlone = () => {
    const free = available();
    const memory = { time: Date.now() * 1e6, availableBytes: free, workingSetBytes: capacity - free };
    return Promise.resolve({ nodeName: 'n', startTime: 0, memory });
  };
  const manager = evictionManager({
    ...node.ground,
    clock: machineClock,
    config: { ...node.ground.config, evictionHard: { 'memory.available': String(threshold) } },
    usage: {
      ...{ nodeAlone, disks: () => Promise.resolve({ imageFs: false, splitFs: false }) },
      summary: async () => ({ node: await nodeAlone(), pods: [] }),
      ...(watched && { memoryNow: () => ({ node: available(), pods: null }) }),
    },
    tell: () => (toldAt ||= performance.now()),
  });
  manager.start?.();
  await sleep(offset);
  const taker = spawn(process.execPath, ['-e', TAKER], { stdio: 'ignore' });
  let crossedAt = 0;
  const until = performance.now() + 15_000;
  while (toldAt === 0 && performance.now() < until) {
    if (crossedAt === 0 && available() < threshold) crossedAt = performance.now();
    await sleep(5);
  }
  manager.stop?.();
  taker.kill('SIGKILL');
  await sleep(500);
  if (toldAt === 0) return NaN;
  // Told before this loop saw it.
  return crossedAt === 0 ? 0 : toldAt - crossedAt;
}

const OFFSETS = [500, 2_000, 3_500];
const results: Record<string, number[]> = { watched: [], looksAlone: [] };
for (const offset of OFFSETS) {
  results['watched']?.push(Math.round(await trial(true, offset)));
  results['looksAlone']?.push(Math.round(await trial(false, offset)));
}
process.stdout.write(`${JSON.stringify(results)}\n`);
