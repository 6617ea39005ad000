import { rejectionLabel } from '../../machines/admission/rejection.ts';
import { isTerminalPhase } from '../../machines/status/phase.ts';
import type { Pod } from '../../machines/protocol/api-types.ts';
import { messageOf } from '../../machines/values/message-of.ts';
import type { PodConfigUpdate } from '../../machines/sources/pod-config.ts';
import type { Rejection } from '../../machines/supervisor/tracked-pod.ts';
import { HeldPods } from './held-pods.ts';
import type { Hold } from '../../machines/protocol/hold.ts';
import type { PodSource } from '../../machines/protocol/messages.ts';
import type { ClaimManager } from '../resources/claims/claim-manager.ts';
import type { Affinities } from '../../machines/resource-managers/admit-resources.ts';
import type { DeviceManager, GrantAnswer } from '../resources/devices/device-manager.ts';
import type { Victim } from '../../machines/admission/admission-messages.ts';
import type { MakeRoom } from '../resources/admission/make-room.ts';
import type { NodeAdmission } from '../resources/admission/node-admission.ts';
import type { Refusal } from '../resources/admission/verdict.ts';
import type { Metrics } from '../record/metrics/metrics-registry.ts';
import type { PodReport } from '../pods/shard/shard-protocol.ts';
import type { PodSources } from '../pods/sources/pod-sources.ts';
import type { Supervisor } from '../pods/supervisor/supervisor.ts';
import type { Cluster } from './cluster.ts';

/** An update of a source; `again`: its one pod is not new, it has waited for a plugin; `room`: no update, but pods that are to end in its turn. */
type Update = PodConfigUpdate & { again?: true; room?: () => Promise<void> };

/** What plugins gave a pod, why they did not, or that it waits for one. */
interface Equipment {
  refusal: Refusal | null;
  affinities?: Affinities;
  waits?: NonNullable<GrantAnswer['waits']>;
}

/** Who hears of pods that come, change and go. */
export interface PodIntakeOptions {
  supervisor: Supervisor;
  /** Null on a standalone node. */
  cluster: Cluster | null;
  admission: NodeAdmission;
  /** Ends pods for a critical one. */
  room: MakeRoom;
  /** Why one of the node's managers does not take a pod; null when all do. Absent: there are none. */
  refuses?: (pod: Pod) => { reason: string; message: string } | null;
  /** Who gives pods devices of plugins; null or absent where none can come. */
  devices?: Pick<DeviceManager, 'wants' | 'grant' | 'floor' | 'gone'> | null;
  /** Who gives claims back; null or absent where no driver can come. */
  claims?: Pick<ClaimManager, 'gone'> | null;
  metrics: Metrics;
  now: () => number;
  sources: () => PodSources;
}

/** The way of pods from their sources to the supervisor: admission, and all who must know that a pod is wanted. */
export class PodIntake {
  private readonly options: PodIntakeOptions;
  private readonly queue: Update[] = [];
  /** Pods that plugins were asked for: null, or why they gave nothing. */
  private readonly equipped = new WeakMap<Pod, Equipment>();
  private readonly held: HeldPods;
  private wholeSeen = false;

