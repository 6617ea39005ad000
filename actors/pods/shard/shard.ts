import type { Logger } from 'pino';
import { bornPod, nextDeadline, podState } from '../../../machines/pod/pod-step.ts';
import type { PodSnapshot } from '../../../machines/pod/pod-context.ts';
import type { Effect } from '../../../machines/protocol/effects.ts';
import type { PodMessage } from '../../../machines/protocol/messages.ts';
import type { NodeSettings } from '../../../machines/protocol/node-settings.ts';
import type { Hosted } from '../../record/host/machine-host.ts';
import { MachineHost, faultWords } from '../../record/host/machine-host.ts';
import { MachineJournal } from '../../record/journal/machine-journal.ts';
import type { JournalSettings } from '../../record/journal/machine-journal.ts';
import { pods } from '../../record/machines/pods.ts';
import type { Timer } from '../../host/time/clock.ts';
import type { FromShard } from './shard-protocol.ts';
import type { Outcome } from './effect-runner.ts';
import type { Observation } from '../../record/metrics/observation.ts';
import { podObservations } from './pod-observations.ts';
import { PodRounds } from './pod-rounds.ts';
import type { RoundSpans } from './round-spans.ts';
import type { WorkMarks } from './work-marks.ts';

/** What a shard is made from. */
export interface ShardSettings {
  settings: NodeSettings;
  journal: (JournalSettings & { shard: number; settings: NodeSettings }) | null;
  log: Logger;
  now: () => number;
  /** To the main thread. */
  send: (message: FromShard) => void;
  /** Readings for the metrics. */
  observe?: (batch: Observation[]) => void;
  /** Told of each message: a long batch is a sign of life too; only a single step that never ends is none. */
  marks?: Pick<WorkMarks, 'beat' | 'at'>;
  /** Calls `action` once, after so many ms as {@link now} counts them; plain timers when it is not given. */
  after?: (ms: number, action: () => void) => Timer;
  /** Carries out an effect; never rejects. */
  run: (effect: Effect, podUid: string) => Promise<Outcome>;
  /** Makes spans of rounds; absent: no traces are made. */
  spans?: Pick<RoundSpans, 'at' | 'ended'>;
}

/** Messages handled in one turn of the event loop, at most: thousands of pods may begin at once. */
const MAX_BATCH = 64;

interface HostedPod extends Hosted<PodSnapshot> {
  /** Its state as it was told last. */
  told: string;
  timer: Timer | undefined;
  deadline: number | null;
}

/**
 * Hosts many pod machines: takes messages in order, journals them before they are handled, steps the machines,
 * and carries out their effects. A machine that throws keeps its state and harms no other pod.
 */
export class Shard {
  private readonly config: ShardSettings;
  private readonly pods = new Map<string, HostedPod>();
  private readonly journal: MachineJournal<PodSnapshot, PodMessage, Effect> | null;
  private readonly host: MachineHost<PodSnapshot, PodMessage, Effect>;
  private queue: { uid: string; message: PodMessage }[] = [];
  /** A batch is to come, or waits for the disk. */
  private scheduled = false;
  private closed = false;
  private readonly rounds: PodRounds;
  handled = 0;

  constructor(config: ShardSettings) {
    this.config = config;
    const { journal, spans } = config;
    this.rounds = new PodRounds(
      spans && {
        at: (uid, round) => spans.at(uid, this.pods.get(uid)?.state.context.pod ?? {}, round),
        ended: (uid) => spans.ended(uid),
      },
    );
    this.journal =
      journal === null
        ? null
        : new MachineJournal(pods, journal, { shard: journal.shard, settings: journal.settings }, () =>
            this.pods.values(),
          );
    this.host = new MachineHost(pods, this.journal);
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
    this.closed = true;
    for (const pod of this.pods.values()) pod.timer?.cancel();
    this.pods.clear();
    this.journal?.close();
  }

