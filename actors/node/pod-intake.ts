import type { Logger } from 'pino';
import { isTerminalPhase } from '../../machines/status/phase.ts';
import type { Pod } from '../../machines/protocol/api-types.ts';
import type { PodConfigUpdate } from '../../machines/sources/pod-config.ts';
import { tellEach } from '../record/logging/tell-each.ts';
import { HeldPods } from './held-pods.ts';
import type { PodSource } from '../../machines/protocol/messages.ts';
import type { Victim } from '../../machines/admission/admission-messages.ts';
import type { Refusal } from '../resources/admission/verdict.ts';
import type { PodReport } from '../pods/shard/shard-protocol.ts';
import { JudgedPods } from './judged-pods.ts';
import type { JudgedPodsOptions, JudgedUpdate } from './judged-pods.ts';
import { PodEquipment } from './pod-equipment.ts';
import type { PodEquipmentOptions } from './pod-equipment.ts';
import { PodJudge } from './pod-judge.ts';

/** An update of a source; `room`: it is none, but pods that are to end in its turn. */
type Update = JudgedUpdate & { room?: () => Promise<void> };

/** What the intake works with. */
export type PodIntakeOptions = PodEquipmentOptions &
  JudgedPodsOptions & {
    log: Logger;
    /** Of a pod that no source names: may the runtime hold something of it? */
    mayRun: (uid: string) => boolean;
  };

/** The way of pods from their sources to the supervisor: what sources tell is worked off in its order, equipped, judged, and told on ({@link JudgedPods}). */
export class PodIntake {
  private readonly options: PodIntakeOptions;
  private readonly queue: Update[] = [];
  private readonly equipment: PodEquipment;
  private readonly judge: PodJudge;
  private readonly told: JudgedPods;
  private readonly held: HeldPods;
  private wholeSeen = false;

  constructor(options: PodIntakeOptions) {
    this.options = options;
    this.equipment = new PodEquipment(options);
    this.judge = new PodJudge(options, this.equipment);
    this.held = new HeldPods(options.now, (source, pod) => this.askAgain(source, pod));
    this.told = new JudgedPods(options, this.equipment, this.held);
  }

  /** Every pod that the sources named at first has been judged. Until then one may run already, under an earlier agent. */
  get allSeen(): boolean {
    return this.wholeSeen;
  }

  /** A device plugin has told its devices. */
  pluginReturned(): void {
    this.held.tryAll();
  }

  /** What a source changed; updates are worked off in their order. */
  take(update: PodConfigUpdate): void {
    this.put(update);
  }

  /** Pods are to end for the resize of a critical one that runs: as with kubelet nobody is judged meanwhile. */
  makeRoomForResize(pod: Pod, victims: readonly Victim[], signal: string): void {
    const { admission, room } = this.options;
    const { namespace = '', name = '', uid = '' } = pod.metadata ?? {};
    const make = async (): Promise<void> => {
      await room.preempt(victims, signal, `${namespace}/${name}`);
      admission.roomMade(uid);
    };
    this.put({ op: 'UPDATE', source: 'api', pods: [], room: make });
  }

  private put(update: Update): void {
    this.queue.push(update);
    if (this.queue.length === 1) this.workOff();
  }

  private askAgain(source: PodSource, pod: Pod): void {
    const uid = pod.metadata?.uid ?? '';
    const asked = this.queue.some(({ again, pods }) => again === true && pods[0]?.metadata?.uid === uid);
    if (asked) return;
    this.equipment.forget(pod);
    this.put({ op: 'ADD', source, pods: [pod], again: true });
  }

  private workOff(): void {
    for (let update = this.queue[0]; update !== undefined; update = this.queue[0]) {
      if (update.again === true && this.held.get(update.pods[0]?.metadata?.uid ?? '')?.pod !== update.pods[0]) {
        // It was changed meanwhile, or waits no more.
        this.queue.shift();
        const held = this.held.get(update.pods[0]?.metadata?.uid ?? '');
        if (held !== undefined) this.queue.push({ ...update, pods: [held.pod] });
        continue;
      }
      if (update.room !== undefined) {
        void this.giveRoom(update.room);
        return;
      }
      const first = update.pods.findIndex((pod) => this.wants(update, pod));
      if (first >= 0 && update.pods.length > 1) {
        this.queue.splice(0, 1, ...inParts(update, first));
        continue;
      }
      if (first === 0) {
        // Later updates wait: they may be about the same pods, and kubelet admits one pod after the other, too.
        void this.giveDevices(update);
        return;
      }
      const verdicts = this.refusals(update);
      const pressing = update.pods.findIndex((pod) => verdicts.get(pod)?.preempt !== undefined);
      if (pressing > 0) {
        // Those before it run by then, and may have to go for it.
        this.queue.splice(0, 1, ...inParts(update, pressing));
        continue;
      }
      if (pressing === 0) {
        void this.makeRoom(update, verdicts);
        return;
      }
      const unsure = [...verdicts].filter(([, verdict]) => verdict.retryWithFreshNode);
      if (unsure.length > 0) {
        // Rare: later updates wait for it, since they may be about the same pods.
        void this.judgeAgain(unsure, verdicts, update);
        return;
      }
      this.guarded(() => this.told.judged(update, verdicts));
      this.queue.shift();
    }
    this.settled();
  }

