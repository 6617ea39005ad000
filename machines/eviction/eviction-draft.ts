import type { EvictionContext, EvictionOrder, EvictionStateName } from './eviction-context.ts';

/** A context on its way through a step, and the orders so far. */
export interface Draft {
  /** Ms since the epoch. */
  readonly at: number;
  context: EvictionContext;
  readonly orders: EvictionOrder[];
}

/** The state in which nothing is under way. */
export function watching({ context }: Draft): EvictionStateName {
  return context.conditions.length > 0 ? 'watching.pressed' : 'watching.calm';
}

/** Has the host log a line. */
export function log({ orders }: Draft, text: string, about: Record<string, string>): void {
  orders.push({ type: 'log', text, about });
}
