import type { Rejection } from '../../../machines/admission/rejection.ts';
import type { DeviceMessage, DeviceOrder } from '../../../machines/devices/device-messages.ts';
import type { Alignment } from '../../../machines/devices/device-state.ts';
import { deviceSteps, pastNeed } from '../../../machines/devices/device-steps.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { Hold } from '../../../machines/protocol/hold.ts';
import type { WithoutTime } from '../../../machines/protocol/without-time.ts';
import type { Affinities } from '../../../machines/resource-managers/admit-resources.ts';
import type { ResourceHints, TopologyHint } from '../../../machines/resource-managers/topology/hints.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import type { Clock } from '../../host/time/clock.ts';
import type { Metrics } from '../../record/metrics/metrics-registry.ts';
import type { DevicePlugins } from './device-plugins.ts';

/** What is asked of the node while a pod is given devices. */
export interface GrantOptions {
  /** Pods that may hold devices: all that were taken and have not ended; null while not all sources have spoken. */
  active: () => string[] | null;
  /** Names of the pod's containers that run, as the runtime tells. */
  running: (uid: string) => Promise<string[]>;
  /** What devices of a pod are aligned by; null: nothing is. */
  alignment: (pod: Pod) => Alignment | null;
  /** Where a container (with '' the pod) is to be, when its devices could be had from there. */
  affinity: (
    pod: Pod,
    asked: { container: string; hints: ResourceHints; fixed: Affinities },
  ) => TopologyHint | Rejection;
  /** How long pods wait for a plugin that was there before, ms; 0: not at all, as with kubelet. */
  patienceMs?: number | undefined;
  /** Gate DRAExtendedResource. */
  extended: boolean;
  clock: Clock;
  metrics: Pick<Metrics, 'deviceAllocations'>;
}

/** By whom devices are given. */
export interface Granting {
  options: GrantOptions;
  plugins: DevicePlugins;
  /** Has the machine take a message; its orders are to be carried out. */
  take: (message: WithoutTime<DeviceMessage>) => DeviceOrder[];
  /** Orders that no answer follows. */
  carryOut: (order: DeviceOrder) => Promise<void>;
}

/** What came of a pod's wish for devices. */
export interface GrantAnswer {
  /** Null: it has all; else why not, in kubelet's words. */
  problem: string | null;
  /** The reason, when it was the topology manager that refused. */
  reason?: string;
  /** Where it found that containers are to be; what else is given away goes by it. */
  affinities: Affinities;
  /** It is to ask again when the plugin has come back, or then; `early`: not all sources had spoken when it asked. */
  waits?: Hold & { early: boolean };
}

/**
 * Gives a pod its devices: the machine decides, plugins and the topology manager are asked what it orders until it has an answer (kubelet: allocateContainerResources).
 * Never begun before that of the pod before is over. Rejects when it could not be written down.
 */
export async function grantDevices(
  { options, plugins, take, carryOut }: Granting,
  pod: Pod,
  only: string | undefined,
  early: boolean,
): Promise<GrantAnswer> {
  const { active, running, metrics, clock, patienceMs = 0 } = options;
  const uid = pod.metadata?.uid ?? '';
  const alive = active();
  const runs = alive === null || early ? pastNeed(pod, await running(uid)) : [];
  // A container of a pod that was admitted before has devices wherever they are.
  const alignment = only === undefined ? options.alignment(pod) : null;
  const affinities: Record<string, TopologyHint> = {};
  let reason: string | undefined;
  let orders = take({
    type: 'pod.asks',
    ...{ uid, steps: deviceSteps(pod, only, options.extended), active: alive, running: runs },
    ...(alignment && { alignment }),
    ...(only === undefined && patienceMs > 0 && { steady: clock.steady() }),
  });
  for (;;) {
    let answer: WithoutTime<DeviceMessage> | null = null;
    for (const order of orders) {
      if (order.type === 'pod.waits') {
        const until = clock.now() + Math.max(0, order.until - clock.steady());
        const message = `device plugin of ${order.resource} has not come back`;
        return { problem: null, affinities, waits: { message, until, early: early || alive === null } };
      }
      if (order.type === 'pod.granted') return { problem: null, affinities };
      if (order.type === 'pod.refused')
        return { problem: order.message, affinities, ...(reason !== undefined && { reason }) };
      if (order.type === 'affinity.ask') {
        const { container, hints } = order;
        const found = options.affinity(pod, { container, hints, fixed: affinities });
        if ('admit' in found) {
          ({ reason } = found);
          answer = { type: 'affinity.refused', message: found.message };
        } else {
          affinities[container] = found;
          answer = { type: 'affinity.told', nodes: found.nodes };
        }
        continue;
      }
      if (order.type === 'plugin.prefer') answer = await preferred(plugins, order);
      else if (order.type === 'plugin.allocate') {
        const began = performance.now();
        answer = await allocated(plugins, order);
        metrics.deviceAllocations.observe({ resource_name: order.resource }, (performance.now() - began) / 1000);
      } else await carryOut(order);
    }
    if (answer === null) return { problem: 'the device manager gave no answer', affinities };
    orders = take(answer);
  }
}

async function preferred(
  plugins: DevicePlugins,
  { resource, ...ask }: Extract<DeviceOrder, { type: 'plugin.prefer' }>,
): Promise<WithoutTime<DeviceMessage>> {
  try {
    const { available, mustInclude, size } = ask;
    return { type: 'plugin.prefers', ids: await plugins.prefer(resource, { available, mustInclude, size }) };
  } catch (error) {
    return { type: 'plugin.failed', call: 'GetPreferredAllocation', message: messageOf(error) };
  }
}

async function allocated(
  plugins: DevicePlugins,
  { resource, ids }: Extract<DeviceOrder, { type: 'plugin.allocate' }>,
): Promise<WithoutTime<DeviceMessage>> {
  try {
    return { type: 'plugin.gave', response: await plugins.allocate(resource, ids) };
  } catch (error) {
    return { type: 'plugin.failed', call: 'Allocate', message: messageOf(error) };
  }
}
