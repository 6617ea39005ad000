import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { SupervisorOrder } from '../../../machines/supervisor/supervisor-context.ts';
import type { SpecReference } from './spec-book.ts';

/** The supervisor's orders as a `sup.step` record holds them: pods are references. */
export function ordersAsWritten(orders: readonly SupervisorOrder[], refer: (pod: Pod) => SpecReference): unknown[] {
  return orders.map((order) => {
    if (order.type === 'start') return { ...order, pod: refer(order.pod) };
    if (order.type !== 'tell' || !('pod' in order.message)) return order;
    return { ...order, message: { ...order.message, pod: refer(order.message.pod) } };
  });
}
