import type { KubeletFlags } from '../configure/configuration/kubelet-flags.ts';
import { agentVersion } from '../configure/configuration/version.ts';
import { createApiClient } from '../cluster/api/create-api-client.ts';
import type { ApiClient } from '../cluster/api/api-client.ts';
import type { Kubeconfig } from '../cluster/api/kubeconfig.ts';
import { ApiEvents } from '../cluster/events/api-events.ts';
import { NodeObject } from '../cluster/node-object/node-object.ts';
import { NodeStartup } from '../record/metrics/node-startup.ts';
import { restClientHooks } from './api-hooks.ts';
import { Cluster, ttlSeconds } from './cluster.ts';
import { ClusterObjects } from './cluster-objects.ts';
import type { ClusterEdge } from './edges.ts';
import { requestSpans } from '../record/tracing/request-spans.ts';
import type { Spans } from '../record/tracing/spans.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { NodeGround } from './node-ground.ts';

/** The way to a real API server. Only a node that has one loads this file. */
export function realCluster(
  ground: NodeGround,
  flags: KubeletFlags,
  kubeconfig: Kubeconfig,
  life: Lifecycle,
  spans: Spans | null,
): ClusterEdge & { api: ApiClient } {
  const { config, featureGates, settings, log, metrics } = ground;
  const { nodeName } = settings;
  const api = createApiClient({
    kubeconfig,
    userAgent: `kubelet/${agentVersion()} (linux) actorlet`,
    log,
    ...restClientHooks(metrics),
    ...(spans !== null && { trace: requestSpans(spans) }),
  });
  life.has('API client', 'ways', () => api.close());
  return {
    api,
    connect({ cri, clock, events, runtimeState, plegError, shutdownErrors, tell, journalOf, ...rest }) {
      const { conditions, pressure, devices, volumesInUse, onHostIPs, onNode, ...links } = rest;
      const { now, steady } = clock;
      const limited = api.limited(config.kubeAPIQPS, config.kubeAPIBurst);
      const sink = new ApiEvents({
        ...{ api, nodeName, log, now },
        qps: config.eventRecordQPS,
        burst: config.eventBurst,
      });
      events.addSink(sink);
      life.has('events', 'work', () => sink.stop());
      const node = new NodeObject({
        ...{ api, config, flags, settings, cri, log, now, steady, events, runtimeState, plegError },
        ...{ conditions, pressure, devices, volumesInUse, shutdownErrors, onHostIPs, onNode },
        startup: new NodeStartup(metrics, now),
        journal: journalOf('nodeObject'),
      });
      const objects = new ClusterObjects({
        ...{ api: limited, nodeName, config, log, featureGates, events, metrics },
        nodeUid: () => node.node()?.metadata?.uid,
        nodeTtlSeconds: () => ttlSeconds(node.node()),
        refresh: (uid) => tell(uid, { type: 'pod.refresh', at: now() }),
      });
      const journal = journalOf('status');
      return new Cluster({ ...links, api, limited, node, objects, nodeName, log, metrics, clock, journal });
    },
  };
}