  private drain(): void {
    const batch = this.queue.length > MAX_BATCH ? this.queue.splice(0, MAX_BATCH) : this.queue;
    if (batch === this.queue) this.queue = [];
    const starting = new Set<string>();
    const numbers = batch.map(({ uid, message }) => {
      if (message.type === 'pod.start') starting.add(uid);
      // A message for a pod that is not hosted is late: its pod has finished.
      if (!this.pods.has(uid) && !starting.has(uid)) return -1;
      return this.at(uid, () => this.host.announce(uid, message));
    });
    this.host.flush();
    // A slow disk holds up the messages, and neither the heartbeat nor what is under way.
    this.host.whenWritten(() => {
      if (this.closed) return;
      batch.forEach(({ uid, message }, i) => {
        const n = numbers[i] ?? -1;
        if (n < 0) return;
        this.config.marks?.beat();
        this.at(uid, () => this.handle(n, uid, message));
      });
      this.host.settle();
      this.scheduled = this.queue.length > 0;
      // What came meanwhile waits a turn, so that answers of the runtime, timers and the heartbeat come in between.
      if (this.scheduled) setImmediate(() => this.drain());
    });
  }

  private at<T>(uid: string, work: () => T): T {
    return this.config.marks === undefined ? work() : this.config.marks.at(uid, work);
  }

  private handle(n: number, uid: string, message: PodMessage): void {
    this.handled++;
    const pod = this.hosted(uid, message);
    if (pod === undefined) return;
    const began = performance.now();
    const before = pod.state.context;
    let effects: Effect[];
    try {
      effects = this.host.step(n, pod, message);
    } catch (error) {
      this.config.send({ t: 'fault', uid, message: `${message.type}: ${faultWords(error)}` });
      return;
    }
    this.config.observe?.(podObservations(before, pod.state.context, message));
    const state = podState(pod.state);
    this.config.observe?.(this.rounds.step(uid, { message, effects, state, began, now: performance.now() }));
    if (state !== pod.told) this.tellState(pod, state);
    for (const effect of effects) if (effect.type !== 'pod.Finished') this.carryOut(pod, effect, message.at);
    // Last: a report told after it would be taken for one of a pod that comes back under this UID.
    for (const effect of effects) if (effect.type === 'pod.Finished') this.carryOut(pod, effect, message.at);
    this.arm(pod);
  }

  private hosted(uid: string, message: PodMessage): HostedPod | undefined {
    if (message.type !== 'pod.start') return this.pods.get(uid);
    this.pods.get(uid)?.timer?.cancel();
    const { pod, source } = message;
    const made = {
      key: uid,
      state: bornPod({ pod, source, settings: this.config.settings }),
      told: '',
      timer: undefined,
      deadline: null,
    };
    this.pods.set(uid, made);
    return made;
  }

  private tellState(pod: HostedPod, state: string): void {
    const { metadata } = pod.state.context.pod;
    const name = `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`;
    this.config.log.info(
      { pod: name, podUID: pod.key, state, from: pod.told, why: pod.state.context.why },
      'Pod state changed',
    );
    pod.told = state;
  }

  private carryOut(pod: HostedPod, effect: Effect, at: number): void {
    const { send } = this.config;
    const { key: uid } = pod;
    switch (effect.type) {
      case 'status.Publish':
        send({ t: 'report', report: { uid, ...effect.params } });
        return;
      case 'event.Record': {
        const { metadata } = pod.state.context.pod;
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
        pod.timer?.cancel();
        this.pods.delete(uid);
        send({ t: 'finished', uid, pod: pod.state.context.pod });
        return;
      case 'image.Pull':
        send({ t: 'effect', uid, key: effect.key, effect: 'image.Pull', params: effect.params });
        return;
      default:
        void this.config.run(effect, uid).then((outcome) => this.post(uid, outcome));
    }
  }

  /** One timer for each pod, for its earliest deadline. */
  private arm(pod: HostedPod): void {
    if (!this.pods.has(pod.key)) return;
    const deadline = nextDeadline(pod.state);
    if (deadline === pod.deadline && pod.timer !== undefined) return;
    pod.timer?.cancel();
    pod.timer = undefined;
    pod.deadline = deadline;
    if (deadline === null) return;
    const { now, after = plainTimer } = this.config;
    const wait = Math.min(Math.max(0, deadline - now()), 2 ** 31 - 1);
    pod.timer = after(wait, () => {
      pod.timer = undefined;
      this.post(pod.key, { type: 'timer', at: now() });
    });
  }
}

function plainTimer(ms: number, action: () => void): Timer {
  const timer = setTimeout(action, ms);
  return { cancel: () => clearTimeout(timer) };
}
