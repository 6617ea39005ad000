import type { Logger } from 'pino';
import { podObject } from '../../../machines/protocol/recorded-event.ts';
import type { WithoutTime } from '../../../machines/protocol/without-time.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import type { KnownVolume } from '../../../machines/volume-manager/mount-context.ts';
import type { VolumeMessage } from '../../../machines/volume-manager/volume-messages.ts';
import type { VolumeOrder } from '../../../machines/volume-manager/volume-orders.ts';
import { NOT_ATTACHED, NOT_GROWN } from '../../../machines/volume-manager/volume-waits.ts';
import { failureReason } from '../../../machines/volumes/failure-reason.ts';
import { countedVolume } from './counted-volume.ts';
import type { CountedVolume, StorageOperations } from './storage-operations.ts';
import type { VolumeCalls, VolumeCallsOptions } from './volume-calls.ts';
import { VolumeFailure } from './volume-plugin.ts';

/** What {@link CallsUnderWay} works with. */
export interface CallsUnderWayOptions extends Pick<VolumeCallsOptions, 'record' | 'clock'> {
  log: Logger;
  operations: StorageOperations;
  /** The volume that an order is for, as it is counted. */
  counted: (order: CallOrder) => CountedVolume | null;
  /** What became of a call. */
  told: (message: WithoutTime<VolumeMessage>) => void;
}

/** An order that a plugin is called for; its key names it in what is told of it. */
export type CallOrder = Extract<VolumeOrder, { key: string }>;

/**
 * The calls of plugins that the volume manager's machine has ordered: each goes on by itself until it is over or given up, and is measured, logged and told as
 * kubelet's operation executor does.
 */
export class CallsUnderWay {
  private readonly options: CallsUnderWayOptions;
  private readonly calls: VolumeCalls;
  private readonly underWay = new Map<string, AbortController>();

  constructor(options: CallsUnderWayOptions, calls: VolumeCalls) {
    this.options = options;
    this.calls = calls;
  }

  /** Makes a call. Never rejects: what became of it is told. */
  async make(order: CallOrder): Promise<void> {
    const { key } = order;
    const { counted, operations } = this.options;
    const control = new AbortController();
    this.underWay.set(key, control);
    let began = performance.now();
    const seconds = (): number => (performance.now() - began) / 1000;
    const measure = (failed: boolean): void => {
      const volume = counted(order);
      if (volume !== null) operations.over(order.type, volume, seconds(), failed);
    };
    // An attachment is waited for by its plugin once the node's object names it; only that is a part of the mount.
    const seen = (): void => {
      const volume = counted(order);
      if (volume !== null) operations.verify(volume, seconds());
      began = performance.now();
    };
    let told: WithoutTime<VolumeMessage>;
    try {
      told = await this.outcome(order, control.signal, seen);
      measure(false);
    } catch (error) {
      const failure = error instanceof VolumeFailure ? error : null;
      const code = failure?.code ?? 'Volume';
      const text = messageOf(error);
      if (code !== NOT_ATTACHED) measure(code !== NOT_GROWN);
      this.tellFailure(order, { code, text, aborted: control.signal.aborted });
      told = { type: 'call.failed', key, code, text, done: failure?.done ?? true };
    } finally {
      this.underWay.delete(key);
    }
    this.options.told(told);
  }

  giveUp(key: string): void {
    this.underWay.get(key)?.abort();
  }

  /** The agent ends. */
  stop(): void {
    for (const call of this.underWay.values()) call.abort();
  }

  private tellFailure(
    order: CallOrder,
    { code, text, aborted }: { code: string; text: string; aborted: boolean },
  ): void {
    const { log, record, clock } = this.options;
    const { type, uid, volume, device } = order as { type: string; uid?: string; volume?: string; device?: string };
    if (code === NOT_GROWN) {
      log.debug({ podUID: uid, volume, device, why: text }, 'A volume is not made larger now');
      return;
    }
    log.error({ podUID: uid, volume, device, call: type, err: text }, 'A call for a volume failed');
    const reason = eventReason(order, text);
    if (reason === null || aborted) return;
    const object = podObject({ metadata: { ...this.calls.of(uid ?? '', volume ?? '')?.pod.metadata, uid: uid ?? '' } });
    record({ object, at: clock.now(), type: 'Warning', reason, message: text });
  }

  private async outcome(order: CallOrder, signal: AbortSignal, seen: () => void): Promise<WithoutTime<VolumeMessage>> {
    const { calls } = this;
    const { key } = order;
    switch (order.type) {
      case 'volume.resolve':
        return { type: 'volume.resolved', key, known: await this.resolved(order) };
      case 'volume.publish':
        return { type: 'volume.published', key, path: await calls.publish(order, signal) };
      case 'volume.unpublish':
        await calls.unpublish(order, signal);
        return { type: 'volume.unpublished', key };
      case 'device.attach': {
        const devicePath = await calls.attach(order, { signal, seen });
        return devicePath === null
          ? { type: 'device.attached', key, devicePath: '', unattachable: true }
          : { type: 'device.attached', key, devicePath };
      }
      case 'device.stage':
        return { type: 'device.staged', key, stagedPath: await calls.stage(order, signal) };
      case 'device.unstage':
        await calls.unstage(order, signal);
        return { type: 'device.unstaged', key };
      case 'device.expand':
        return { type: 'device.expanded', key, bytes: await calls.expand(order, signal) };
      case 'call.giveUp':
        throw new Error('no call of a plugin');
    }
  }

  private async resolved(order: Extract<VolumeOrder, { type: 'volume.resolve' }>): Promise<KnownVolume> {
    const known = await this.calls.resolve(order);
    const its = countedVolume(this.calls, { ...order, known });
    if (!known.attachable && its !== null) this.options.operations.verify(its, 0);
    return known;
  }
}

/** Reason of the event that tells a failure of what nobody waits for; null where the pod's own worker hears of it, and tells. */
function eventReason(order: CallOrder, text: string): string | null {
  if (order.type === 'device.expand') return 'VolumeResizeFailed';
  return order.type === 'volume.publish' && order.again ? failureReason(text) : null;
}
