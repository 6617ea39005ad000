import { lookEach } from '../host/time/clock.ts';
import type { Clock, Timer } from '../host/time/clock.ts';
import type { Supervisor } from '../pods/supervisor/supervisor.ts';

/** How often due pods are looked for, ms (kubelet syncLoop's sync ticker). */
const TICK_MS = 1_000;
/** The loop may be held up for so long, ms, or for two sync periods (kubelet: SyncLoopHealthCheck). */
const LATE_MS = 300_000;

/** What the loop works with. */
export interface ResyncOptions {
  supervisor: Supervisor;
  /** `syncFrequency`, ms. */
  periodMs: number;
  clock: Clock;
  /** The runtime does not let pods be worked on: it is down, not ready, or not seen (kubelet: runtimeErrors). */
  heldUp: () => boolean;
  /** It is a pod's turn. */
  synced: (uid: string) => void;
}

/**
 * Sends each pod a `pod.sync` once in a sync period, at a time of its own, so that they do not all come at once. Its rounds are those by
 * which health pages and the watchdog know that the node moves.
 */
export class Resync {
  private readonly options: ResyncOptions;
  private readonly supervisor: Supervisor;
  private readonly periodMs: number;
  private readonly clock: Clock;
  private readonly due = new Map<string, number>();
  private timer: Timer | undefined;
  /** The last round that nothing held up, on the clock of looks; null before the first. */
  private movedAt: number | null = null;

  constructor(options: ResyncOptions) {
    this.options = options;
    this.supervisor = options.supervisor;
    this.periodMs = options.periodMs;
    this.clock = options.clock;
  }

  start(): void {
    this.timer = lookEach(this.clock, TICK_MS, () => this.tick());
  }

  stop(): void {
    this.timer?.cancel();
  }

  /** When the next pod is due, ms of the steady clock; Infinity when none is. */
  nextDue(): number {
    return Math.min(Infinity, ...this.due.values());
  }

  /**
   * What is wrong when the loop has been held up for too long, in kubelet's words; else null. What never moved did not stop: a runtime that
   * does not answer yet is no reason to end the agent.
   */
  late(): string | null {
    if (this.movedAt === null) return null;
    const limit = Math.max(2 * this.periodMs, LATE_MS);
    return this.clock.looking() - this.movedAt > limit ? 'sync Loop took longer than expected' : null;
  }

  private tick(): void {
    if (!this.options.heldUp()) this.movedAt = this.clock.looking();
    // When a pod is due is a span: whoever sets the machine's clock back by an hour would hold all of them up for an hour.
    const steady = this.clock.steady();
    const living = this.supervisor.started();
    const uids = new Set(living.map((p) => p.uid));
    for (const uid of this.due.keys()) if (!uids.has(uid)) this.due.delete(uid);
    for (const { uid } of living) {
      const next = this.due.get(uid);
      // The jitter (up to half a period, as kubelet's workerResyncIntervalJitterFactor) spreads the pods.
      if (next === undefined) this.due.set(uid, steady + this.periodMs * (1 + Math.random() / 2));
      else if (steady >= next) {
        this.due.set(uid, steady + this.periodMs * (1 + Math.random() / 2));
        this.supervisor.tell(uid, { type: 'pod.sync', at: this.clock.now() });
        this.options.synced(uid);
      }
    }
  }
}
