import type { Logger } from 'pino';
import { changesNothing } from '../../../machines/admission/admission-machine.ts';
import type {
  AdmissionMessage,
  AdmissionOrder,
  HeldDevices,
  Refusals,
  Victim,
} from '../../../machines/admission/admission-messages.ts';
import type { AdmissionRules } from '../../../machines/admission/admission-rules.ts';
import { bornAdmission } from '../../../machines/admission/admission-state.ts';
import type { AdmissionState, RetryTrigger } from '../../../machines/admission/admission-state.ts';
import { arriving } from '../../../machines/admission/judge.ts';
import { claimOf, nodeClaim, statusClaim } from '../../../machines/admission/pod-claim.ts';
import { FIRST_RETRY_MS, running } from '../../../machines/admission/resize-turns.ts';
import type { HeldHints } from '../../../machines/resource-managers/topology/hints.ts';
import type { Node } from '../../../machines/node-object/node-types.ts';
import type { Pod, PodStatus } from '../../../machines/protocol/api-types.ts';
import type { PodMemory } from '../../../machines/protocol/memory.ts';
import { withActuated } from '../../../machines/resize/actuated.ts';
import { withPending } from '../../../machines/resize/resize-conditions.ts';
import { isTerminalPhase } from '../../../machines/status/phase.ts';
import { atUid, uidEntries } from '../../../machines/supervisor/uid-table.ts';
import type { PodEventReport, PodReport } from '../../pods/shard/shard-protocol.ts';
import { SingleMachine } from '../../record/host/single-machine.ts';
import type { JournalSettings } from '../../record/journal/machine-journal.ts';
import { admission } from '../../record/machines/admission.ts';
import { LeftBehind } from './left-behind.ts';
import type { ManagerMetrics } from './manager-metrics.ts';
import { NodeResources } from './node-resources.ts';
import { verdictOf } from './verdict.ts';
import type { Refusal, Verdict } from './verdict.ts';
import type { Affinities } from '../../../machines/resource-managers/admit-resources.ts';
import type { WithoutTime } from '../../../machines/protocol/without-time.ts';
import type { AdmissionMetrics } from './admission-metrics.ts';
import { measureOrder, ResizeCounts } from './admission-metrics.ts';
import { AllocationFiles } from './allocation-files.ts';
import { countAdmission, countAsked } from './manager-metrics.ts';

/** What admission works with. */
export interface NodeAdmissionOptions {
  rules: AdmissionRules;
  /** The own Node as the watch last told it, or as it would register; null where neither is known. */
  node: () => Node | null;
  /** The own Node as the API server has it this moment; null when it cannot be asked. */
  freshNode: () => Promise<Node | null>;
  rootDir: string;
  log: Logger;
  now: () => number;
  metrics: AdmissionMetrics & ManagerMetrics;
  record: (event: PodEventReport) => void;
  sourcesReady: () => boolean;
  /** Why one of the node's managers would not take a pod as it wishes to be. Absent: there are none. */
  refuses?: (pod: Pod) => { message: string } | null;
  /** Where the devices that a pod has let it be; null where they do not matter. Absent: it has none. */
  held?: (pod: Pod) => HeldHints | null;
  /** The pod as it is to run has changed. */
  changed: (pod: Pod) => void;
  /** Ends pods for the resize of a critical one, and then calls {@link NodeAdmission.roomMade}. */
  makeRoom: (pod: Pod, victims: readonly Victim[], signal: string) => void;
  /** CPUs that containers share are others now: all pods must hear of it ({@link NodeResources.grantsOf}). */
  grantsChanged?: () => void;
  /** Where messages are journaled; absent with `--no-journal`. */
  journal?: JournalSettings;
}

/**
 * Hosts the machine that says which pods the node takes and what it sets aside for them: tells it what comes, and carries out
 * what it orders. It keeps the pods themselves, since the machine knows their claims only.
 */
