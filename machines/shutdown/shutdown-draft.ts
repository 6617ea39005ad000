import type { ShutdownContext, ShutdownOrder } from './shutdown-context.ts';

/** A context on its way through a step, and the orders so far. */
export interface ShutdownDraft {
  readonly at: number;
  context: ShutdownContext;
  readonly orders: ShutdownOrder[];
}

/** A line for the log. */
export function say(
  { orders }: ShutdownDraft,
  text: string,
  about: Record<string, string> = {},
  level: 'info' | 'error' = 'info',
): void {
  orders.push({ type: 'log', level, text, about });
}
