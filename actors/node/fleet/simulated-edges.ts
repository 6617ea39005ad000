import type { CriClient } from '../../../cri/client/cri-client.ts';
import { nodeNamed } from '../../../machines/protocol/recorded-event.ts';
import type { RecordedEvent } from '../../../machines/protocol/recorded-event.ts';
import { qosCgroups } from '../../../machines/qos/pod-cgroup.ts';
import { ApiEvents } from '../../cluster/events/api-events.ts';
import { NodeObject } from '../../cluster/node-object/node-object.ts';
import type { KubeletFlags } from '../../configure/configuration/kubelet-flags.ts';
import { ALLOCATABLE_ENFORCED } from '../../host/cgroups/node-cgroups.ts';
import { machineClock } from '../../host/time/clock.ts';
import { Cluster, ttlSeconds } from '../cluster.ts';
import { ResourceClaims } from '../../cluster/objects/resource-claims.ts';
import { ClusterObjects } from '../cluster-objects.ts';
import type { ClusterEdge, HostLinks, NodeEdges } from '../edges.ts';
import type { Lifecycle, Part } from '../lifecycle.ts';
import type { NodeGround } from '../node-ground.ts';
import { InlineShards } from './inline-shards.ts';
import { KeptLooks } from './kept-looks.ts';
import type { NodeApi } from './node-api.ts';
import { simulatedEffects } from './simulated-effects.ts';
import type { SimulatedMachine } from './simulated-machine.ts';
import { publishSlices } from './slice-publisher.ts';
import { simulatedPodLogs } from './simulated-pod-logs.ts';

/** What the edges of a simulated node are made from. */
export interface SimulatedEdgesOptions {
  ground: NodeGround & { flags: KubeletFlags };
  machine: SimulatedMachine;
  api: NodeApi;
  life: Lifecycle;
}

const NONE = Promise.reject(new Error('a simulated machine has no users of its own for pods'));
NONE.catch(() => undefined);

/** A node on a machine that is simulated, with an API server that is not. It lives by the clock of its machine; nothing here is of this one. */
export function simulatedEdges({ ground, machine, api, life }: SimulatedEdgesOptions): NodeEdges {
  const { settings, log, rootDir, journals, agent } = ground;
  const { clock } = machine;
  const cri: CriClient = machine.runtime.client;
  const looks = new KeptLooks();
  const claims = new ResourceClaims(api, settings.nodeName);
  life.has('CRI client', 'ways', () => cri.close());
  return {
    ...{ clock, cri },
    shards: (links) =>
      new InlineShards({
        ...{ settings, log, clock, ...links },
        journal: journals === null ? null : { ...journals, maxBytes: journals.shard, agent, log },
        run: (ask) =>
          simulatedEffects(
            { cri, host: machine.host, network: machine.network, settings: { rootDir, log }, now: clock.now },
            ask,
          ),
      }),
    images: () => ({ records: null, disk: () => Promise.resolve(machine.disk()), log }),
    userNamespaces: { get: () => NONE, release: () => undefined },
    devices: machine.devices.edge,
    claims: ground.featureGates.enabled('DynamicResourceAllocation')
      ? machine.drivers.edge({
          health: ground.featureGates.enabled('ResourceHealthStatus'),
          claim: (namespace, name) => claims.get(namespace, name),
        })
      : null,
    volumes: () => [],
    cluster: simulatedCluster(ground, machine, api, life),
    usage: () => machine.usage,
    podLogs: simulatedPodLogs,
    // Nobody switches such a machine off by its button.
    logind: {
      open: () => Promise.reject(new Error('no logind')),
      inhibit: () => Promise.reject(new Error('no logind')),
    },
    host: ({ record }) => [allocatable(record)],
    seen: (observed, take) => take(looks.shared(observed)),
    pages: () => [],
  };

  /** Nobody is kept within anything here; each kubelet tells that pods are. */
  function allocatable(record: HostLinks['record']): Part {
    const object = nodeNamed(settings.nodeName);
    const isEnforced = qosCgroups(settings) !== null;
    return {
      ...{ name: 'node allocatable', phase: 'work', stop: () => undefined },
      start: () => (isEnforced ? record({ object, at: clock.now(), ...ALLOCATABLE_ENFORCED }) : undefined),
    };
  }
}

/** The way to the API server, as `actors/node/real-cluster.ts` makes it, but for the client that is shared. */
function simulatedCluster(
  ground: SimulatedEdgesOptions['ground'],
  machine: SimulatedMachine,
  api: NodeApi,
  life: Lifecycle,
): ClusterEdge {
  const { config, featureGates, flags, settings, log, metrics } = ground;
  const { nodeName } = settings;
  return {
    connect({ cri, events, runtimeState, plegError, shutdownErrors, tell, journalOf, ...rest }) {
      const { conditions, pressure, devices, onHostIPs, onNode, ...links } = rest;
      // What others measure or compare goes by the machine's clock: leases, statuses, events, and all that is tried again.
      const clock = machineClock;
      const { now, steady } = clock;
      const { toReal, ofReal } = machine.clock;
      const told = { record: (event: RecordedEvent) => events.record({ ...event, at: ofReal(event.at) }) };
      const limited = api.limited(config.kubeAPIQPS, config.kubeAPIBurst);
      const sink = new ApiEvents({ api, nodeName, log, now, qps: config.eventRecordQPS, burst: config.eventBurst });
      events.addSink({ record: (event) => sink.record({ ...event, at: toReal(event.at) }) });
      life.has('events', 'work', () => sink.stop());
      const node = new NodeObject({
        ...{ api, config, flags, settings, cri, log, now, steady, events: told, runtimeState, plegError },
        ...{ conditions, pressure, devices, shutdownErrors, onHostIPs, onNode },
        facts: machine.facts,
        journal: journalOf('nodeObject'),
      });
      if (machine.drivers.any) publishSlices(machine.drivers, node, { api, nodeName, log, clock: machine.clock }, life);
      const objects = new ClusterObjects({
        ...{ api: limited, config, log, nodeName, featureGates, events: told, metrics },
        nodeUid: () => node.node()?.metadata?.uid,
        nodeTtlSeconds: () => ttlSeconds(node.node()),
        refresh: (uid) => tell(uid, { type: 'pod.refresh', at: machine.clock.now() }),
      });
      const journal = journalOf('status');
      return new Cluster({ ...links, api, limited, node, objects, nodeName, log, metrics, clock, journal });
    },
  };
}
