import type { Logger } from 'pino';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { PodMessage } from '../../../machines/protocol/messages.ts';
import type { MountedVolume } from '../../../machines/protocol/volume-traits.ts';
import { rejectionLabel } from '../../../machines/admission/rejection.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import type { VolumeMessage } from '../../../machines/volume-manager/volume-messages.ts';
import type { VolumeOrder } from '../../../machines/volume-manager/volume-orders.ts';
import { nextVolumeDeadline } from '../../../machines/volume-manager/volume-manager-machine.ts';
import { NO_VOLUMES, mountId, volumesInUse } from '../../../machines/volume-manager/volume-manager-state.ts';
import type { VolumeManagerState } from '../../../machines/volume-manager/volume-manager-state.ts';
import { waitsForNode } from '../../../machines/volume-manager/volume-users.ts';
import { NO_ROOM, WAITING } from '../../../machines/volume-manager/volume-waits.ts';
import { lookEach } from '../../host/time/clock.ts';
import type { Clock, Timer } from '../../host/time/clock.ts';
import { SingleMachine } from '../../record/host/single-machine.ts';
import type { JournalSettings } from '../../record/journal/machine-journal.ts';
import { volumeManager } from '../../record/machines/volume-manager.ts';
import type { WithoutTime } from '../../../machines/protocol/without-time.ts';
import type { Metrics } from '../../record/metrics/metrics-registry.ts';
import type { ClaimedVolume } from '../stats/volume-usage.ts';
import { CallsUnderWay } from './calls-under-way.ts';
import { countedIn, countedVolume } from './counted-volume.ts';
import { measuredVolumes, pluginsOfVolumes, traitsOf } from './mounted-volumes.ts';
import { StorageOperations } from './storage-operations.ts';
import { countLabel } from './volume-label.ts';
import type { LabelMetric } from './volume-label.ts';
import { VolumeCalls } from './volume-calls.ts';
import type { VolumeCallsOptions } from './volume-calls.ts';
import { podFolders, stagedDevices, volumesInFolder } from './volume-folders.ts';

/** What the volume manager works with. */
export interface VolumeManagerOptions extends VolumeCallsOptions {
  /** To a pod's actor. */
  tell: (uid: string, message: PodMessage) => void;
  /** SELinux is on; when absent, it is not. */
  selinux?: boolean | undefined;
  /** What the node's status says of volumes in use changed. */
  changed: () => void;
  clock: Clock;
  log: Logger;
  metrics: Pick<Metrics, 'storageOperation' | 'volumeOperation' | 'admissionRejections' | LabelMetric>;
  /** Absent with `--no-journal`. */
  journal?: JournalSettings | undefined;
}

type Waiter<T> = { resolve: (result: T) => void; reject: (error: Error) => void };

/** How often volumes that are there are looked at again, ms: about as often as kubelet syncs a pod. */
const LOOK_MS = 60_000;

/** How often kubelet's pod worker looks whether its volumes are there, ms (podAttachAndMountRetryInterval). */
const WAIT_LOOK_MS = 300;

/** How long the machine is left alone after a message that it failed at, ms. */
const AFTER_FAILURE_MS = 1_000;

/** Longest wait of Node's timers, ms. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * Hosts the machine that decides of volumes which pods of the node may share (kubelet: volumemanager): workers ask it for them, plugins do what it
 * orders, and what became of that is told to it again. Each call runs by itself, so none holds up another.
 */
export class VolumeManager {
  private readonly options: VolumeManagerOptions;
  private readonly calls: VolumeCalls;
  private readonly operations: StorageOperations;
  private readonly machine: SingleMachine<VolumeManagerState, VolumeMessage, VolumeOrder>;
  private readonly underWay: CallsUnderWay;
  private readonly mounts = new Map<string, Waiter<string>[]>();
  private readonly leaves = new Map<string, Waiter<void>[]>();
  /** Pods that end: nobody waits for volumes of them, until they are taken down. */
  private readonly ending = new Set<string>();
  /** Pods of which a volume finds no room on the node. */
  private readonly rejected = new Set<string>();
  /** Pods whose workers soon wait no longer. */
  private readonly waitsEnd = new Map<string, NodeJS.Timeout>();
  private timer: NodeJS.Timeout | undefined;
  private looks: Timer | undefined;
  private stopped = false;

  constructor(options: VolumeManagerOptions) {
    this.options = options;
    this.calls = new VolumeCalls(options);
    this.operations = new StorageOperations(options.metrics);
    this.underWay = new CallsUnderWay(
      {
        ...{ ...options, operations: this.operations, counted: (order) => countedIn(this.calls, this.state, order) },
        told: (message) => this.take(message),
      },
      this.calls,
    );
    this.machine = new SingleMachine(volumeManager, NO_VOLUMES, options.journal ?? null);
  }

  get state(): VolumeManagerState {
    return this.machine.state;
  }

