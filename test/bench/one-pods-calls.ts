import { setTimeout as sleep } from 'node:timers/promises';
import { PAUSE_IMAGE } from '../../cri/private-containerd/own-images.ts';
import type { SimulatedRuntime } from '../../cri/sim/simulated-runtime.ts';
import type { Pod } from '../cluster/support/api-objects.ts';
import type { ClusterNode } from '../cluster/support/cluster-node.ts';
import type { ControlPlane } from '../cluster/support/control-plane.ts';
import { waitFor } from '../tools/wait-for.ts';
import { AuditCounter, callName } from './cluster-audit.ts';
import { now } from './figures.ts';

const PODS = '/api/v1/namespaces/default/pods';
/** Events are told late, and a runtime is cleaned up after the pod is gone, ms. */
const AFTERMATH_MS = 5_000;

/**
 * Every call of one pod's life in its order, ms after its creation: to the runtime (what it tells of lists and status while the pod lives,
 * too) and to the API server. The node's own lease and object are left out.
 */
export async function onePodsCalls(plane: ControlPlane, node: ClusterNode, sim: SimulatedRuntime): Promise<string[]> {
  const name = `${node.name}-one`;
  const audit = new AuditCounter(plane.auditLog, `system:node:${node.name}`);
  const from = now();
  await plane.api.post(PODS, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      nodeName: node.name,
      terminationGracePeriodSeconds: 1,
      tolerations: [{ operator: 'Exists' }],
      containers: [{ name: 'c', image: PAUSE_IMAGE, imagePullPolicy: 'IfNotPresent' }],
    },
  });
  const pod = () => plane.api.find<Pod>(`${PODS}/${name}`);
  await waitFor('the pod to be Ready', async () =>
    (await pod())?.status?.conditions?.some((c) => c.type === 'Ready' && c.status === 'True') === true
      ? true
      : undefined,
  );
  const ready = now();
  await plane.api.delete(`${PODS}/${name}`);
  await waitFor('the pod to be gone', async () => ((await pod()) === undefined ? true : undefined));
  const gone = now();
  await sleep(AFTERMATH_MS);
  const calls: { at: number; text: string }[] = [
    { at: ready, text: '-- Ready; DELETE by the client' },
    { at: gone, text: '-- gone' },
  ];
  for (const { at, rpc, container, pod: about, code } of sim.state.calls.recent)
    if (at >= from && (about === '' || about.endsWith(`/${name}`)))
      calls.push({
        at,
        text: `runtime ${rpc}${about === '' ? '' : ` of the ${container === '' ? 'pod' : 'container'}`}${code === 0 ? '' : ` (code ${code})`}`,
      });
  for (const line of audit.lines()) {
    const text = callName(line);
    if (/ (nodes|leases|csinodes)\b/.test(text)) continue;
    calls.push({
      at: Date.parse(line.requestReceivedTimestamp),
      text: `API ${text} (${line.responseStatus?.code ?? '?'})`,
    });
  }
  return calls
    .sort((a, b) => a.at - b.at)
    .map(({ at, text }) => `${String(Math.round(at - from)).padStart(6)} ${text}`);
}