export class NodeAdmission {
  private readonly options: NodeAdmissionOptions;
  private readonly machine: SingleMachine<AdmissionState, AdmissionMessage, AdmissionOrder>;
  private readonly files: AllocationFiles;
  private readonly resizes: ResizeCounts;
  /** Who has which CPUs and memory. */
  readonly resources: NodeResources;
  /** Pods that something is set aside for, as their sources want them. */
  private readonly wanted = new Map<string, Pod>();
  private readonly leftBehind = new LeftBehind();
  /** The own Node that the machine was last told of. */
  private node: Node | null = null;
  private timer: NodeJS.Timeout | undefined;
  /** When the message at hand came, ms of a clock that nobody sets. */
  private began = 0;

  constructor(options: NodeAdmissionOptions) {
    this.options = options;
    const { rules, rootDir, log, metrics, journal, grantsChanged } = options;
    this.resizes = new ResizeCounts(metrics);
    this.machine = new SingleMachine(admission, bornAdmission(rules), journal ?? null);
    this.files = new AllocationFiles(rootDir, log, () => this.state);
    this.resources = new NodeResources({
      ...{ rules: rules.resources, rootDir, log, metrics, grantsChanged },
      managed: () => this.state.managed,
      arriving: (pod) => this.arriving(pod),
    });
    const managed = this.resources.found();
    if (managed !== null) this.take({ type: 'managed.found', managed });
    const found = this.files.found();
    if (found !== null) this.take({ type: 'checkpoint.found', ...found });
    this.retryIn(FIRST_RETRY_MS);
  }

  /**
   * Null when the node takes the pod, which is counted from now on; else why not. `floor`: devices that pods have already, this one
   * among them, which the node has even if its object does not say so.
   */
  admit(pod: Pod, floor: Record<string, number> | null = null, affinities?: Affinities): Verdict {
    this.lookAtNode();
    const began = performance.now();
    const verdict = verdictOf(
      this.take({ type: 'pod.asks', pod: claimOf(pod), ...(floor && { floor }), ...(affinities && { affinities }) }),
    );
    if (verdict?.reason !== 'SysctlForbidden') countAsked(this.options.metrics, performance.now() - began);
    return verdict;
  }

  /** Once more with the node of this moment: the scheduler may have seen a label that has not come by watch yet. */
  async admitAfterAll(
    pod: Pod,
    refused: Refusal,
    floor: Record<string, number> | null = null,
    affinities?: Affinities,
  ): Promise<Verdict> {
    const node = await this.options.freshNode();
    if (node === null) return refused;
    const asks = { type: 'pod.asks' as const, pod: claimOf(pod), node: nodeClaim(node) };
    return verdictOf(this.take({ ...asks, ...(floor && { floor }), ...(affinities && { affinities }) }, true));
  }

  /** Once more when pods have gone for it: what they held is its, whatever came meanwhile. */
  admitAfterRoom(pod: Pod, affinities?: Affinities): Verdict {
    this.lookAtNode();
    const more = { roomMade: true as const, ...(affinities && { affinities }) };
    return verdictOf(this.take({ type: 'pod.asks', pod: claimOf(pod), ...more }, true));
  }

  /** A pod that comes, as it is to run: with what was allocated to it, by an earlier agent too. Not kept yet: see {@link admitted}. */
  arriving(pod: Pod): Pod {
    return arriving(this.state, pod);
  }

  /** The node has taken the pod (given as it came): what it runs with is allocated. Returns it as it is to run. */
  admitted(pod: Pod): Pod {
    const given = this.arriving(pod);
    this.wanted.set(uidOf(pod), pod);
    this.take({ type: 'pod.comes', pod: claimOf(pod) });
    return withPending(given, atUid(this.state.pods, uidOf(pod))?.pending ?? undefined);
  }

  /** A newer version of a known pod. Returns it as it is to run; a wish that can be granted is granted at once. */
  updated(pod: Pod): Pod {
    if (atUid(this.state.pods, uidOf(pod)) === undefined) return pod;
    this.wanted.set(uidOf(pod), pod);
    this.lookAtNode();
    this.takeNews({ type: 'pod.changed', pod: claimOf(pod), ...this.chances(uidOf(pod)) });
    return this.running(uidOf(pod)) ?? pod;
  }

