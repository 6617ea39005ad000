import type { Logger } from 'pino';
import { BackOff } from '../../../machines/values/back-off.ts';
import type { ApiClient } from '../../cluster/api/api-client.ts';
import { isAlreadyExists } from '../../cluster/api/api-client.ts';
import { Reflector } from '../../cluster/api/reflector.ts';
import type { Reflected } from '../../cluster/api/reflector.ts';
import type { NodeObject } from '../../cluster/node-object/node-object.ts';
import { machineClock } from '../../host/time/clock.ts';
import type { Timer } from '../../host/time/clock.ts';
import type { Lifecycle } from '../lifecycle.ts';
import type { DriverSlice } from './driver-slices.ts';
import type { SimulatedDrivers } from './simulated-drivers.ts';

/** What a {@link SlicePublisher} works with. */
export interface SlicePublisherOptions {
  /** The node's own way to the API server: a driver is cut off together with its node. */
  api: ApiClient;
  nodeName: string;
  log: Logger;
}

const SLICES = { group: 'resource.k8s.io', version: 'v1', resource: 'resourceslices' };
/** Pauses between tries. What vanishes as soon as it is there is published once a second, and no more often. */
const WAITS = { firstMs: 1_000, maxMs: 60_000 };

/**
 * Keeps the ResourceSlices of a node's drivers in the API, as real drivers do: it sees which are there, and publishes what is missing,
 * whoever removed it. The agent itself removes all of the node when it starts (kubelet: wipeResourceSlices), and of drivers that are away.
 */
export class SlicePublisher {
  private readonly options: SlicePublisherOptions;
  private readonly wanted: () => DriverSlice[];
  /** The node's UID as the API has it; undefined while it has no such node. */
  private readonly ownerUid: () => string | undefined;
  private readonly reflector: Reflector<Reflected>;
  private readonly there = new Set<string>();
  private readonly backOff = new BackOff(WAITS);
  private timer: Timer | undefined;
  private stopped = false;
  private publishing: Promise<void> | undefined;

  constructor(options: SlicePublisherOptions, wanted: () => DriverSlice[], ownerUid: () => string | undefined) {
    this.options = options;
    this.wanted = wanted;
    this.ownerUid = ownerUid;
    const { api, nodeName, log } = options;
    this.reflector = new Reflector<Reflected>({
      ...{ api, log, on: SLICES, fieldSelector: `spec.nodeName=${nodeName}` },
      onSync: (slices) => {
        this.there.clear();
        for (const slice of slices) this.there.add(slice.metadata?.name ?? '');
        this.look();
      },
      onEvent: ({ type, object }) => {
        if (type !== 'DELETED') this.there.add(object.metadata?.name ?? '');
        else if (this.there.delete(object.metadata?.name ?? '')) this.look();
      },
    });
  }

  start(): void {
    if (!this.stopped) this.reflector.start();
  }

  /** Resolves when nothing more is on its way: what is removed then stays so. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.timer?.cancel();
    this.reflector.stop();
    await this.publishing;
  }

  /** Something is other than it was: what is missing is published. */
  look(): void {
    if (this.stopped || this.publishing !== undefined || this.timer !== undefined || !this.reflector.synced) return;
    const missing = this.missing();
    const uid = this.ownerUid();
    // Whoever removed the node meant its slices, too; an owner that is gone would have them collected again and again.
    if (missing.length === 0 || uid === undefined) return;
    this.publishing = this.publish(missing, uid).then((waitMs) => {
      this.publishing = undefined;
      if (this.stopped) return;
      this.timer = machineClock.lookAfter(waitMs, () => {
        this.timer = undefined;
        this.look();
      });
    });
  }

  /** Says how long to wait before it is looked again, ms. Never rejects. */
  private async publish(missing: readonly DriverSlice[], uid: string): Promise<number> {
    const { api, nodeName, log } = this.options;
    const owner = { apiVersion: 'v1', kind: 'Node', name: nodeName, uid, controller: true };
    try {
      for (const { metadata, spec } of missing) {
        if (this.stopped) break;
        const body = {
          ...{ apiVersion: 'resource.k8s.io/v1', kind: 'ResourceSlice', spec },
          metadata: { ...metadata, ownerReferences: [owner] },
        };
        await api.request({ method: 'POST', on: SLICES, body }).catch(unlessThere);
      }
      this.backOff.reset();
      return WAITS.firstMs;
    } catch (error) {
      if (!this.stopped) log.warn({ err: error, node: nodeName }, 'ResourceSlices are not published, retrying');
      return this.backOff.next();
    }
  }

  private missing(): DriverSlice[] {
    return this.wanted().filter(({ metadata }) => !this.there.has(metadata.name));
  }
}

/** Has the ResourceSlices of a machine's drivers published from the node's registration on until its agent ends. */
export function publishSlices(
  drivers: SimulatedDrivers,
  node: Pick<NodeObject, 'node' | 'whenRegistered'>,
  options: SlicePublisherOptions,
  life: Lifecycle,
): void {
  const publisher = new SlicePublisher(
    options,
    () => drivers.slices(),
    () => node.node()?.metadata?.uid,
  );
  drivers.changed = () => publisher.look();
  life.has('ResourceSlices', 'work', () => publisher.stop());
  void node.whenRegistered().then(() => publisher.start());
}

/** An earlier one of the same name is there, and the watch has not told yet. */
function unlessThere(error: unknown): void {
  if (!isAlreadyExists(error)) throw error;
}
