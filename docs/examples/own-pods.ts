/**
 * A node with a source of pods of its own, on the simulated runtime: it runs a pod, prints each state that the pod's machine
 * goes through, says in words why it is as it is, ends the pod, and stops.
 *
 *   node own-pods.ts          (Node.js 24; needs no container runtime and no API server)
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedNode } from 'actorlet';
import type { OwnSource, PodReport, TellPods } from 'actorlet';
import { explainFromJournal } from 'actorlet/actors/inspect/explain/explain-from-journal';
import { startSimulatedRuntime } from 'actorlet/cri/sim/simulated-runtime';

const folder = await mkdtemp(join(tmpdir(), 'own-pods-'));
const socket = join(folder, 'cri.sock');
const runtime = await startSimulatedRuntime({ socket, seed: 1 });

// The source: whoever holds `tell` says which pods shall run. Here it is kept for the rest of this file.
let tell: TellPods = () => [];
const source: OwnSource = {
  name: 'example',
  start: (told) => {
    tell = told;
    tell([]);
  },
};

// The listener: each change of a pod, in order.
const states: string[] = [];
let heard: () => void = () => undefined;
const onPod = ({ state, why, status }: PodReport) => {
  if (states.at(-1) !== state) {
    states.push(state);
    console.log(`${state.padEnd(30)} ${(status.phase ?? '').padEnd(10)} ${why}`.trimEnd());
  }
  heard();
};

const node = await startEmbeddedNode({
  endpoint: `unix://${socket}`,
  rootDir: join(folder, 'root'),
  containerLogsDir: join(folder, 'container-logs'),
  configuration: {
    podLogsDir: join(folder, 'pod-logs'),
    // The simulated runtime starts no processes: there is nothing to put into cgroups.
    cgroupsPerQOS: false,
    enforceNodeAllocatable: [],
    failCgroupV1: false,
  },
  flags: ['--hostname-override', 'example-node', '--shards', '1'],
  source,
  onPod,
});

async function reached(state: string): Promise<void> {
  while (states.at(-1) !== state) await new Promise<void>((resolve) => (heard = resolve));
}

try {
  const errors = tell([
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'hello' },
      spec: { terminationGracePeriodSeconds: 1, containers: [{ name: 'web', image: 'docker.io/library/nginx:1' }] },
    },
  ]);
  for (const error of errors) console.error(error.message);
  await reached('syncing.running');
  const journals = [join(folder, 'root', 'journal')];
  console.log((await explainFromJournal({ pod: 'hello', journals, now: Date.now() })).summary);
  tell([]);
  await reached('terminated.finished');
} finally {
  await node.stop();
  await runtime.stop();
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}
