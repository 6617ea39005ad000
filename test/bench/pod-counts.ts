import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { journalBatches, journalFiles } from '../../actors/record/journal/journal-reader.ts';
import { startSimulatedRuntime } from '../../cri/sim/simulated-runtime.ts';
import { startAgent } from '../simulated/agent/support/agent.ts';
import { manifest, PRESENT, putAtOnce, until } from '../simulated/agent/support/bench.ts';

/** What the life of a pod takes that no clock and no other work on the machine changes, a pod. */
export interface PodCounts {
  /** Calls to the runtime that are about one pod. Its looks at it do not count: one that starts or ends slowly is looked at more than once. */
  runtimeCalls: number;
  /** Effects that its machine asked for and heard the end of. */
  effects: number;
  /** What the shard's journal holds of the ends of these effects, and of the states and effects that came of them; of one, on average. */
  journalBytesOfEffect: number;
}

/** Calls for the node as a whole, and looks at a pod. */
const UNCOUNTED =
  /^(?:List|Status|Version|RuntimeConfig|ImageFsInfo|UpdateRuntimeConfig|GetContainerEvents|ContainerStatus|PodSandboxStatus)/;

/** Has so many static pods start and end on an agent of its own with the simulated runtime, and counts. */
export async function podCounts(pods: number): Promise<PodCounts> {
  const dir = mkdtempSync(join(tmpdir(), 'actorlet-counts-'));
  const socket = join(dir, 'cri.sock');
  const sim = await startSimulatedRuntime({ socket, script: { images: [PRESENT] }, seed: 1 });
  const agent = await startAgent({ dir, endpoint: `unix://${socket}`, settings: { shards: 1 } });
  try {
    putAtOnce(
      join(dir, 'manifests'),
      'pods.yaml',
      Array.from({ length: pods }, (_, i) => manifest(`pod-${i}`)),
    );
    const running = async () => (await agent.rows()).filter((row) => row.state === 'syncing.running').length === pods;
    await until('all pods to run', running, { agent });
    rmSync(join(dir, 'manifests'), { recursive: true });
    const gone = async () => (await agent.tracked()) === 0 && sim.state.sandboxes.size === 0;
    await until('all pods to be gone', gone, { agent });
    await agent.stop();
    const calls = Object.entries(sim.state.calls.counts).filter(([rpc]) => !UNCOUNTED.test(rpc));
    const runtimeCalls = calls.reduce((sum, [, n]) => sum + n, 0) / pods;
    return { runtimeCalls, ...(await journalCounts(join(dir, 'journal'), pods)) };
  } finally {
    await agent.kill();
    await sim.stop();
    if (existsSync(dir)) rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function journalCounts(folder: string, pods: number): Promise<Omit<PodCounts, 'runtimeCalls'>> {
  const shards = (await journalFiles([folder])).filter((file) => /\/shard-[^/]+$/.test(file));
  const ends = new Set<number>();
  let bytes = 0;
  for await (const { lines } of journalBatches(shards))
    for (const line of lines) {
      if (!/^\{"r":"(?:msg|step)"/.test(line)) continue;
      const { n, m } = JSON.parse(line) as { n: number; m?: { type: string } };
      if (m?.type === 'effect.done' || m?.type === 'effect.failed') ends.add(n);
      if (ends.has(n)) bytes += line.length;
    }
  return { effects: ends.size / pods, journalBytesOfEffect: Math.round(bytes / ends.size) };
}
