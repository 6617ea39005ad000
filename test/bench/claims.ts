/**
 * Pods with claims of a CSI driver: the reference kubelet, then actorlet, on the same containerd and control plane in one run. Claims and volumes are bound
 * before a pod is made, and most rows' drivers need no attachment, so that the agent is measured and no controller; the row `attachedClaim` is the whole
 * way with the attach-detach controller and the external attacher. Drivers are processes of their own.
 *   bin/bench claims [--sequential 8] [--burst 30] [--attached 5] [--hang-rounds 4] [--hang NodePublishVolume|NodeStageVolume] [--only actorlet|kubelet]
 * `hang`: pods' create to Ready beside a pod for whom a call of another driver hangs, and without, in turn. Prints one JSON object with both agents' figures
 * and their ratios; compare within one run only. Needs root and what the test layers `containerd` and `cluster` need, and Kubernetes' csi-attacher
 * (`test/tools/build.sh csi-attacher`) unless `--attached 0`. `test/tools/own-machine.sh bin/bench claims` keeps it apart from this machine's containers.
 */
import { parseArgs } from 'node:util';
import { ControlPlane } from '../cluster/support/control-plane.ts';
import { measureBothAgents, withRatios } from './both-agents.ts';
import { measureClaims } from './claims-measure.ts';
import type { ClaimsFigures } from './claims-measure.ts';

const { values } = parseArgs({
  options: {
    sequential: { type: 'string', default: '8' },
    burst: { type: 'string', default: '30' },
    attached: { type: 'string', default: '5' },
    'hang-rounds': { type: 'string', default: '4' },
    hang: { type: 'string', default: 'NodePublishVolume' },
    only: { type: 'string' },
  },
});

const RATIOS: readonly [string, (figures: ClaimsFigures) => number][] = [
  ['no claim: create to Ready p50', (f) => f.plain.createToReadyMs.p50],
  ['no claim: delete to gone p50', (f) => f.plain.deleteToGoneMs.p50],
  ['one claim: create to Ready p50', (f) => f.oneClaim.createToReadyMs.p50],
  ['one claim: delete to gone p50', (f) => f.oneClaim.deleteToGoneMs.p50],
  ['one claim: CPU per pod life', (f) => f.oneClaim.cpuMsPerPodLife],
  ['one claim: API calls per pod life', (f) => f.oneClaim.callsPerPodLife.all],
  ['ten claims: create to Ready p50', (f) => f.tenClaims.createToReadyMs.p50],
  ['ten claims: delete to gone p50', (f) => f.tenClaims.deleteToGoneMs.p50],
  ['ten claims: CPU per pod life', (f) => f.tenClaims.cpuMsPerPodLife],
  ['ten claims: API calls per pod life', (f) => f.tenClaims.callsPerPodLife.all],
  ['no claim, at once: all Ready', (f) => f.plainAtOnce.allReadyMs],
  ['no claim, at once: all gone', (f) => f.plainAtOnce.allGoneMs],
  ['at once: all Ready', (f) => f.atOnce.allReadyMs],
  ['at once: all gone', (f) => f.atOnce.allGoneMs],
  ['at once: all unstaged', (f) => f.atOnce.allUnstagedMs],
  ['no claim, at once: CPU per pod life', (f) => f.plainAtOnce.cpuMsPerPodLife],
  ['at once: CPU per pod life', (f) => f.atOnce.cpuMsPerPodLife],
  ['attached claim: create to Ready p50', (f) => f.attachedClaim?.createToReadyMs.p50 ?? NaN],
  ['attached claim: delete to gone p50', (f) => f.attachedClaim?.deleteToGoneMs.p50 ?? NaN],
];

const plane = await ControlPlane.start({ audit: true });
try {
  const figures = await measureBothAgents<ClaimsFigures>({
    ...{ plane, only: values.only },
    config: (agent) => (agent === 'kubelet' ? { syncFrequency: '1m' } : {}),
    measure: (node) =>
      measureClaims(plane, node, {
        sequential: Number(values.sequential),
        burst: Number(values.burst),
        attached: Number(values.attached),
        hangRounds: Number(values['hang-rounds']),
        hang: values.hang,
      }),
  });
  process.stdout.write(withRatios(figures, RATIOS));
} finally {
  await plane.stop();
}
