import type { Effect, EffectType } from '../../../machines/protocol/effects.ts';
import type { PodMessage } from '../../../machines/protocol/messages.ts';
import type { Observation } from '../../record/metrics/observation.ts';

/** Work of a pod that is under way. */
export interface Round {
  /** ms. */
  began: number;
  operation: string;
  /** Keys of the effects that have not come to their end. */
  open: Set<string>;
}

/** Effects without an outcome. */
const TOLD: ReadonlySet<EffectType> = new Set(['status.Publish', 'event.Record', 'pleg.Observe', 'pod.Finished']);
/** Owners of effects that are no part of a sync in kubelet: probe workers, and PLEG's looks. */
const ASIDE = ['probe/', 'inspect/'];
/** Is the effect no part of a round? */
export const isAside = ({ key }: Pick<Effect, 'key'>): boolean => ASIDE.some((owner) => key.startsWith(owner));

/** Who hears of rounds. */
export interface RoundListener {
  /** A step of a round, the first one included, with the pod's state after it. */
  at(uid: string, round: { operation: string; state: string }): void;
  ended(uid: string): void;
}
/** Messages that ask for a sync, even when there is nothing to do. */
const OPERATIONS: Readonly<Partial<Record<PodMessage['type'], string>>> = {
  'pod.update': 'update',
  'pod.refresh': 'update',
  'pod.terminate': 'update',
  'pod.sync': 'sync',
};

/**
 * Times the rounds of each pod's work for `kubelet_pod_worker_duration_seconds`. A round lasts from the message that
 * began it until nothing that it began is under way: what one sync does in kubelet, which blocks that long. The first
 * round is `create`; waits between rounds (back-off) count nowhere.
 */
export class PodRounds {
  private readonly rounds = new Map<string, Round>();
  private readonly created = new Set<string>();
  private readonly listener: RoundListener | undefined;

  constructor(listener?: RoundListener) {
    this.listener = listener;
  }

  /**
   * One step of a pod.
   * @param began when the message was taken up, ms
   * @param now ms, of the same clock
   */
  step(
    uid: string,
    step: { message: PodMessage; effects: readonly Effect[]; state: string; began: number; now: number },
  ): Observation[] {
    const { message, effects, state, began, now } = step;
    let round = this.rounds.get(uid);
    if (message.type === 'effect.done' || message.type === 'effect.failed') round?.open.delete(message.key);
    const begun = effects.filter((effect) => !TOLD.has(effect.type) && !isAside(effect));
    const asked = this.created.has(uid) && OPERATIONS[message.type] !== undefined;
    if (round === undefined && (begun.length > 0 || asked)) {
      const operation = this.created.has(uid) ? (OPERATIONS[message.type] ?? 'sync') : 'create';
      round = { began, operation, open: new Set() };
      this.rounds.set(uid, round);
    }
    for (const { key } of begun) round?.open.add(key);
    if (round !== undefined) this.listener?.at(uid, { operation: round.operation, state });
    const finished = effects.some(({ type }) => type === 'pod.Finished');
    const out: Observation[] = [];
    if (round !== undefined && (round.open.size === 0 || finished)) {
      this.rounds.delete(uid);
      this.listener?.ended(uid);
      this.created.add(uid);
      const labels = { operation_type: state.startsWith('terminated') ? 'terminated' : round.operation };
      const value = (now - round.began) / 1000;
      out.push({ name: 'kubelet_pod_worker_duration_seconds', labels, value, op: 'observe' });
    }
    if (finished) this.forget(uid);
    return out;
  }

  /** The pod is gone. */
  forget(uid: string): void {
    if (this.rounds.delete(uid)) this.listener?.ended(uid);
    this.created.delete(uid);
  }
}
