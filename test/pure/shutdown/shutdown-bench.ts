import { bornSnapshot } from '../../../machines/machine-step/step.ts';
import type { ShutdownContext, ShutdownMessage, ShutdownOrder } from '../../../machines/shutdown/shutdown-context.ts';
import type { ShutdownGroup, ShutdownPod } from '../../../machines/shutdown/shutdown-groups.ts';
import { shutdownMachine } from '../../../machines/shutdown/shutdown-machine.ts';
import { shutdown } from '../../../actors/record/machines/shutdown.ts';
import type { ShutdownSnapshot } from '../../../actors/record/machines/shutdown.ts';

type Untimed<M> = M extends { at: number } ? Omit<M, 'at'> : never;

/** Two groups: 20 s for pods, 10 s for critical ones. */
export const TWO: readonly ShutdownGroup[] = [
  { priority: 0, seconds: 20 },
  { priority: 2_000_000_000, seconds: 10 },
];

export function pod(name: string, priority = 0, graceSeconds?: number): ShutdownPod {
  return { uid: name, namespace: 'default', name, priority, ...(graceSeconds !== undefined && { graceSeconds }) };
}

/** A shutdown machine and what it ordered, without lines for the log. Time is the test's. */
export class ShutdownBench {
  now = 1_000_000;
  private snapshot: ShutdownSnapshot = bornSnapshot(shutdownMachine, undefined) as ShutdownSnapshot;
  readonly lines: string[] = [];

  get context(): ShutdownContext {
    return this.snapshot.context;
  }

  get state(): string {
    return shutdown.stateName(this.snapshot);
  }

  /** Sends a message after so many ms; returns what was ordered. */
  send(message: Untimed<ShutdownMessage>, afterMs = 0): ShutdownOrder[] {
    this.now += afterMs;
    const { state, outputs } = shutdown.step(this.snapshot, { ...message, at: this.now } as ShutdownMessage);
    this.snapshot = state;
    this.lines.push(...outputs.flatMap((order) => (order.type === 'log' ? [order.text] : [])));
    return outputs.filter(({ type }) => type !== 'log');
  }

  /** Types of what is ordered. */
  types(message: Untimed<ShutdownMessage>, afterMs = 0): string[] {
    return this.send(message, afterMs).map(({ type }) => type);
  }

  /** Goes on to the deadline. */
  due(): ShutdownOrder[] {
    const { deadline } = this.context;
    if (deadline === null) throw new Error('the machine waits for nothing');
    this.now = Math.max(this.now, deadline);
    return this.send({ type: 'timer' });
  }

  /** A machine that holds the lock. */
  static guarding(groups: readonly ShutdownGroup[] = TWO, keepsTimes = true): ShutdownBench {
    const bench = new ShutdownBench();
    bench.send({ type: 'shutdown.start', settings: { groups: [...groups], keepsTimes } });
    bench.send({ type: 'shutdown.connected', delayMs: 60_000, preparing: null });
    bench.send({ type: 'shutdown.locked' });
    return bench;
  }
}