  /** The memory that a pod's actor starts with, with what an earlier agent's checkpoint knows of a resize. */
  remembered(pod: Pod, memory: PodMemory | null): PodMemory | null {
    return withActuated(
      memory,
      pod,
      atUid(this.state.actuatedBefore, uidOf(pod)),
      this.options.now(),
      this.options.rules,
    );
  }

  /** A pod's actor told how it stands. */
  reported({ uid, status, state, memory }: PodReport): void {
    // Told in the place of a machine that it has not for a while.
    if (memory === null) return;
    const { resize } = memory;
    const over = state.startsWith('terminated.');
    const ended = isTerminalPhase(status.phase) || over;
    this.takeNews({
      ...{ type: 'pod.reported', uid, status: statusClaim(status), generation: status.observedGeneration ?? 0 },
      ...(resize && { resize }),
      ...(this.freesMemory(uid, status) && { initialized: true }),
      ended,
      ...(ended && !over && { runs: true as const }),
    });
  }

  /** Init containers that have memory of their own have ended. */
  private freesMemory(uid: string, { conditions }: PodStatus): boolean {
    if (atUid(this.resources.state?.memory?.pods ?? {}, uid) === undefined) return false;
    return conditions?.some(({ type, status }) => type === 'Initialized' && status === 'True') === true;
  }

  /**
   * All sources have spoken once: what earlier agents left of pods that no source names is forgotten. One of which the runtime may hold something keeps its
   * CPUs and memory until it is gone ({@link gone}), or until a list of the runtime does not have it ({@link listed}).
   */
  allSourcesSpoke(held: readonly string[], mayRun: (uid: string) => boolean): void {
    const unnamed = (uid: string): boolean => atUid(this.state.pods, uid) === undefined && !held.includes(uid);
    const left = this.resources.owners.filter((uid) => unnamed(uid) && mayRun(uid));
    this.leftBehind.begin(left);
    this.take({ type: 'sources.spoke', ...(held.length > 0 && { held }), ...(left.length > 0 && { left }) });
  }

  /** Of these pods the runtime holds something. `known`: whose end this agent will be told of. */
  listed(pods: { has(uid: string): boolean }, known: () => readonly string[]): void {
    if (this.leftBehind.any) for (const uid of this.leftBehind.take(known(), pods)) this.gone(uid);
  }

  /** Pods have come: resizes that waited under an earlier agent are looked at. */
  added(): void {
    this.lookAtNode();
    this.takeNews({ type: 'pods.came', ...this.chances() });
  }

  /** Pods have gone for this one's resize, or did not in time. */
  roomMade(uid: string): void {
    this.lookAtNode();
    this.take({ type: 'room.made', uid, ...this.chances() });
  }

  /** UIDs of pods that were taken and have not ended. */
  active(): string[] {
    return uidEntries(this.state.pods).flatMap(([uid, { terminal }]) => (terminal ? [] : [uid]));
  }

  /**
   * The pod's source gave it up: what it asked for counts no more, though it may still be stopping (kubelet GetActivePods). `runs`: its
   * containers may, so that its CPUs and memory are its own until it is gone, where kubelet gives them to the next pod.
   */
  removed(uid: string, runs: boolean): void {
    this.takeNews({ type: 'pod.removed', uid, ...(runs && { runs }) });
  }

  /** The pod is gone. */
  gone(uid: string): void {
    this.takeNews({ type: 'pod.gone', uid });
    this.wanted.delete(uid);
  }

  /** Writes what still waits, and closes the journal: what comes later stands in none. */
  stop(): void {
    this.resources.stop();
    this.close();
    this.files.close();
  }

  /** The agent dies: its files stay as they are. */
  close(): void {
    clearTimeout(this.timer);
    this.resources.close();
    this.machine.close();
  }

  private get state(): AdmissionState {
    return this.machine.state;
  }

  /** The pod as it is to run. */
  private running(uid: string): Pod | undefined {
    const [pod, known] = [this.wanted.get(uid), atUid(this.state.pods, uid)];
    return pod && known && running(pod, known, this.options.rules);
  }

