import type { Logger } from 'pino';
import { askMain } from '../../../actors/pods/shard/ask-main.ts';
import type { Asker } from '../../../actors/pods/shard/ask-main.ts';
import { effectRunner } from '../../../actors/pods/shard/effect-runner.ts';
import type { Outcome } from '../../../actors/pods/shard/effect-runner.ts';
import { errorOf } from '../../../actors/pods/shard/effect-runner.ts';
import type { HostSettings } from '../../../actors/host/files/host-settings.ts';
import { Shard } from '../../../actors/pods/shard/shard.ts';
import type { FromShard, ToShard } from '../../../actors/pods/shard/shard-protocol.ts';
import type { Effect } from '../../../machines/protocol/effects.ts';
import type { NodeSettings } from '../../../machines/protocol/node-settings.ts';
import { answers } from './cluster-end.ts';
import type { Edges } from './edges.ts';
import { answerNetwork } from './network-edge.ts';
import type { Owner } from './virtual-time.ts';

/** What a simulated worker thread is made from. */
export interface WorkerOptions {
  name: string;
  shard: number;
  edges: Edges;
  settings: NodeSettings;
  journalDir: string;
  log: Logger;
  /** To the main thread. */
  send: (message: FromShard) => void;
  /** The agent dies of this effect, before it is done or once it is under way. */
  mortal: (effect: Effect) => 'before' | 'after' | null;
  die: () => void;
}

/** How long a message is under way between threads, ms. */
export const PORT_MS = 1;

/** A worker thread without a thread: the real shard, its mailbox, and effects that go to the world's edges. */
export class Worker {
  readonly owner: Owner;
  readonly shard: Shard;
  private readonly options: WorkerOptions;
  private readonly asker: Asker;

  constructor(options: WorkerOptions) {
    this.options = options;
    const { edges, settings, shard, journalDir, log, name } = options;
    this.owner = { name, alive: true, quiet: true };
    const now = (): number => edges.time.wall();
    const cri = edges.runtime.client(this.owner);
    this.asker = askMain((question) => this.send(question));
    const asksMain = edges.plugins.on;
    const toRuntime = effectRunner({
      cri,
      host: { rootDir: settings.rootDir, ask: answers, log } as unknown as HostSettings,
      now,
      ...(asksMain && { devicesOf: (params) => this.asker.ask('devices.Get', params) }),
      onDone: () => undefined,
    });
    const run = async (effect: Effect, uid: string): Promise<Outcome> => {
      const mortal = options.mortal(effect);
      if (mortal === 'before') options.die();
      if (!this.owner.alive) return new Promise(() => undefined);
      edges.tell({ f: 'effect', uid, effect });
      if (mortal === 'after') edges.time.after(edges.random.between(0, 12), edges.time.world, options.die, false);
      const { type } = effect;
      if (!type.startsWith('host.') && !type.startsWith('net.')) return toRuntime(effect, uid);
      const base = { effect: type, key: effect.key };
      try {
        const claims = type === 'host.PrepareClaims' || type === 'host.UnprepareClaims';
        if (claims)
          await this.asker.ask(type === 'host.PrepareClaims' ? 'claims.Prepare' : 'claims.Unprepare', effect.params);
        const result = type.startsWith('host.')
          ? await edges.host.run(effect, uid)
          : await answerNetwork(effect, uid, edges.time, edges.says);
        return { type: 'effect.done', at: now(), ...base, result } as Outcome;
      } catch (error) {
        return { type: 'effect.failed', at: now(), ...base, error: errorOf(error) };
      }
    };
    const journal = { dir: journalDir, maxBytes: 2 ** 30, agent: 'simulated', shard, settings, log };
    this.shard = edges.time.as(
      this.owner,
      false,
      () => new Shard({ settings, journal, log, now, send: this.send, run }),
    );
  }

  /** A message of the main thread, some time later. */
  post(message: ToShard): void {
    const { time } = this.options.edges;
    time.after(PORT_MS, this.owner, () => this.take(message), false);
  }

  /** The thread is no more. What it had under way at the runtime is cut off. */
  kill(): void {
    this.owner.alive = false;
    this.shard.close();
    this.options.edges.runtime.hangUp(this.owner);
  }

  private readonly send = (message: FromShard): void => {
    if (this.owner.alive) this.options.send(message);
  };

  private take(message: ToShard): void {
    if (message.t === 'pod') this.shard.post(message.uid, message.message);
    if (message.t === 'answer') this.asker.answered(message);
    if (message.t !== 'result') return;
    const { uid, key, effect, result, error } = message;
    const base = { at: this.options.edges.time.wall(), effect, key };
    if (error !== undefined) this.shard.post(uid, { type: 'effect.failed', ...base, error });
    else if (result !== undefined) this.shard.post(uid, { type: 'effect.done', ...base, result });
  }
}