  constructor(options: PodIntakeOptions) {
    this.options = options;
    this.held = new HeldPods(options.now, (source, pod) => this.askAgain(source, pod));
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
    this.equipped.delete(pod);
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
      const verdicts = this.judge(update);
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
      this.tell(update, verdicts);
      this.queue.shift();
    }
    this.settled();
  }

  private async giveRoom(room: () => Promise<void>): Promise<void> {
    await room();
    this.queue.shift();
    this.workOff();
  }

  /** A new pod that plugins have to give devices before it is judged. */
  private wants({ op }: Update, pod: Pod): boolean {
    return op === 'ADD' && !ends(pod) && !this.equipped.has(pod) && this.options.devices?.wants(pod) === true;
  }

  private async giveDevices({ pods }: Update): Promise<void> {
    const { devices, refuses } = this.options;
    for (const pod of pods) {
      const refusal = refuses?.(pod) ?? null;
      const answer: Partial<GrantAnswer> | undefined =
        refusal === null
          ? await devices
              ?.grant(pod, undefined, this.held.get(pod.metadata?.uid ?? '')?.early)
              .catch((error: unknown) => ({ problem: messageOf(error) }))
          : undefined;
      this.equipped.set(pod, equipmentOf(answer ?? {}));
    }
    this.workOff();
  }

  /** Every pod of every source has come once: what is kept of others belongs to nobody. */
  private settled(): void {
    if (this.wholeSeen || !this.options.sources().allSourcesReady()) return;
    this.wholeSeen = true;
    // Not before: a pod that runs, and is still being judged, would be taken for one that nobody wants.
    this.options.supervisor.take({ type: 'sourcesReady', at: this.options.now() });
    this.options.admission.allSourcesSpoke(this.held.uids);
  }

  /** Refusals of the update's new pods. */
  private judge({ op, pods }: Update): Map<Pod, Refusal> {
    const { cluster } = this.options;
    const refused = new Map<Pod, Refusal>();
    for (const pod of pods) {
      if (op === 'REMOVE') continue;
      cluster?.objects.podWanted(pod);
      const verdict = op === 'ADD' && !ends(pod) && !this.waits(pod) ? judged(() => this.verdictOf(pod)) : null;
      if (verdict !== null) refused.set(pod, verdict);
      // Pods that come after one that displaces others are judged when these have gone.
      if (verdict?.preempt !== undefined) break;
    }
    return refused;
  }

  private waits(pod: Pod): boolean {
    return this.equipped.get(pod)?.waits !== undefined;
  }

  private verdictOf(pod: Pod): Refusal | null {
    const { admission, refuses } = this.options;
    const refusal = refuses?.(pod) ?? null;
    if (refusal !== null) return { ...refusal, retryWithFreshNode: false };
    const { refusal: unequipped = null, affinities } = this.equipped.get(pod) ?? {};
    if (unequipped === null) return admission.admit(pod, this.floor(pod), affinities);
    admission.resources.countUnequipped(unequipped.reason);
    return unequipped;
  }

  /** The first pod of the update is critical, and others end for it: as with kubelet all that comes waits meanwhile. */
  private async makeRoom(update: Update, verdicts: Map<Pod, Refusal>): Promise<void> {
    const { admission, room } = this.options;
    const [pod, ...others] = update.pods;
    if (pod === undefined) return;
    const { victims, signal } = verdicts.get(pod)?.preempt ?? { victims: [], signal: '' };
    const { namespace = '', name = '' } = pod.metadata ?? {};
    await room.preempt(victims, signal, `${namespace}/${name}`);
    const verdict = judged(() => admission.admitAfterRoom(pod, this.equipped.get(pod)?.affinities));
    this.tell({ ...update, pods: [pod] }, new Map(verdict === null ? [] : [[pod, verdict]]));
    this.queue.splice(0, 1, ...(others.length > 0 ? [{ ...update, pods: others }] : []));
    this.workOff();
  }

  private async judgeAgain(
    unsure: readonly [Pod, Refusal][],
    verdicts: Map<Pod, Refusal>,
    update: Update,
  ): Promise<void> {
    const { admission } = this.options;
    for (const [pod, refusal] of unsure) {
      const { affinities } = this.equipped.get(pod) ?? {};
      const verdict = await admission.admitAfterAll(pod, refusal, this.floor(pod), affinities).catch(unexpected);
      if (verdict === null) verdicts.delete(pod);
      else verdicts.set(pod, verdict);
    }
    this.tell(update, verdicts);
    this.queue.shift();
    this.workOff();
  }

  private floor(pod: Pod): Record<string, number> | null {
    return this.options.devices?.floor(pod.metadata?.uid ?? '') ?? null;
  }

  private tell(update: Update, verdicts: ReadonlyMap<Pod, Refusal>): void {
    const { supervisor, now } = this.options;
    const rejections = this.rejectionsOf(verdicts);
    const pods = this.allocated(update, verdicts);
    const { again, ...rest } = update;
    if (again === true) {
      this.tellJudged(update, pods, rejections);
      return;
    }
    const holds = this.holdsOf(update);
    const more = {
      ...(verdicts.size > 0 && { rejections }),
      ...(Object.keys(holds).length > 0 && { holds }),
    };
    supervisor.take({ type: 'config', at: now(), update: { ...rest, pods }, ...more });
    if (update.op === 'REMOVE') for (const pod of update.pods) this.removed(pod.metadata?.uid ?? '');
    else if (update.op !== 'ADD') for (const pod of update.pods) this.held.changed(pod);
    if (update.op === 'ADD') this.options.admission.added();
    if (update.source !== 'api') this.tellStatics();
  }

  private rejectionsOf(verdicts: ReadonlyMap<Pod, Refusal>): Record<string, Rejection> {
    const rejections: Record<string, Rejection> = {};
    for (const [pod, { reason, message }] of verdicts) {
      rejections[pod.metadata?.uid ?? ''] = { reason, message };
      this.options.metrics.admissionRejections.inc({ reason: rejectionLabel(reason) });
    }
    return rejections;
  }

  /** New pods that wait for a plugin, from now on. */
  private holdsOf({ op, source, pods }: Update): Record<string, Hold> {
    const holds: Record<string, Hold> = {};
    if (op !== 'ADD') return holds;
    for (const pod of pods) {
      const waits = this.equipped.get(pod)?.waits;
      if (waits === undefined) continue;
      this.held.hold(source, pod, waits);
      holds[pod.metadata?.uid ?? ''] = { message: waits.message, until: waits.until };
    }
    return holds;
  }

  /** A pod that waited has been asked about again: it goes on to, or is judged. */
  private tellJudged({ source, pods: [asked] }: Update, [pod]: Pod[], rejections: Record<string, Rejection>): void {
    if (asked === undefined || pod === undefined) return;
    const uid = asked.metadata?.uid ?? '';
    const waits = this.equipped.get(asked)?.waits;
    if (waits !== undefined) {
      this.held.hold(source, asked, waits);
      return;
    }
    this.held.release(uid);
    const rejection = rejections[uid];
    const { supervisor, admission, now } = this.options;
    supervisor.take({ type: 'admitted', at: now(), pod, ...(rejection !== undefined && { rejection }) });
    admission.added();
  }

  /** The update's pods as they are to run: with the resources that the node has set aside for them. */
  private allocated({ op, pods }: Update, verdicts: ReadonlyMap<Pod, Refusal>): Pod[] {
    const { admission } = this.options;
    if (op === 'REMOVE') return pods;
    if (op !== 'ADD') return pods.map((pod) => admission.updated(pod));
    return pods.map((pod) => {
      const runs = !verdicts.has(pod) && !this.waits(pod) && !isTerminalPhase(pod.status?.phase);
      return runs ? admission.admitted(pod) : admission.arriving(pod);
    });
  }

  /** A pod's actor told how it stands. */
  reported(report: PodReport): void {
    this.options.admission.reported(report);
    this.options.room.reported(report);
  }

  private removed(uid: string): void {
    this.held.release(uid);
    this.options.admission.removed(uid);
    // A pod that only waited for its predecessor is gone at once.
    this.gone(uid);
  }

  /** Nothing is known of the pod any more, unless it is tracked anew. */
  gone(uid: string): void {
    if (this.options.supervisor.tracks(uid)) return;
    this.options.admission.gone(uid);
    this.options.devices?.gone(uid);
    this.options.claims?.gone(uid);
    this.options.room.gone(uid);
    this.options.cluster?.podGone(uid);
  }

  /** The last source has spoken. */
  sourcesSpoke(): void {
    if (this.queue.length === 0) this.settled();
    this.tellStatics();
  }

  /** Also called when the last source has spoken: only then may the mirror of an unknown static pod go. */
  private tellStatics(): void {
    const { cluster } = this.options;
    const sources = this.options.sources();
    cluster?.staticPods(sources.staticPods(), sources.allSourcesReady());
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

/** A pod whose judging throws is refused, and keeps no other waiting. */
function judged(judge: () => Refusal | null): Refusal | null {
  try {
    return judge();
  } catch (error) {
    return unexpected(error);
  }
}

/** What a pod has of its devices, for who judges it. */
function equipmentOf({ problem, reason, waits, affinities = {} }: Partial<GrantAnswer>): Equipment {
  if (waits !== undefined) return { refusal: null, waits };
  if (problem && reason !== undefined) return { refusal: { reason, message: problem, retryWithFreshNode: false } };
  if (problem) return { refusal: unexpected(new Error(problem)) };
  return { refusal: null, ...(Object.keys(affinities).length > 0 && { affinities }) };
}

/** As kubelet calls it when admission itself fails. */
function unexpected(error: unknown): Refusal {
  const message = `Allocate failed due to ${error instanceof Error ? error.message : String(error)}, which is unexpected`;
  return { reason: 'UnexpectedAdmissionError', message, retryWithFreshNode: false };
}
