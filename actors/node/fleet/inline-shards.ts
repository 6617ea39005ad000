import type { Logger } from 'pino';
import type { NodeSettings } from '../../../machines/protocol/node-settings.ts';
import type { Effect } from '../../../machines/protocol/effects.ts';
import type { PodMessage } from '../../../machines/protocol/messages.ts';
import type { Ask } from '../../../machines/protocol/ask.ts';
import type { ShardHost, ShardLinks } from '../edges.ts';
import type { JournalSettings } from '../../record/journal/machine-journal.ts';
import { askMain } from '../../pods/shard/ask-main.ts';
import type { Outcome } from '../../pods/shard/effect-runner.ts';
import type { FleetClock } from './fleet-clock.ts';
import { podOfFleet, statusOfReal } from './real-times.ts';
import { Shard } from '../../pods/shard/shard.ts';
import type { FromShard, ToShard } from '../../pods/shard/shard-protocol.ts';

/** What {@link InlineShards} is made from. */
export interface InlineShardsOptions extends ShardLinks {
  /** Null when nothing is journaled. */
  journal: JournalSettings | null;
  settings: NodeSettings;
  log: Logger;
  /** That of the pods: nothing that goes out to others has its times. */
  clock: FleetClock;
  /** Makes what carries out the effects of the pods; `ask` reaches the node's caches of objects. */
  run: (ask: Ask) => (effect: Effect, podUid: string) => Promise<Outcome>;
}

/** The one shard of a node whose pods live on the thread of the node itself, and share all they have with it. */
export class InlineShards implements ShardHost {
  private readonly options: InlineShardsOptions;
  private readonly asker: ReturnType<typeof askMain>;
  private readonly shard: Shard;
  private waiting: FromShard[] = [];
  private stopped = false;

  constructor(options: InlineShardsOptions) {
    const { settings, log, clock, run, journal } = options;
    this.options = options;
    this.asker = askMain((question) => this.send(question));
    this.shard = new Shard({
      ...{ settings, log, now: clock.now, after: clock.after },
      journal: journal === null ? null : { ...journal, shard: 0, settings },
      send: (message) => this.send(message.t === 'report' ? realReport(message, clock) : message),
      run: run(this.asker.ask),
    });
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  post(_shard: number, message: ToShard): void {
    if (this.stopped) return;
    switch (message.t) {
      case 'pod':
        this.shard.post(message.uid, withFleetTimes(message.message, this.options.clock));
        break;
      case 'result': {
        const { uid, key, effect, result, error } = message;
        const base = { at: this.options.clock.now(), effect, key };
        if (error !== undefined) this.shard.post(uid, { type: 'effect.failed', ...base, error });
        else if (result !== undefined) this.shard.post(uid, { type: 'effect.done', ...base, result });
        break;
      }
      case 'answer':
        this.asker.answered(message);
        break;
      case 'verbosity':
      case 'stop':
        // For threads.
        break;
    }
  }

  /** A thread that does not move tells nobody. */
  unhealthy(): null {
    return null;
  }

  setVerbosity(): void {
    // All nodes of the process log as it does.
  }

  stop(): Promise<void> {
    this.stopped = true;
    this.shard.close();
    return Promise.resolve();
  }

  /** As over a port: never within the step of the machine that speaks. */
  private send(message: FromShard): void {
    this.waiting.push(message);
    if (this.waiting.length > 1) return;
    setImmediate(() => {
      const told = this.waiting;
      this.waiting = [];
      for (const each of told) if (!this.stopped) this.options.onMessage(0, each);
    });
  }
}

function realReport(message: Extract<FromShard, { t: 'report' }>, clock: FleetClock): FromShard {
  const { report } = message;
  return clock.speed === 1
    ? message
    : { t: 'report', report: { ...report, status: statusOfReal(report.status, clock) } };
}

function withFleetTimes(message: PodMessage, clock: FleetClock): PodMessage {
  return clock.speed !== 1 && 'pod' in message ? { ...message, pod: podOfFleet(message.pod, clock) } : message;
}
