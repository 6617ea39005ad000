import type { EvictionOrder } from '../../../machines/eviction/eviction-context.ts';
import { EVICTED } from '../../../machines/eviction/eviction-words.ts';
import { nodeNamed, podObject } from '../../../machines/protocol/recorded-event.ts';
import type { EvictionGround } from './eviction-ground.ts';

/** Orders that an answer follows. */
export type AskingOrder = Extract<EvictionOrder, { type: 'node.reclaim' | 'pods.measure' }>;

/** Carries out an order that nothing follows; `at`: ms since the epoch. */
export function carryOut(
  { events, log, metrics, settings, tell, changed }: EvictionGround,
  order: Exclude<EvictionOrder, AskingOrder>,
  at: number,
): void {
  switch (order.type) {
    case 'status.post':
      changed();
      break;
    case 'node.event': {
      const { reason, message } = order;
      const object = nodeNamed(settings.nodeName);
      events.record({ object, at, type: 'Warning', reason, message });
      break;
    }
    case 'stats.age':
      metrics.evictionStatsAge.observe({ eviction_signal: order.signal }, order.seconds);
      break;
    case 'pod.evict': {
      const { uid, signal, message, annotations, graceSeconds, disrupts } = order;
      const told = Object.keys(annotations).length > 0 && { annotations };
      events.record({ object: podObject({ metadata: order }), at, type: 'Warning', reason: EVICTED, message, ...told });
      log.info(
        { pod: `${order.namespace}/${order.name}`, podUID: uid, signal, message },
        'Eviction manager: evicting pod',
      );
      metrics.evictions.inc({ eviction_signal: signal });
      const end = { reason: EVICTED, message, gracePeriodSeconds: graceSeconds };
      tell(uid, { type: 'pod.terminate', at, order: { ...end, ...(disrupts && { disruption: true }) } });
      break;
    }
    case 'pod.event':
      events.record({
        object: podObject({ metadata: order }),
        at,
        type: 'Warning',
        reason: order.reason,
        message: order.message,
      });
      break;
    case 'log':
      log.info(order.about, order.text);
      break;
  }
}