  /** Looks what earlier agents left on this node. */
  async start(): Promise<void> {
    const { rootDir, plugins } = this.options;
    if (plugins.length === 0) return;
    const pods: Extract<VolumeMessage, { type: 'node.found' }>['pods'] = [];
    for (const uid of await podFolders(rootDir)) {
      const volumes = await volumesInFolder(rootDir, uid, plugins);
      if (volumes.length > 0) pods.push({ uid, volumes });
    }
    this.looks = lookEach(this.options.clock, LOOK_MS, () => void this.look());
    const devices = await stagedDevices(plugins, this.options.labelRules !== undefined);
    if (pods.length + devices.length > 0) this.take({ type: 'node.found', pods, devices });
  }

  stop(): void {
    this.stopped = true;
    for (const timer of [this.timer, ...this.waitsEnd.values()]) clearTimeout(timer);
    this.looks?.cancel();
    this.underWay.stop();
    this.machine.close();
  }

  /** Has a pod's volume put where containers find it, and answers where. Rejects in kubelet's words, with a `code`. */
  mount(uid: string, volume: string): Promise<string> {
    if (this.ending.has(uid)) return Promise.reject(canceled());
    const { namespace = '', name = '' } = this.options.podOf(uid)?.metadata ?? {};
    const began = performance.now();
    return new Promise((settle, reject) => {
      const id = mountId(uid, volume);
      const isNew = this.state.mounts[id]?.value !== 'mounted';
      const resolve = (path: string): void => {
        const its = countedVolume(this.calls, { uid, volume });
        if (isNew && its !== null) this.operations.there(its, (performance.now() - began) / 1000);
        settle(path);
      };
      this.mounts.set(id, [...(this.mounts.get(id) ?? []), { resolve, reject }]);
      this.take({ type: 'volume.wanted', uid, pod: `${namespace}/${name}`, volume });
    });
  }

  /**
   * The pod is to end: whoever waits for a volume of it waits no longer, so that it is taken down at once, and a call that hangs is called off then
   * (kubelet waits for that call's own time limit). Its outcome is not known then: the volume counts as one that may be there.
   */
  podEnds(uid: string): void {
    this.ending.add(uid);
    for (const [id, waiters] of [...this.mounts]) {
      if (!id.startsWith(`${uid}/`)) continue;
      this.mounts.delete(id);
      for (const { reject } of waiters) reject(canceled());
    }
  }

  /** Nobody asks for anything of this pod any more. */
  podGone(uid: string): void {
    this.ending.delete(uid);
    this.rejected.delete(uid);
    clearTimeout(this.waitsEnd.get(uid));
    this.waitsEnd.delete(uid);
  }

  /** What kubelet calls a volume of a pod: its PV's name, or its own; null when it was not looked up. */
  nameOf(uid: string, volume: string): string | null {
    return this.calls.of(uid, volume)?.spec.name ?? null;
  }

  /** What containers must know of a volume of a pod that is there, at this path. */
  async traitsOf(uid: string, volume: string, path: string): Promise<Omit<MountedVolume, 'path'>> {
    const its = this.calls.of(uid, volume);
    return its === undefined ? {} : traitsOf(its, path, this.options.selinux === true);
  }

  /** Has all of a pod's volumes taken away, those of earlier agents too. Rejects when one of them stays. */
  async unmount(uid: string): Promise<void> {
    const { rootDir, plugins } = this.options;
    const found = await volumesInFolder(rootDir, uid, plugins);
    // Most pods have none.
    if (found.length === 0 && !Object.values(this.state.mounts).some(({ context }) => context.uid === uid)) {
      this.ending.delete(uid);
      return;
    }
    await new Promise<void>((resolve, reject) => {
      this.leaves.set(uid, [...(this.leaves.get(uid) ?? []), { resolve, reject }]);
      this.take({ type: 'pod.left', uid, found });
    });
    this.ending.delete(uid);
  }

  /** The node's object may be another: devices that wait until it names them are looked at at once (kubelet: ten times a second). */
  nodeTold(): void {
    const waiting = Object.entries(this.state.devices).filter(([, place]) => waitsForNode(place));
    if (waiting.length === 0) return;
    const named = this.options.attached.named();
    const devices = waiting.map(([device]) => device).filter((device) => named.has(device));
    if (devices.length > 0) this.take({ type: 'node.told', devices });
  }

  /** For the status of the node's object. */
  inUse(): string[] {
    return volumesInUse(this.state);
  }

  /** Volumes of a pod whose use can be told. */
  measured({ metadata }: Pod): ClaimedVolume[] {
    return measuredVolumes(this.state, this.calls, metadata?.uid ?? '');
  }

  /** How many volumes of each plugin are wanted, and are there; for metrics. */
  plugins(): { wanted: string[]; there: string[] } {
    return pluginsOfVolumes(this.state, this.calls);
  }

  private take(message: WithoutTime<VolumeMessage>): void {
    if (this.stopped) return;
    const { log, clock } = this.options;
    const whole = { ...message, at: clock.now() } as VolumeMessage;
    const failure = this.machine.handle(whole, log, (order) => this.carryOut(order));
    const { mounts, devices } = this.state;
    this.calls.keep(mounts);
    this.operations.keep((id) => Object.hasOwn(mounts, id) || Object.hasOwn(devices, id));
    this.setTimer(failure === null ? 0 : AFTER_FAILURE_MS);
    if (failure !== null) this.failed(message, failure);
  }

