import { trackedPod } from '../../machines/supervisor/pod-table.ts';
import { AdmissionGate } from '../resources/admission/admission-gate.ts';
import type { Cluster } from './cluster.ts';
import type { NodeGround } from './node-ground.ts';
import type { NodeParts } from './node-parts.ts';
import { staticLife } from './static-life.ts';

/** All that needs an API server; null on a standalone node. */
export function clusterOf(ground: NodeGround, parts: NodeParts): Cluster | null {
  const { options, clusterClass, config, settings, cri, log, metrics, now } = ground;
  const { kubeconfig, flags } = options;
  if (!kubeconfig || clusterClass === null) return null;
  return new clusterClass({
    ...{ kubeconfig, config, flags, settings, cri, log, metrics, events: parts.events, now },
    runtimeState: () => parts.runtime.state,
    plegError: () => parts.pleg.unhealthy(),
    onPods: (pods) => parts.sources?.setPods('api', pods),
    lifeOf: (uid) => staticLife(trackedPod(parts.supervisor.context.pods, uid), parts.store.reportOf(uid)),
    tell: (uid, message) => parts.supervisor.tell(uid, message),
  });
}

/** Judges pods by the node's object. */
export function admissionOf({ config, settings }: NodeGround, cluster: Cluster | null): AdmissionGate | null {
  if (cluster === null) return null;
  return new AdmissionGate({
    config,
    settings,
    node: () => cluster.node.node(),
    freshNode: () => cluster.freshNode(),
  });
}
