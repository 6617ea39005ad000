import type { Logger } from 'pino';
import { ActorletError } from '../../../machines/errors/define.ts';
import { nodesErrors } from '../../../machines/errors/nodes-errors.ts';
import { BackOff } from '../../../machines/values/back-off.ts';
import type { ApiClient } from '../../cluster/api/api-client.ts';
import { isAlreadyExists, isNotFound } from '../../cluster/api/api-client.ts';
import { Reflector } from '../../cluster/api/reflector.ts';
import type { Reflected } from '../../cluster/api/reflector.ts';
import type { NodeObject } from '../../cluster/node-object/node-object.ts';
import { REAL_TIME } from '../../../cri/sim/sim-time.ts';
import type { Timer } from '../../../cri/sim/sim-time.ts';
import type { Lifecycle } from '../lifecycle.ts';
import { droppedFields } from './dropped-fields.ts';
import type { DriverSlice } from './driver-slices.ts';
import type { FleetClock } from './fleet-clock.ts';
import type { SimulatedDrivers } from './simulated-drivers.ts';

/** What a {@link SlicePublisher} works with. */
export interface SlicePublisherOptions {
  /** The node's own way to the API server: a driver is cut off together with its node. */
  api: ApiClient;
  nodeName: string;
  log: Logger;
  /** The nodes', by which a driver rests after it has published. */
  clock: Pick<FleetClock, 'after'>;
  /** The machine's, by which all wait whose request has failed: the API server is no faster than it. */
  real?: Pick<FleetClock, 'after'>;
}

const SLICES = { group: 'resource.k8s.io', version: 'v1', resource: 'resourceslices' };
/** What vanishes as soon as it is there is published once a second of the nodes' clock, and no more often. */
const REST_MS = 1_000;
/** Pauses after failures, of the machine's clock. */
const WAITS = { firstMs: 1_000, maxMs: 60_000 };

/** A ResourceSlice as it is watched. */
type Watched = Reflected & { spec?: { pool?: { generation?: number } } };

/**
 * Keeps the ResourceSlices of a node's drivers in the API, as real drivers do: it sees which are there, and publishes what is missing,
 * whoever removed it, and what is of another generation than the driver has now. The agent itself removes all of the node when it starts (kubelet: wipeResourceSlices), and of drivers that are away.
 */
export class SlicePublisher {
  private readonly options: SlicePublisherOptions;
  private readonly wanted: () => DriverSlice[];
  /** The node's UID as the API has it; undefined while it has no such node. */
  private readonly ownerUid: () => string | undefined;
  private readonly reflector: Reflector<Watched>;
  /** Generations of those that are there, by name. */
  private readonly there = new Map<string, number | undefined>();
  private readonly toldDropped = new Set<string>();
  private readonly backOff = new BackOff(WAITS);
  private timer: Timer | undefined;
  private stopped = false;
  private publishing: Promise<void> | undefined;

  constructor(options: SlicePublisherOptions, wanted: () => DriverSlice[], ownerUid: () => string | undefined) {
    this.options = options;
    this.wanted = wanted;
    this.ownerUid = ownerUid;
    const { api, nodeName, log } = options;
    this.reflector = new Reflector<Watched>({
      ...{ api, log, on: SLICES, fieldSelector: `spec.nodeName=${nodeName}` },
      onSync: (slices) => {
        this.there.clear();
        for (const slice of slices) this.found(slice);
        this.look();
      },
      onEvent: ({ type, object }) => {
        if (type !== 'DELETED') this.found(object);
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
    this.publishing = this.publish(missing, uid).then((done) => {
      this.publishing = undefined;
      if (this.stopped) return;
      const { clock, real = REAL_TIME } = this.options;
      const again = (): void => {
        this.timer = undefined;
        this.look();
      };
      this.timer = done ? clock.after(REST_MS, again) : real.after(this.backOff.next(), again);
    });
  }

  /** Says whether all went well. Never rejects. */
  private async publish(missing: readonly DriverSlice[], uid: string): Promise<boolean> {
    const { api, nodeName, log } = this.options;
    const owner = { apiVersion: 'v1', kind: 'Node', name: nodeName, uid, controller: true };
    try {
      for (const { metadata, spec } of missing) {
        if (this.stopped) break;
        const body = {
          ...{ apiVersion: 'resource.k8s.io/v1', kind: 'ResourceSlice', spec },
          metadata: { ...metadata, ownerReferences: [owner] },
        };
        const { name } = metadata;
        const write = this.there.has(name) ? ({ method: 'PUT', name } as const) : ({ method: 'POST' } as const);
        const stored = await api.request<Partial<DriverSlice>>({ ...write, on: SLICES, body }).catch(unlessOutrun);
        if (stored !== undefined) this.tellDropped(spec, stored.spec);
      }
      this.backOff.reset();
      return true;
    } catch (error) {
      if (!this.stopped) log.warn({ err: error, node: nodeName }, 'ResourceSlices are not published, retrying');
      return false;
    }
  }

  private missing(): DriverSlice[] {
    return this.wanted().filter(({ metadata, spec }) => this.there.get(metadata.name) !== spec.pool.generation);
  }

  private found({ metadata, spec }: Watched): void {
    this.there.set(metadata?.name ?? '', spec?.pool?.generation);
  }

  /** A server without a feature takes the slice, and leaves out what it does not know: once for each. */
  private tellDropped(sent: DriverSlice['spec'], stored: Partial<DriverSlice['spec']> | undefined): void {
    const { log, nodeName } = this.options;
    for (const { field, gate } of droppedFields(sent, stored)) {
      if (this.toldDropped.has(field)) continue;
      this.toldDropped.add(field);
      const err = new ActorletError(nodesErrors.sliceFieldDropped, { field, driver: sent.driver, gate });
      log.warn({ err, node: nodeName }, 'A ResourceSlice is not what its driver published');
    }
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

/** It was made or removed meanwhile, and the watch has not told yet: the next look sees that. */
function unlessOutrun(error: unknown): undefined {
  if (!isAlreadyExists(error) && !isNotFound(error)) throw error;
}
