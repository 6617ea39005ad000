import type { Logger } from 'pino';
import { isInfeasible } from '../../../machines/csi/call-outcome.ts';
import { podObject } from '../../../machines/protocol/recorded-event.ts';
import type { RecordedEvent } from '../../../machines/protocol/recorded-event.ts';
import type { PersistentVolumeClaim } from '../../../machines/protocol/storage-types.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { parseBytes } from '../../../machines/values/quantity.ts';
import { NOT_GROWN } from '../../../machines/volume-manager/volume-waits.ts';
import { claimGrowth, isAtLeast } from '../../../machines/volumes/claim-growth.ts';
import type { ClaimGrowth } from '../../../machines/volumes/claim-growth.ts';
import { failedGrowthPatch, growingClaimPatch, grownClaimPatch } from '../../../machines/volumes/grown-claim.ts';
import { codeOf } from '../../host/files/host-failure.ts';
import type { LookedUp } from './looked-up.ts';
import type { StorageObjects } from './resolve-volume.ts';
import { VolumeFailure } from './volume-plugin.ts';
import type { ExpandCall } from './volume-plugin.ts';

/** What the growth of volumes needs of the node. */
export interface GrowthOptions {
  /** Null on a standalone node. */
  objects: () => StorageObjects | null;
  record: (event: RecordedEvent) => void;
  clock: { now: () => number };
  log: Logger;
}

/** Where a volume is that grows. */
export type GrowthPlace = Pick<ExpandCall, 'stagedPath' | 'publishedPath' | 'devicePath' | 'signal'>;

type Grow = Extract<ClaimGrowth, { may: 'grow' }>;

/**
 * The node's part in making claims' volumes larger (kubelet: NodeExpander, expandVolumeDuringMount, nodeExpandVolume). Whether it is the node's turn, for
 * which size, and how far it came is said in the claim's status, so it is all that an agent needs which begins after one that died. Of one device
 * there is one growth at a time.
 */
export class ClaimGrower {
  private readonly options: GrowthOptions;
  private readonly turns = new Map<string, Promise<unknown>>();
  /** How large this node has made devices, bytes. */
  private readonly sizes = new Map<string, number>();
  /** Devices of which a growth has failed here. */
  private readonly failed = new Set<string>();
  /** Devices whose driver does not make them larger while pods have them. */
  private readonly stuck = new Set<string>();

  constructor(options: GrowthOptions) {
    this.options = options;
  }

  /** Forgets devices that no volume is on any more. */
  keep(devices: ReadonlySet<string>): void {
    for (const known of [this.sizes, this.failed, this.stuck])
      for (const device of known.keys()) if (!devices.has(device)) known.delete(device);
  }

  /** Before containers find it. Rejects when it could not be made larger, and is to be tried again. */
  async atMount(its: LookedUp, place: GrowthPlace): Promise<void> {
    const { spec, device } = its;
    const wanted = await wantedOf(its);
    if (wanted === null || isAtLeast(spec.claim?.status?.capacity?.['storage'], wanted)) return;
    if (spec.readOnly) {
      const text = `MountVolume.NodeExpandVolume failed for volume "${spec.name}" requested read-only file system`;
      this.tell(its, spec.claim, 'Warning', 'FileSystemResizeFailed', text);
      return;
    }
    await this.inTurn(device, place.signal, async () => {
      const claim = await this.claimNow(its);
      const capacity = claim.status?.capacity?.['storage'];
      if (isAtLeast(capacity, wanted)) return;
      const storage = await this.expand(its, claim, { ...place, oldBytes: bytesOf(capacity) }, wanted).catch(
        (error: unknown) => {
          if (codeOf(error) === NOT_GROWN) return null;
          throw error;
        },
      );
      if (storage !== null) this.sizes.set(device, bytesOf(storage));
    });
  }

  /** While pods have it. Answers its size, bytes; rejects with code {@link NOT_GROWN} when that is no failure. */
  async inUse(its: LookedUp, place: GrowthPlace & { oldBytes: number; newBytes: number }): Promise<number> {
    const { device } = its;
    const wanted = await wantedOf(its);
    if (wanted === null) throw notGrown('the node has no part in it');
    return this.inTurn(device, place.signal, async () => {
      const known = this.sizes.get(device) ?? 0;
      if (known >= place.newBytes) return known;
      if (this.stuck.has(device)) throw notGrown('its driver does not make it larger while a pod has it');
      const storage = await this.expand(its, await this.claimNow(its), place, wanted);
      const bytes = bytesOf(storage);
      this.sizes.set(device, bytes);
      if (bytes < place.newBytes) throw notGrown(`the claim is of ${storage} only`);
      return bytes;
    });
  }

