import type { Logger } from 'pino';
import { bornPod, nextDeadline, podState, stepPod } from '../../../machines/pod/pod-step.ts';
import type { PodSnapshot } from '../../../machines/pod/pod-context.ts';
import type { Effect } from '../../../machines/protocol/effects.ts';
import type { PodMessage } from '../../../machines/protocol/messages.ts';
import type { NodeSettings } from '../../../machines/protocol/node-settings.ts';
import { JournalWriter } from '../../record/journal/journal-writer.ts';
import type { JournalSettings } from '../../record/journal/journal-writer.ts';
import type { FromShard } from './shard-protocol.ts';
import type { Outcome } from './effect-runner.ts';
import type { Observation } from '../../record/metrics/observation.ts';
import { podObservations } from './pod-observations.ts';
import { PodRounds } from './pod-rounds.ts';

/** What a shard is made from. */
export interface ShardSettings {
  settings: NodeSettings;
  journal: JournalSettings | null;
  log: Logger;
  now: () => number;
  /** To the main thread. */
  send: (message: FromShard) => void;
  /** Readings for the metrics. */
  observe?: (batch: Observation[]) => void;
  /** Told at each message: a long batch is a sign of life too; only a single step that never ends is none. */
  beat?: () => void;
  /** Carries out an effect; never rejects. */
  run: (effect: Effect, podUid: string) => Promise<Outcome>;
}

/** Messages handled in one turn of the event loop, at most: thousands of pods may begin at once. */
const MAX_BATCH = 64;

interface Hosted {
  uid: string;
  source: string;
  snapshot: PodSnapshot;
  state: string;
  timer: NodeJS.Timeout | undefined;
  deadline: number | null;
}

/**
 * Hosts many pod machines: takes messages in order, journals them before they are handled, steps the machines,
 * and carries out their effects. A machine that throws keeps its state and harms no other pod.
 */
export class Shard {
  private readonly config: ShardSettings;
  private readonly pods = new Map<string, Hosted>();
  private readonly journal: JournalWriter | null;
  private queue: { uid: string; message: PodMessage }[] = [];
  private scheduled = false;
  private readonly rounds = new PodRounds();
  handled = 0;

  constructor(config: ShardSettings) {
    this.config = config;
    this.journal = config.journal === null ? null : new JournalWriter(config.journal, () => this.pods.values());
  }

  get journalBytes(): number {
    return this.journal?.totalBytes ?? 0;
  }

  /** Puts a message in the pod's mailbox. All messages of one turn of the event loop share one write of the journal, up to a bound. */
  post(uid: string, message: PodMessage): void {
    this.queue.push({ uid, message });
    if (this.scheduled) return;
    this.scheduled = true;
    setImmediate(() => this.drain());
  }

  /** Ends timers and closes the journal; effects under way are left to themselves. */
  close(): void {
    for (const pod of this.pods.values()) clearTimeout(pod.timer);
    this.pods.clear();
    this.journal?.close();
  }

  private drain(): void {
    this.scheduled = false;
    const batch = this.queue.length > MAX_BATCH ? this.queue.splice(0, MAX_BATCH) : this.queue;
    if (batch === this.queue) this.queue = [];
    else {
      // The rest waits a turn, so that answers of the runtime, timers and the heartbeat come in between.
      this.scheduled = true;
      setImmediate(() => this.drain());
    }
    const starting = new Set<string>();
    const numbers = batch.map(({ uid, message }) => {
      if (message.type === 'pod.start') starting.add(uid);
      // A message for a pod that is not hosted is late: its pod has finished.
      return this.pods.has(uid) || starting.has(uid) ? (this.journal?.message(uid, message) ?? 0) : -1;
    });
    this.journal?.flush();
    batch.forEach(({ uid, message }, i) => {
      const n = numbers[i] ?? -1;
      if (n >= 0) this.handle(n, uid, message);
    });
    this.journal?.flush();
    this.journal?.rotateIfFull();
  }

  private handle(n: number, uid: string, message: PodMessage): void {
    this.handled++;
    this.config.beat?.();
    const pod = this.hosted(uid, message);
    if (pod === undefined) return;
    const began = performance.now();
    const before = pod.snapshot.context;
    let effects: Effect[];
    try {
      const stepped = stepPod(pod.snapshot, message);
      pod.snapshot = stepped.snapshot;
      effects = stepped.effects;
    } catch (error) {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      this.journal?.fault(n, uid, text);
      this.config.send({ t: 'fault', uid, message: `${message.type}: ${text}` });
      return;
    }
    this.config.observe?.(podObservations(before, pod.snapshot.context, message));
    const state = podState(pod.snapshot);
    this.config.observe?.(this.rounds.step(uid, { message, effects, state, began, now: performance.now() }));
    this.journal?.step(n, uid, state, effects);
    if (state !== pod.state) this.tellState(pod, state);
    for (const effect of effects) if (effect.type !== 'pod.Finished') this.carryOut(pod, effect, message.at);
    // Last: a report told after it would be taken for one of a pod that comes back under this UID.
    for (const effect of effects) if (effect.type === 'pod.Finished') this.carryOut(pod, effect, message.at);
    this.arm(pod);
  }

  private hosted(uid: string, message: PodMessage): Hosted | undefined {
    if (message.type !== 'pod.start') return this.pods.get(uid);
    clearTimeout(this.pods.get(uid)?.timer);
    const { pod, source } = message;
    const made = {
      uid,
      source,
      snapshot: bornPod({ pod, source, settings: this.config.settings }),
      state: '',
      timer: undefined,
      deadline: null,
    };
    this.pods.set(uid, made);
    return made;
  }

  private tellState(pod: Hosted, state: string): void {
    const { metadata } = pod.snapshot.context.pod;
    const name = `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`;
    this.config.log.info(
      { pod: name, podUID: pod.uid, state, from: pod.state, why: pod.snapshot.context.why },
      'Pod state changed',
    );
    pod.state = state;
  }

  private carryOut(pod: Hosted, effect: Effect, at: number): void {
    const { send } = this.config;
    const { uid } = pod;
    switch (effect.type) {
      case 'status.Publish':
        send({ t: 'report', report: { uid, ...effect.params } });
        return;
      case 'event.Record': {
        const { metadata } = pod.snapshot.context.pod;
        send({
          t: 'event',
          event: { uid, namespace: metadata?.namespace ?? '', name: metadata?.name ?? '', at, ...effect.params },
        });
        return;
      }
      case 'pleg.Observe':
        send({ t: 'observe', uid });
        return;
      case 'pod.Finished':
        clearTimeout(pod.timer);
        this.pods.delete(uid);
        send({ t: 'finished', uid, pod: pod.snapshot.context.pod });
        return;
      case 'image.Pull':
        send({ t: 'effect', uid, key: effect.key, effect: 'image.Pull', params: effect.params });
        return;
      default:
        void this.config.run(effect, uid).then((outcome) => this.post(uid, outcome));
    }
  }

  /** One timer for each pod, for its earliest deadline. */
  private arm(pod: Hosted): void {
    if (!this.pods.has(pod.uid)) return;
    const deadline = nextDeadline(pod.snapshot);
    if (deadline === pod.deadline && pod.timer !== undefined) return;
    clearTimeout(pod.timer);
    pod.timer = undefined;
    pod.deadline = deadline;
    if (deadline === null) return;
    const wait = Math.min(Math.max(0, deadline - this.config.now()), 2 ** 31 - 1);
    pod.timer = setTimeout(() => {
      pod.timer = undefined;
      this.post(pod.uid, { type: 'timer', at: this.config.now() });
    }, wait);
  }
}
