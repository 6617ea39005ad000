import { rejectionLabel } from '../../machines/admission/rejection.ts';
import type { Pod } from '../../machines/protocol/api-types.ts';
import type { Hold } from '../../machines/protocol/hold.ts';
import type { PodConfigUpdate } from '../../machines/sources/pod-config.ts';
import { isTerminalPhase } from '../../machines/status/phase.ts';
import type { Rejection } from '../../machines/supervisor/tracked-pod.ts';
import type { PodSources } from '../pods/sources/pod-sources.ts';
import type { Supervisor } from '../pods/supervisor/supervisor.ts';
import type { Metrics } from '../record/metrics/metrics-registry.ts';
import type { MakeRoom } from '../resources/admission/make-room.ts';
import type { NodeAdmission } from '../resources/admission/node-admission.ts';
import type { Refusal } from '../resources/admission/verdict.ts';
import type { ClaimManager } from '../resources/claims/claim-manager.ts';
import type { DeviceManager } from '../resources/devices/device-manager.ts';
import type { Cluster } from './cluster.ts';
import type { HeldPods } from './held-pods.ts';
import type { PodEquipment } from './pod-equipment.ts';

/** An update of a source; `again`: its one pod is not new, it has waited for a plugin. */
export type JudgedUpdate = PodConfigUpdate & { again?: true };

/** Who hears of pods that come, change and go. */
export interface JudgedPodsOptions {
  supervisor: Supervisor;
  /** Null on a standalone node. */
  cluster: Cluster | null;
  admission: NodeAdmission;
  /** Ends pods for a critical one. */
  room: MakeRoom;
  /** Who gives devices back; null or absent where none can come. */
  devices?: Pick<DeviceManager, 'gone'> | null;
  /** Who gives claims back; null or absent where no driver can come. */
  claims?: Pick<ClaimManager, 'gone'> | null;
  metrics: Metrics;
  now: () => number;
  sources: () => PodSources;
}

/** Tells the supervisor, and all others who must know, of pods that were judged, that changed and that have gone. */
export class JudgedPods {
  private readonly options: JudgedPodsOptions;
  private readonly equipment: PodEquipment;
  private readonly held: HeldPods;

  constructor(options: JudgedPodsOptions, equipment: PodEquipment, held: HeldPods) {
    this.options = options;
    this.equipment = equipment;
    this.held = held;
  }

  /** All pods of an update have been judged: those in `verdicts` are refused. */
  judged(update: JudgedUpdate, verdicts: ReadonlyMap<Pod, Refusal>): void {
    const { supervisor, now } = this.options;
    const rejections = this.rejectionsOf(verdicts);
    const pods = this.allocated(update, verdicts);
    const { again, ...rest } = update;
    if (again === true) {
      this.judgedAgain(update, pods, rejections);
      return;
    }
    const holds = this.holdsOf(update);
    const more = {
      ...(verdicts.size > 0 && { rejections }),
      ...(Object.keys(holds).length > 0 && { holds }),
    };
    const failure = supervisor.take({ type: 'config', at: now(), update: { ...rest, pods }, ...more });
    // One that the machine fails at is not to cost the others of its update.
    if (failure !== null && pods.length > 1)
      for (const pod of pods) supervisor.take({ type: 'config', at: now(), update: { ...rest, pods: [pod] }, ...more });
    if (update.op === 'REMOVE') for (const pod of update.pods) this.removed(pod.metadata?.uid ?? '');
    else if (update.op !== 'ADD') for (const pod of update.pods) this.held.changed(pod);
    if (update.op === 'ADD') this.options.admission.added();
    if (update.source !== 'api') this.statics();
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
  private holdsOf({ op, source, pods }: JudgedUpdate): Record<string, Hold> {
    const holds: Record<string, Hold> = {};
    if (op !== 'ADD') return holds;
    for (const pod of pods) {
      const waits = this.equipment.waitOf(pod);
      if (waits === undefined) continue;
      this.held.hold(source, pod, waits);
      holds[pod.metadata?.uid ?? ''] = { message: waits.message, until: waits.until };
    }
    return holds;
  }

  /** A pod that waited has been asked about again: it goes on to, or is judged. */
  private judgedAgain(
    { source, pods: [asked] }: JudgedUpdate,
    [pod]: Pod[],
    rejections: Record<string, Rejection>,
  ): void {
    if (asked === undefined || pod === undefined) return;
    const uid = asked.metadata?.uid ?? '';
    const waits = this.equipment.waitOf(asked);
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
  private allocated({ op, pods }: JudgedUpdate, verdicts: ReadonlyMap<Pod, Refusal>): Pod[] {
    const { admission } = this.options;
    if (op === 'REMOVE') return pods;
    if (op !== 'ADD') return pods.map((pod) => admission.updated(pod));
    return pods.map((pod) => {
      const runs =
        !verdicts.has(pod) && this.equipment.waitOf(pod) === undefined && !isTerminalPhase(pod.status?.phase);
      return runs ? admission.admitted(pod) : admission.arriving(pod);
    });
  }

  private removed(uid: string): void {
    this.held.release(uid);
    this.options.admission.removed(uid, this.options.supervisor.tracks(uid));
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

  /** Which static pods there are. Also called when the last source has spoken: only then may the mirror of an unknown one go. */
  statics(): void {
    const { cluster } = this.options;
    const sources = this.options.sources();
    cluster?.staticPods(sources.staticPods(), sources.allSourcesReady());
  }
}
