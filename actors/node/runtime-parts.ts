import { trackedPod } from '../../machines/supervisor/pod-table.ts';
import { agentVersion } from '../configure/configuration/version.ts';
import type { ImagePuller } from '../runtime/images/image-puller.ts';
import { listenToEvents } from '../runtime/pleg/evented-pleg.ts';
import { Pleg } from '../runtime/pleg/pleg.ts';
import { EVENTED_RATE, GENERIC_RATE } from '../runtime/pleg/relist-rate.ts';
import type { NodeGround } from './node-ground.ts';
import { nodeImagePuller } from './node-image-puller.ts';
import type { NodeParts } from './node-parts.ts';
import { NodeState } from './node-state.ts';

/** The observer of the runtime's pods: tells the supervisor what it sees, and the runtime's watch when it sees nothing. */
export function plegOf({ cri, log, metrics, now }: NodeGround, parts: NodeParts): Pleg {
  return new Pleg({
    cri,
    rate: GENERIC_RATE,
    log,
    metrics,
    now,
    onPod: (observed) => parts.supervisor.take({ type: 'seen', at: now(), observed }),
    onFailure: () => parts.runtime.suspect(),
    onRelist: (pods) => (parts.listed = pods),
  });
}

/** With gate EventedPLEG: follows the runtime's events until the signal; resolves when it has ended. */
export function followEvents(
  { cri, log, metrics, now, featureGates }: NodeGround,
  { pleg, runtime }: NodeParts,
  signal: AbortSignal,
): Promise<void> {
  if (!featureGates.enabled('EventedPLEG')) return Promise.resolve();
  return listenToEvents(
    {
      cri,
      log,
      metrics,
      now,
      onEvent: (uid) => (uid === null ? void pleg.relist() : pleg.observe(uid)),
      onConnected: (connected) => {
        pleg.setRate(connected ? EVENTED_RATE : GENERIC_RATE);
        if (!connected) runtime.suspect();
      },
    },
    signal,
  );
}

/** The node's image puller, with the pods and their pull secrets as sources of logins. */
export function pullerOf(ground: NodeGround, parts: NodeParts): ImagePuller {
  const { options, cri, config, featureGates, metrics, log, now, journals } = ground;
  return nodeImagePuller({
    ...{ cri, config, featureGates, flags: options.flags, metrics, log, events: parts.events, now },
    podOf: (uid) => trackedPod(parts.supervisor.context.pods, uid)?.pod,
    pullSecret: async (namespace, name) => (await parts.cluster?.objects.get('secret', namespace, name)) ?? null,
    tokens: () => parts.cluster?.pluginTokens,
    ...(journals !== null && {
      journal: { dir: journals.dir, agent: agentVersion(), maxBytes: journals.pulls, log },
    }),
  });
}

/** The node's own machine: its orders go to the API server, the observer, and all pods. */
export function nodeStateOf({ options, settings, log, now, journals }: NodeGround, parts: NodeParts): NodeState {
  const { nodeName } = settings;
  const agent = agentVersion();
  return new NodeState({
    nodeName,
    agent,
    cluster: Boolean(options.kubeconfig),
    log,
    now,
    facts: () => ({
      runtime: parts.runtime.state,
      plegError: parts.pleg.unhealthy(),
      sourcesReady: parts.supervisor.context.sourcesReady,
      registered: parts.cluster !== null && parts.cluster.node.node() !== null,
    }),
    carryOut: (order) => {
      if (order.type === 'status.post') parts.cluster?.node.changed();
      else if (order.type === 'pods.observe') parts.pleg.observeAll();
      else {
        const { runtimeReady, networkReady } = order;
        parts.supervisor.broadcast({ type: 'runtime.state', at: now(), runtimeReady, networkReady });
      }
    },
    ...(journals !== null && { journal: { dir: journals.dir, agent, nodeName, maxBytes: journals.node, log } }),
  });
}