  /** The Node may have changed since it was last looked at. */
  private lookAtNode(): void {
    const node = this.options.node();
    if (node === this.node) return;
    this.node = node;
    const claim = node && nodeClaim(node);
    if (JSON.stringify(claim) !== JSON.stringify(this.state.node)) this.take({ type: 'node.told', node: claim });
  }

  /** Most of what is told again and again says nothing new. */
  private takeNews(message: WithoutTime<AdmissionMessage>): void {
    const whole = { ...message, at: this.options.now() } as AdmissionMessage;
    if (!changesNothing(this.state, whole)) this.take(message);
  }

  /** @param again a pod is judged once more: kubelet's managers were asked once for it, and count it once */
  private take(message: WithoutTime<AdmissionMessage>, again = false): AdmissionOrder[] {
    const { managed } = this.state;
    const { type, ...rest } = message;
    this.began = performance.now();
    const orders = this.machine.take({ type, at: this.options.now(), ...rest } as AdmissionMessage);
    const due = again ? orders.filter((order) => order.type !== 'managers.counted') : orders;
    for (const order of due) this.machine.carriedOut(order, this.options.log, (its) => this.follow(its));
    this.resizes.count(this.state.pods);
    if (this.state.managed !== managed) this.resources.changedSince(managed);
    return orders;
  }

  private follow(order: AdmissionOrder): void {
    measureOrder(this.options.metrics, order);
    switch (order.type) {
      case 'checkpoint.write':
        this.files.write(order);
        break;
      case 'pod.runs': {
        const pod = this.running(order.uid);
        if (pod !== undefined) this.options.changed(pod);
        break;
      }
      case 'event.record': {
        const { uid, reason, message } = order;
        const { namespace = '', name = '' } = this.wanted.get(uid)?.metadata ?? {};
        this.options.record({ uid, namespace, name, at: this.options.now(), type: 'Warning', reason, message });
        break;
      }
      case 'resize.preempts': {
        const { uid, victims, signal } = order;
        this.options.makeRoom(this.wanted.get(uid) ?? { metadata: { uid } }, victims, signal);
        break;
      }
      case 'managers.asked':
        countAsked(this.options.metrics, performance.now() - this.began);
        break;
      case 'managers.counted':
        countAdmission(this.options.metrics, order.counts);
        break;
      case 'retry.soon':
        queueMicrotask(() => this.retry(order.trigger));
        break;
      case 'retry.in':
        this.retryIn(order.ms);
        break;
      // Verdicts are the answer to who asks, and the rest is counted.
      default:
        break;
    }
  }

  private retryIn(ms: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.retry('periodic_retry'), ms);
    this.timer.unref();
  }

  private retry(trigger: RetryTrigger): void {
    try {
      this.lookAtNode();
      this.take({ type: 'resizes.due', trigger, ...this.chances() });
    } catch (err) {
      // A timer's: nobody else would take it. What waits is tried again.
      this.options.log.error({ err }, 'Resizes that wait could not be looked at');
      this.retryIn(FIRST_RETRY_MS);
    }
  }

  /** Whether resizes are looked at now, and which of them managers refuse: those that wait, and that of one more pod. */
  private chances(more?: string): { ready: boolean; refusals?: Refusals; held?: HeldDevices } {
    const refusals: Record<string, string> = {};
    const held: Record<string, HeldHints> = {};
    for (const uid of [...this.state.waiting, ...(more === undefined ? [] : [more])]) {
      const pod = this.wanted.get(uid);
      const refusal = pod && this.options.refuses?.(pod);
      if (refusal) refusals[uid] = refusal.message;
      const hints = pod && this.options.held?.(pod);
      if (hints) held[uid] = hints;
    }
    return {
      ready: this.options.sourcesReady(),
      ...(Object.keys(refusals).length > 0 && { refusals }),
      ...(Object.keys(held).length > 0 && { held }),
    };
  }
}

function uidOf(pod: Pod): string {
  return pod.metadata?.uid ?? '';
}