  /** Whoever waits for what the machine failed at is told. Of a call that is over its worker hears nothing more: its own patience ends that. */
  private failed(message: WithoutTime<VolumeMessage>, { message: text }: Error): void {
    const code = 'Volume';
    if (message.type === 'volume.wanted') this.refuse({ ...message, code, text });
    if (message.type === 'pod.left') this.left({ uid: message.uid, problem: { code, text } });
  }

  /** Has a claim grown, or does a driver want its volume published anew? What cannot be looked up now is left as it is. */
  private async look(): Promise<void> {
    for (const { value, context } of Object.values(this.state.mounts)) {
      const { uid, volume } = context;
      const its = this.calls.of(uid, volume);
      if (value !== 'mounted' || its === undefined || this.stopped) continue;
      try {
        if ((await its.plugin.republishes?.(its.spec)) === true) this.take({ type: 'volume.stale', uid, volume });
        if (its.spec.pv === null || its.plugin.expand === undefined) continue;
        const { wantedBytes, knownBytes } = await this.calls.resolve({ uid, volume });
        const { known } = this.state.mounts[mountId(uid, volume)]?.context ?? {};
        if (known?.wantedBytes !== wantedBytes || known.knownBytes !== knownBytes)
          this.take({ type: 'volume.grown', uid, volume, wantedBytes, knownBytes });
      } catch (error) {
        this.options.log.debug({ podUID: uid, volume, err: messageOf(error) }, 'A volume could not be looked up again');
      }
    }
  }

  /** @param leastMs so long it is not told: a deadline that it cannot take in would be due again at once */
  private setTimer(leastMs: number): void {
    clearTimeout(this.timer);
    const due = nextVolumeDeadline(this.state);
    if (due === null || this.stopped) return;
    const wait = Math.min(Math.max(leastMs, due - this.options.clock.now()), LONGEST_MS);
    this.timer = setTimeout(() => this.take({ type: 'timer' }), wait).unref();
  }

  private carryOut(order: VolumeOrder): void {
    switch (order.type) {
      case 'call.giveUp':
        this.underWay.giveUp(order.key);
        break;
      case 'node.tell':
        this.options.changed();
        break;
      case 'worker.mounted': {
        const id = mountId(order.uid, order.volume);
        const waiters = this.mounts.get(id) ?? [];
        this.mounts.delete(id);
        for (const { resolve } of waiters) resolve(order.path);
        // Its worker was told of a failure before: it need not wait out its own delay.
        if (waiters.length === 0) this.options.tell(order.uid, { type: 'pod.refresh', at: this.options.clock.now() });
        break;
      }
      case 'worker.failed':
        if (order.code === WAITING.unattached) void this.unattached(order);
        else this.refuse(order);
        if (order.code === WAITING.unprocessed) this.waitEndsSoon(order.uid);
        break;
      case 'worker.left':
        this.left(order);
        break;
      case 'label.counted': {
        const its = this.calls.of(order.uid, order.volume);
        if (its !== undefined) countLabel(this.options, its, order.what);
        break;
      }
      default:
        void this.underWay.make(order);
    }
  }

  private left({ uid, problem }: { uid: string; problem: { code: string; text: string } | null }): void {
    const waiters = this.leaves.get(uid) ?? [];
    this.leaves.delete(uid);
    for (const { resolve, reject } of waiters)
      if (problem === null) resolve();
      else reject(coded(problem.code, problem.text));
  }

  /** Kubelet's pod worker looks for volumes that could not be processed as long as it waits, and gives up all with the first: at its next look. */
  private waitEndsSoon(uid: string): void {
    if (this.waitsEnd.has(uid)) return;
    const take = (): void => {
      this.waitsEnd.delete(uid);
      this.take({ type: 'wait.over', uid });
    };
    this.waitsEnd.set(uid, setTimeout(take, WAIT_LOOK_MS).unref());
  }

  private refuse({ uid, volume, code, text }: { uid: string; volume: string; code: string; text: string }): void {
    const id = mountId(uid, volume);
    const waiters = this.mounts.get(id) ?? [];
    this.mounts.delete(id);
    for (const { reject } of waiters) reject(coded(code, text));
  }

  /** It was not attached in time. Where the node has no room for it no wait helps: its pod is rejected, which counts once. */
  private async unattached(order: Extract<VolumeOrder, { type: 'worker.failed' }>): Promise<void> {
    const { uid, volume } = order;
    if (!(await this.calls.foundNoRoom(order)) || !this.mounts.has(mountId(uid, volume))) {
      this.refuse(order);
      return;
    }
    if (!this.rejected.has(uid)) this.options.metrics.admissionRejections.inc({ reason: rejectionLabel(NO_ROOM) });
    this.rejected.add(uid);
    this.refuse({ ...order, code: NO_ROOM });
  }
}

/** The code is the one with which other work on a pod's volumes ends when the pod does. */
function canceled(): Error {
  return coded('Canceled', 'the pod is to end');
}

function coded(code: string, text: string): Error & { code: string } {
  return Object.assign(new Error(text), { code });
}