  /** Answers how large the volume is now. */
  private async expand(
    its: LookedUp,
    claim: PersistentVolumeClaim,
    { oldBytes, ...place }: GrowthPlace & { oldBytes: number },
    wanted: string,
  ): Promise<string> {
    const { spec, pod, plugin, device } = its;
    const growth = claimGrowth(claim, wanted, this.failed.has(device));
    if (growth.may === 'nothing') return growth.storage;
    if (growth.may === 'wait')
      throw notGrown(
        `NodeExpandVolume is not allowed to proceed for volume ${device} with resizeStatus ${growth.resizeStatus}`,
      );
    const marked = growth.silent || growth.told ? claim : await this.patch(claim, growingClaimPatch(claim));
    try {
      const { stagedPath, publishedPath, devicePath, signal } = place;
      const newBytes = bytesOf(growth.storage);
      await plugin.expand?.({ spec, stagedPath, publishedPath, devicePath, signal, oldBytes, newBytes });
    } catch (error) {
      if (place.signal.aborted) throw error;
      return await this.expandFailed(its, marked, growth, error);
    }
    const text = `MountVolume.NodeExpandVolume succeeded for volume "${spec.name}" ${pod.spec?.nodeName ?? ''}`;
    this.tell(its, marked, 'Normal', 'FileSystemResizeSuccessful', text);
    if (!growth.told) await this.finish(marked, growth);
    return growth.storage;
  }

  /** The claim is told why; a driver that does not do it in use, or not at all for what the claim has, has not failed. */
  private async expandFailed(
    { device }: LookedUp,
    claim: PersistentVolumeClaim,
    { storage, silent, told, overtaken }: Grow,
    error: unknown,
  ): Promise<string> {
    const code = codeOf(error);
    if (code === 'NotSupported' && (told || silent)) return storage;
    if (!silent) {
      this.failed.add(device);
      const infeasible = isInfeasible(code) || overtaken;
      const patch = failedGrowthPatch(claim, { infeasible, text: messageOf(error), at: this.options.clock.now() });
      await this.patch(claim, patch).catch((err: unknown) =>
        this.options.log.error(
          { device, err: messageOf(err) },
          'A claim could not be told that its volume did not grow',
        ),
      );
    }
    if (code !== 'FailedPrecondition') throw error;
    this.stuck.add(device);
    if (silent) return storage;
    throw notGrown(messageOf(error));
  }

  private async finish(claim: PersistentVolumeClaim, { storage, silent }: Grow): Promise<void> {
    try {
      await this.patch(claim, grownClaimPatch(claim, storage));
    } catch (error) {
      const what = silent ? 'update PVC status failed : ' : 'update pvc status failed: ';
      const text = `mountVolume.NodeExpandVolume ${what}${messageOf(error)}`;
      throw new VolumeFailure('ClaimStatus', text, { cause: error });
    }
  }

  private async patch(claim: PersistentVolumeClaim, patch: object | null): Promise<PersistentVolumeClaim> {
    const objects = this.options.objects();
    if (patch === null || objects?.patchClaim === undefined) return claim;
    try {
      return await objects.patchClaim(claim, patch);
    } catch (error) {
      const text = `patchPVCStatus failed to patch PVC "${claim.metadata?.name ?? ''}": ${messageOf(error)}`;
      throw new VolumeFailure('ClaimStatus', text, { cause: error });
    }
  }

  /** What was looked up may be old: the claim is read anew. */
  private async claimNow({ spec: { claim } }: LookedUp): Promise<PersistentVolumeClaim> {
    const objects = this.options.objects();
    const { namespace = '', name = '', uid } = claim?.metadata ?? {};
    if (objects === null) throw notGrown('there is no API server to ask');
    const now = await objects.claim(namespace, name).catch((error: unknown) => {
      const text = `mountVolume.NodeExpandVolume get PVC failed : ${messageOf(error)}`;
      throw new VolumeFailure('ClaimStatus', text, { cause: error });
    });
    if (now.metadata?.uid !== uid) throw notGrown('its claim is another one now');
    return now;
  }

  /** Whoever gives up while another growth of the device is under way does not wait for that. */
  private inTurn<T>(device: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const before = this.turns.get(device) ?? Promise.resolve();
    const mine = Promise.race([before, whenAborted(signal)]).then(() => {
      signal.throwIfAborted();
      return work();
    });
    const both = Promise.allSettled([before, mine]);
    this.turns.set(device, both);
    void both.then(() => {
      if (this.turns.get(device) === both) this.turns.delete(device);
    });
    return mine;
  }

  /** Pod and claim have the event, in this order. */
  private tell(
    { pod }: LookedUp,
    claim: PersistentVolumeClaim | null,
    type: RecordedEvent['type'],
    reason: string,
    message: string,
  ): void {
    const { record, clock } = this.options;
    const at = clock.now();
    record({ object: podObject(pod), at, type, reason, message });
    if (claim === null) return;
    const { namespace = '', name = '', uid = '', resourceVersion } = claim.metadata ?? {};
    const object = {
      ...({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid } as const),
      ...(resourceVersion !== undefined && { resourceVersion }),
    };
    record({ object, at, type, reason, message });
  }
}

/** How large the PV is; null where the node has no part in its growth (kubelet: checkIfSupportsNodeExpansion). */
async function wantedOf({ spec, plugin }: LookedUp): Promise<string | null> {
  if (spec.pv === null || spec.claim === null || plugin.expand === undefined) return null;
  if ((await plugin.grows?.(spec)) === false) return null;
  return spec.pv.spec?.capacity?.['storage'] ?? null;
}

function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function bytesOf(storage = '0'): number {
  return isAtLeast(storage, '1') ? parseBytes(storage) : 0;
}

/** Nothing has failed: it is not made larger now. */
function notGrown(text: string): VolumeFailure {
  return new VolumeFailure(NOT_GROWN, text);
}
