/**
 * The HTTPS API of a node, the reference kubelet and actorlet one after the other in one run, on the same containerd and
 * the same control plane, asked straight at the node's port with a client certificate (client-go; no kubectl between).
 *   bin/bench streaming [--pods 50] [--repeat 30] [--mebibytes 128] [--only actorlet|kubelet]
 * Prints one JSON object with both agents' figures and their ratios; compare within one run only. Needs root and what
 * the test layers `containerd` and `cluster` need.
 */
import { parseArgs } from 'node:util';
import { ControlPlane } from '../cluster/support/control-plane.ts';
import { measureBothAgents, withRatios } from './both-agents.ts';
import { measureStreaming } from './streaming-measure.ts';
import type { StreamingFigures } from './streaming-measure.ts';

const { values } = parseArgs({
  options: {
    pods: { type: 'string', default: '50' },
    repeat: { type: 'string', default: '30' },
    mebibytes: { type: 'string', default: '128' },
    only: { type: 'string' },
  },
});
const wish = { pods: Number(values.pods), repeat: Number(values.repeat), mebibytes: Number(values.mebibytes) };

/** Ratios actorlet / kubelet by their names in the output; of throughput more is better, of all others less. */
const RATIOS: readonly [string, (figures: StreamingFigures) => number][] = [
  ['exec stdin MiB/s (more is better)', (f) => f.mebibytesPerSecond.execStdin],
  ['exec stdout MiB/s (more is better)', (f) => f.mebibytesPerSecond.execStdout],
  ['port-forward MiB/s, one connection (more is better)', (f) => f.mebibytesPerSecond.portForward],
  ['port-forward MiB/s, 20 connections (more is better)', (f) => f.mebibytesPerSecond.portForward20],
  ['exec true p50', (f) => f.ms.execTrue.p50],
  ['exec true p90', (f) => f.ms.execTrue.p90],
  ['/metrics p50', (f) => f.ms.metrics.p50],
  ['/metrics/cadvisor p50', (f) => f.ms.cadvisor.p50],
  ['/metrics/resource p50', (f) => f.ms.resource.p50],
  ['/stats/summary p50', (f) => f.ms.summary.p50],
  ['/pods p50', (f) => f.ms.pods.p50],
  ['CPU of the agent a GiB of exec', (f) => f.cpuMsPerGiB],
  ['RSS after all', (f) => f.rssMiB.after],
];

const plane = await ControlPlane.start();
try {
  const figures = await measureBothAgents({
    ...{ plane, only: values.only },
    measure: async (node): Promise<StreamingFigures> => {
      await node.startAgent();
      await node.waitSchedulable();
      return measureStreaming(plane, node, wish);
    },
  });
  process.stdout.write(withRatios(figures, RATIOS));
} finally {
  await plane.stop();
}
