import { rejectionLabel } from '../../machines/admission/rejection.ts';
import { isTerminalPhase } from '../../machines/status/phase.ts';
import type { Pod } from '../../machines/protocol/api-types.ts';
import { messageOf } from '../../machines/values/message-of.ts';
import type { PodConfigUpdate } from '../../machines/sources/pod-config.ts';
import type { Rejection } from '../../machines/supervisor/tracked-pod.ts';
import type { ClaimManager } from '../resources/claims/claim-manager.ts';
import type { Affinities } from '../../machines/resource-managers/admit-resources.ts';
import type { DeviceManager, GrantAnswer } from '../resources/devices/device-manager.ts';
import type { MakeRoom } from '../resources/admission/make-room.ts';
import type { NodeAdmission, Refusal } from '../resources/admission/node-admission.ts';
import type { Metrics } from '../record/metrics/metrics-registry.ts';
import type { PodReport } from '../pods/shard/shard-protocol.ts';
import type { PodSources } from '../pods/sources/pod-sources.ts';
import type { Supervisor } from '../pods/supervisor/supervisor.ts';
import type { Cluster } from './cluster.ts';

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
  private readonly queue: PodConfigUpdate[] = [];
  /** Pods that plugins were asked for: null, or why they gave nothing. */
  private readonly equipped = new WeakMap<Pod, { refusal: Refusal | null; affinities?: Affinities }>();
  private wholeSeen = false;

  constructor(options: PodIntakeOptions) {
    this.options = options;
  }

  /** Every pod that the sources named at first has been judged. Until then one may run already, under an earlier agent. */
  get allSeen(): boolean {
    return this.wholeSeen;
  }

  /** What a source changed; updates are worked off in their order. */
  take(update: PodConfigUpdate): void {
    this.queue.push(update);
    if (this.queue.length === 1) this.workOff();
  }

  private workOff(): void {
    for (let update = this.queue[0]; update !== undefined; update = this.queue[0]) {
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

  /** A new pod that plugins have to give devices before it is judged. */
  private wants({ op }: PodConfigUpdate, pod: Pod): boolean {
    return op === 'ADD' && !ends(pod) && !this.equipped.has(pod) && this.options.devices?.wants(pod) === true;
  }

  private async giveDevices({ pods }: PodConfigUpdate): Promise<void> {
    const { devices, refuses } = this.options;
    for (const pod of pods) {
      const refusal = refuses?.(pod) ?? null;
      const answer: Partial<GrantAnswer> | undefined =
        refusal === null
          ? await devices?.grant(pod).catch((error: unknown) => ({ problem: messageOf(error) }))
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
    this.options.admission.allSourcesSpoke();
  }

  /** Refusals of the update's new pods. */
  private judge({ op, pods }: PodConfigUpdate): Map<Pod, Refusal> {
    const { cluster } = this.options;
    const refused = new Map<Pod, Refusal>();
    for (const pod of pods) {
      if (op === 'REMOVE') continue;
      cluster?.objects.podWanted(pod);
      const verdict = op === 'ADD' && !ends(pod) ? judged(() => this.verdictOf(pod)) : null;
      if (verdict !== null) refused.set(pod, verdict);
      // Pods that come after one that displaces others are judged when these have gone.
      if (verdict?.preempt !== undefined) break;
    }
    return refused;
  }

  private verdictOf(pod: Pod): Refusal | null {
    const { admission, refuses } = this.options;
    const refusal = refuses?.(pod) ?? null;
    if (refusal !== null) return { ...refusal, retryWithFreshNode: false };
    const { refusal: unequipped = null, affinities } = this.equipped.get(pod) ?? {};
    return unequipped ?? admission.admit(pod, this.floor(pod), affinities);
  }

  /** The first pod of the update is critical, and others end for it: as with kubelet all that comes waits meanwhile. */
  private async makeRoom(update: PodConfigUpdate, verdicts: Map<Pod, Refusal>): Promise<void> {
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
    update: PodConfigUpdate,
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

  private tell(update: PodConfigUpdate, verdicts: ReadonlyMap<Pod, Refusal>): void {
    const { supervisor, metrics, now } = this.options;
    const rejections: Record<string, Rejection> = {};
    for (const [pod, { reason, message }] of verdicts) {
      rejections[pod.metadata?.uid ?? ''] = { reason, message };
      metrics.admissionRejections.inc({ reason: rejectionLabel(reason) });
    }
    const given = { ...update, pods: this.allocated(update, verdicts) };
    supervisor.take({ type: 'config', at: now(), update: given, ...(verdicts.size > 0 && { rejections }) });
    if (update.op === 'REMOVE') for (const pod of update.pods) this.removed(pod.metadata?.uid ?? '');
    if (update.op === 'ADD') this.options.admission.added();
    if (update.source !== 'api') this.tellStatics();
  }

  /** The update's pods as they are to run: with the resources that the node has set aside for them. */
  private allocated({ op, pods }: PodConfigUpdate, verdicts: ReadonlyMap<Pod, Refusal>): Pod[] {
    const { admission } = this.options;
    if (op === 'REMOVE') return pods;
    if (op !== 'ADD') return pods.map((pod) => admission.updated(pod));
    return pods.map((pod) => {
      const runs = !verdicts.has(pod) && !isTerminalPhase(pod.status?.phase);
      return runs ? admission.admitted(pod) : admission.arriving(pod);
    });
  }

  /** A pod's actor told how it stands. */
  reported(report: PodReport): void {
    this.options.admission.reported(report);
    this.options.room.reported(report);
  }

  private removed(uid: string): void {
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
function inParts(update: PodConfigUpdate, at: number): PodConfigUpdate[] {
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
function equipmentOf({ problem, reason, affinities = {} }: Partial<GrantAnswer>): {
  refusal: Refusal | null;
  affinities?: Affinities;
} {
  if (problem && reason !== undefined) return { refusal: { reason, message: problem, retryWithFreshNode: false } };
  if (problem) return { refusal: unexpected(new Error(problem)) };
  return { refusal: null, ...(Object.keys(affinities).length > 0 && { affinities }) };
}

/** As kubelet calls it when admission itself fails. */
function unexpected(error: unknown): Refusal {
  const message = `Allocate failed due to ${error instanceof Error ? error.message : String(error)}, which is unexpected`;
  return { reason: 'UnexpectedAdmissionError', message, retryWithFreshNode: false };
}