  /** Whoever fails at an update keeps no later one waiting: with the first of the queue all pods of the node would wait for ever. */
  private guarded(work: () => void): void {
    try {
      work();
    } catch (err) {
      this.unforeseen(err);
    }
  }

  private unforeseen(err: unknown): void {
    this.options.log.error({ err }, 'What a source of pods told could not be worked off as a whole');
  }

  private async giveRoom(room: () => Promise<void>): Promise<void> {
    await room().catch((err: unknown) => this.unforeseen(err));
    this.queue.shift();
    this.workOff();
  }

  /** A new pod that plugins have to give devices before it is judged. */
  private wants({ op }: Update, pod: Pod): boolean {
    let lacks = false;
    // Nobody catches it on the way here: the update would stay the first of the queue.
    this.guarded(() => (lacks = op === 'ADD' && !ends(pod) && this.equipment.lacks(pod)));
    return lacks;
  }

  private async giveDevices({ pods }: Update): Promise<void> {
    for (const pod of pods) await this.equipment.give(pod, this.held.get(pod.metadata?.uid ?? '')?.early);
    this.workOff();
  }

  /** Every pod of every source has come once: what is kept of others belongs to nobody. */
  private settled(): void {
    if (this.wholeSeen || !this.options.sources().allSourcesReady()) return;
    this.wholeSeen = true;
    // Not before: a pod that runs, and is still being judged, would be taken for one that nobody wants.
    const { supervisor, admission, now, mayRun } = this.options;
    supervisor.take({ type: 'sourcesReady', at: now() });
    admission.allSourcesSpoke(this.held.uids, mayRun);
  }

  /** Refusals of the update's new pods. */
  private refusals({ op, pods }: Update): Map<Pod, Refusal> {
    const { cluster } = this.options;
    const refused = new Map<Pod, Refusal>();
    for (const pod of pods) {
      if (op === 'REMOVE') continue;
      this.guarded(() => cluster?.objects.podWanted(pod));
      const verdict =
        op === 'ADD' && !ends(pod) && this.equipment.waitOf(pod) === undefined ? this.judge.judge(pod) : null;
      if (verdict !== null) refused.set(pod, verdict);
      // Pods that come after one that displaces others are judged when these have gone.
      if (verdict?.preempt !== undefined) break;
    }
    return refused;
  }

  /** The first pod of the update is critical, and others end for it: as with kubelet all that comes waits meanwhile. */
  private async makeRoom(update: Update, verdicts: Map<Pod, Refusal>): Promise<void> {
    const [pod, ...others] = update.pods;
    if (pod === undefined) return;
    const { victims, signal } = verdicts.get(pod)?.preempt ?? { victims: [], signal: '' };
    const { namespace = '', name = '' } = pod.metadata ?? {};
    await this.options.room
      .preempt(victims, signal, `${namespace}/${name}`)
      .catch((err: unknown) => this.unforeseen(err));
    const verdict = this.judge.judgeAfterRoom(pod);
    const verdictOn = new Map(verdict === null ? [] : [[pod, verdict]]);
    this.guarded(() => this.told.judged({ ...update, pods: [pod] }, verdictOn));
    this.queue.splice(0, 1, ...(others.length > 0 ? [{ ...update, pods: others }] : []));
    this.workOff();
  }

  private async judgeAgain(
    unsure: readonly [Pod, Refusal][],
    verdicts: Map<Pod, Refusal>,
    update: Update,
  ): Promise<void> {
    await this.judge.judgeAgain(unsure, verdicts).catch((err: unknown) => this.unforeseen(err));
    this.guarded(() => this.told.judged(update, verdicts));
    this.queue.shift();
    this.workOff();
  }

  /** A pod's actor told how it stands. */
  reported(report: PodReport): void {
    const { admission, room, log } = this.options;
    tellEach(log, `how pod ${report.uid} stands`, {
      admission: () => admission.reported(report),
      room: () => room.reported(report),
    });
  }

  /** Nothing is known of the pod any more, unless it is tracked anew. */
  gone(uid: string): void {
    this.told.gone(uid);
  }

  /** The last source has spoken. */
  sourcesSpoke(): void {
    if (this.queue.length === 0) this.settled();
    this.told.statics();
  }
}

/** The update as several: what comes before the pod at an index, that pod, what comes after it. */
function inParts(update: Update, at: number): Update[] {
  const { pods } = update;
  const parts = [pods.slice(0, at), pods.slice(at, at + 1), pods.slice(at + 1)];
  return parts.filter((part) => part.length > 0).map((part) => ({ ...update, pods: part }));
}

/** It ends without being admitted. */
function ends(pod: Pod): boolean {
  return pod.metadata?.deletionTimestamp !== undefined || isTerminalPhase(pod.status?.phase);
}
