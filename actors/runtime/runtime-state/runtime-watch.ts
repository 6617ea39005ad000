import type { Logger } from 'pino';
import type { CriClient } from '../../../cri/client/cri-client.ts';
import { machineClock } from '../../host/time/clock.ts';
import type { Clock, Timer } from '../../host/time/clock.ts';
import { runtimeHealthOf } from '../../../machines/node-object/ready-message.ts';
import type { RuntimeHealth } from '../../../machines/node-object/ready-message.ts';
import { messageOf } from '../../../machines/values/message-of.ts';

/** Time between two looks while all is well, ms (kubelet: 5 s), so that the node's Ready follows within a second. */
const PERIOD_MS = 1_000;
/** Time between two looks while something is wrong, ms: pods wait for the end of it. */
const ALARMED_PERIOD_MS = 500;
/** A look that takes longer counts as "no answer", ms. */
const TIMEOUT_MS = 5_000;
/** The runtime is down when it was not ready for so long, ms (kubelet's `maxWaitForContainerRuntime`). */
const DOWN_MS = 30_000;

/** What the runtime says of itself (CRI `Status`). */
export interface RuntimeState extends RuntimeHealth {
  /** Why it is not ready, for the log; '' when all is well. */
  problem: string;
}

/** What the watch is made from. */
export interface RuntimeWatchOptions {
  cri: CriClient;
  /** The machine's, when it is not given. */
  clock?: Clock;
  log: Logger;
  onChange: (state: RuntimeState) => void;
}

/** Asks the runtime's Status again and again, and tells changes. */
export class RuntimeWatch {
  private readonly options: RuntimeWatchOptions;
  private readonly clock: Clock;
  private timer: Timer | undefined;
  private stopped = false;
  private looking = false;
  /** When it said last that it is ready, on the clock that nobody sets. */
  private readyAt = -Infinity;
  state: RuntimeState = {
    ...runtimeHealthOf({ state: 'unasked' }),
    problem: 'container runtime status check may not have completed yet',
  };

  constructor(options: RuntimeWatchOptions) {
    this.options = options;
    this.clock = options.clock ?? machineClock;
  }

  /** First look now; resolves when it is answered. */
  async start(): Promise<void> {
    await this.look();
    this.schedule();
  }

  stop(): void {
    this.stopped = true;
    this.timer?.cancel();
  }

  /** Somebody's call failed: look now rather than later. */
  suspect(): void {
    if (!this.state.runtimeReady || this.looking) return;
    this.timer?.cancel();
    void this.look().then(() => this.schedule());
  }

  private schedule(): void {
    if (this.stopped) return;
    this.timer?.cancel();
    const well = this.state.runtimeReady && this.state.networkReady;
    const again = () => void this.look().then(() => this.schedule());
    this.timer = this.clock.lookAfter(well ? PERIOD_MS : ALARMED_PERIOD_MS, again);
  }

  private async look(): Promise<void> {
    const before = this.state;
    this.looking = true;
    this.state = await this.ask();
    this.looking = false;
    if (this.stopped) return;
    const { runtimeReady, networkReady, quiet } = this.state;
    if (before.runtimeReady === runtimeReady && before.networkReady === networkReady && before.quiet === quiet) return;
    this.options.log.info({ runtimeReady, networkReady, problem: this.state.problem }, 'Runtime state changed');
    try {
      this.options.onChange(this.state);
    } catch (err) {
      // Who hears of it may be any pod; the looks go on.
      this.options.log.error({ err }, 'A change of the runtime state could not be told');
    }
  }

  private async ask(): Promise<RuntimeState> {
    try {
      const { status } = await this.options.cri.runtime.status({}, { timeoutMs: TIMEOUT_MS, retryMs: 0 });
      const conditions = status?.conditions ?? [];
      const problems = conditions
        .filter((c) => !c.status && (c.type === 'RuntimeReady' || c.type === 'NetworkReady'))
        .map((c) => `${c.reason}: ${c.message}`);
      const health = runtimeHealthOf({ state: 'answered', conditions });
      if (health.runtimeReady) this.readyAt = this.clock.steady();
      return { ...health, problem: problems.join('; ') };
    } catch (error) {
      if (this.clock.steady() - this.readyAt < DOWN_MS) {
        const health = runtimeHealthOf({ state: 'quiet', before: this.state });
        return { ...health, problem: `container runtime does not answer: ${messageOf(error)}` };
      }
      return { ...runtimeHealthOf({ state: 'silent' }), problem: `container runtime is down: ${messageOf(error)}` };
    }
  }
}
