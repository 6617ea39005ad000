import { initialTransition } from 'xstate';
import type { AnyMachineSnapshot } from 'xstate';
import { resolve, statePath, step } from '../../../machines/machine-step/step.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type {
  SupervisorContext,
  SupervisorMessage,
  SupervisorOrder,
} from '../../../machines/supervisor/supervisor-context.ts';
import type { TrackedPod } from '../../../machines/supervisor/tracked-pod.ts';
import { NO_TRACKED_PODS, podTable } from '../../../machines/supervisor/pod-table.ts';
import { supervisorMachine } from '../../../machines/supervisor/supervisor-machine.ts';
import type { Judged } from './difference.ts';
import { THREW } from './difference.ts';
import { specIdOf } from './spec-book.ts';
import type { SpecReference } from './spec-book.ts';
import { ordersAsWritten } from './supervisor-records.ts';

/** Does a step; one that throws changes nothing, as in the agent. */
export function judge(message: unknown, run: () => Omit<Judged, 'message'>): Judged {
  try {
    return { message, ...run() };
  } catch (error) {
    return { message, state: `${THREW} ${error instanceof Error ? error.message : String(error)}`, outputs: [] };
  }
}

/** Steps the supervisor over its recorded messages. `pod` finds a spec by its reference. */
export class SupervisorReplay {
  private readonly pod: (reference: SpecReference) => Pod;
  private snapshot: AnyMachineSnapshot | null = null;
  /** The pods of a segment's beginning, until its first message. */
  private restored: TrackedPod[] | null = null;
  /** Messages without a recorded outcome so far. */
  readonly open = new Map<number, Judged>();
  messages = 0;

  constructor(pod: (reference: SpecReference) => Pod) {
    this.pod = pod;
  }

  /** A segment begins with the supervisor's place, without its pods. */
  begin(value: unknown, context: { shards: number }): void {
    const born = initialTransition(supervisorMachine, { shards: context.shards })[0] as AnyMachineSnapshot;
    this.restored = [];
    this.place(value, { ...(born.context as SupervisorContext), ...context, pods: NO_TRACKED_PODS });
  }

  /** One tracked pod of a segment's beginning. */
  restore(tracked: Record<string, unknown>): void {
    if (this.restored === null) return;
    const comeback = tracked['comeback'] as SpecReference | null;
    const whole = {
      ...tracked,
      pod: this.pod(tracked['pod'] as SpecReference),
      comeback: comeback === null ? null : this.pod(comeback),
    } as TrackedPod;
    this.restored.push(whole);
  }

  /** Handles a message; false when no segment has begun. */
  take(n: number, raw: Record<string, unknown>): boolean {
    if (this.snapshot === null) return false;
    if (this.restored !== null) {
      const context = this.snapshot.context as SupervisorContext;
      this.place(this.snapshot.value, { ...context, pods: podTable(this.restored) });
      this.restored = null;
    }
    const message = this.resolved(raw);
    const from = this.snapshot;
    const judged = judge(raw, () => {
      const { snapshot, effects } = step<AnyMachineSnapshot, SupervisorOrder>(supervisorMachine, from, message);
      this.snapshot = snapshot;
      const orders = ordersAsWritten(effects, (pod) => ({ $spec: specIdOf(pod) }));
      return { state: statePath(snapshot.value), outputs: orders.map((order) => JSON.stringify(order)) };
    });
    this.messages++;
    this.open.set(n, judged);
    return true;
  }

  private resolved(raw: Record<string, unknown>): SupervisorMessage {
    if (raw['type'] !== 'config') return raw as unknown as SupervisorMessage;
    const update = raw['update'] as { pods: SpecReference[] };
    return { ...raw, update: { ...update, pods: update.pods.map((p) => this.pod(p)) } } as unknown as SupervisorMessage;
  }

  private place(value: unknown, context: SupervisorContext): void {
    this.snapshot = resolve(supervisorMachine, { value, context });
  }
}
