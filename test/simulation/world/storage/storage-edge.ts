import type { Logger } from 'pino';
import type { ApiClient } from '../../../../actors/cluster/api/api-client.ts';
import type { Clock } from '../../../../actors/host/time/clock.ts';
import type { ObjectsEnd } from '../../../../actors/node/cluster-objects.ts';
import type { VolumeLinks } from '../../../../actors/node/edges.ts';
import { CsiDrivers } from '../../../../actors/resources/csi/csi-drivers.ts';
import { CsiVolumes } from '../../../../actors/resources/csi/csi-volumes.ts';
import type { VolumePlugin } from '../../../../actors/resources/volumes/volume-plugin.ts';
import type { Pod } from '../../../../machines/protocol/api-types.ts';
import type { Plan } from '../../draw/plan.ts';
import type { Fact } from '../facts.ts';
import type { FaultClock } from '../fault-clock.ts';
import { NODE_NAME, ROOT_DIR } from '../node-settings.ts';
import type { Random } from '../random.ts';
import type { Owner, VirtualTime } from '../virtual-time.ts';
import { AttachController } from './attach-controller.ts';
import { simulatedCsiApi, simulatedStorage } from './csi-api.ts';
import { SimulatedDriver } from './csi-driver.ts';
import { setDrivers } from './csi-node-client.ts';
import type { CsiCall } from './csi-request.ts';
import { setMachine } from './current-disk.ts';
import { Disk } from './disk.ts';
import { StorageObjects } from './storage-objects.ts';

/** What the edge is made from. */
export interface StorageEdgeOptions {
  plan: Plan;
  time: VirtualTime;
  faults: FaultClock;
  random: Random;
  pods: () => Pod[];
  tell: (fact: Fact) => void;
  mortal: (call: CsiCall) => 'before' | 'after' | null;
  die: () => void;
}

/** Until a new socket is seen, and until one that is gone is, ms. */
const SEEN_MS = 300;
/** Between two tries to register, ms. */
const AGAIN_MS = 2_000;
/** How long drivers take to come after the machine, ms. */
const COMES_MS = 3_000;
/** So long regular looks at volumes go on after one has grown, ms: the agent looks once a minute. */
const LOOKED_MS = 65_000;

/** Disks, drivers and objects of the volumes that pods have by claims. */
export class StorageEdge {
  readonly disk = new Disk();
  readonly objects: StorageObjects;
  readonly drivers: ReadonlyMap<string, SimulatedDriver>;
  readonly controller: AttachController;
  private readonly options: StorageEdgeOptions;
  private readonly world: Owner = { name: 'storage', alive: true };
  /** Whom drivers register with now. */
  private agent: { owner: Owner; drivers: CsiDrivers } | null = null;
  private sockets = 0;

  constructor(options: StorageEdgeOptions) {
    this.options = options;
    const { plan, time, faults, random, tell, mortal, die } = options;
    const plans = plan.drivers ?? [];
    this.objects = new StorageObjects(plan.claims ?? [], plans, () => time.now);
    this.drivers = new Map(
      plans.map((driver) => [
        driver.name,
        new SimulatedDriver({
          ...{ plan: driver, time, faults, disk: this.disk, tell, mortal, die },
          random: random.fork(driver.name),
        }),
      ]),
    );
    this.controller = new AttachController({ time, faults, objects: this.objects, pods: options.pods, tell });
  }

  /** This is the machine, and what the plan has for it comes in its time. */
  start(): void {
    const { time, faults, plan } = this.options;
    setMachine({ disk: this.disk, time });
    setDrivers(this.drivers);
    const at = (ms: number, act: () => void): void => void time.after(ms, this.world, act, false);
    for (const driver of this.drivers.values()) this.comes(driver, false);
    for (const fault of faults.all('csi-driver')) {
      at(fault.from, () => {
        faults.count(fault);
        const driver = this.drivers.get(fault.driver);
        if (driver !== undefined) this.goes(driver);
      });
      at(fault.from + fault.for, () => {
        const driver = this.drivers.get(fault.driver);
        if (driver?.endpoint === null) this.comes(driver, fault.how === 'moves');
      });
    }
    for (const { name, growsAt } of plan.claims ?? []) {
      if (growsAt === undefined) continue;
      at(growsAt, () => {
        this.objects.grow(name);
        for (let ms = 0; ms < LOOKED_MS; ms += 1_000) at(ms, () => time.busy());
      });
      at(this.objects.claims.find((each) => each.name === name)?.boundAt ?? 0, () => this.controller.wake());
    }
  }

  /** The machine goes down with all mounts, and comes up again. */
  reboot(forMs: number): void {
    const { time, tell } = this.options;
    for (const driver of this.drivers.values()) this.goes(driver);
    this.disk.reboot();
    tell({ f: 'boot' });
    for (const driver of this.drivers.values())
      time.after(forMs + COMES_MS, this.world, () => driver.endpoint === null && this.comes(driver, false), false);
  }

  /** The kinds of volumes of an agent. */
  plugins(owner: Owner, clock: Clock, log: Logger, { csi: api, journal }: VolumeLinks): readonly VolumePlugin[] {
    const drivers = new CsiDrivers({ api, clock, log, journal, refreshes: false });
    this.agent = { owner, drivers };
    for (const driver of this.drivers.values()) if (driver.endpoint !== null) this.seen(driver, driver.endpoint);
    return [new CsiVolumes({ rootDir: ROOT_DIR, nodeName: NODE_NAME, drivers, api, log, volumeHealth: false })];
  }

  /** An agent has died. */
  hangUp(owner: Owner): void {
    if (this.agent?.owner !== owner) return;
    this.agent.drivers.stop();
    this.agent = null;
  }

  /** What an agent has of the API server. */
  objectsOf(api: ApiClient, none: ObjectsEnd): ObjectsEnd {
    return { ...none, csi: simulatedCsiApi(api, this.objects), storage: simulatedStorage(api) };
  }

  private comes(driver: SimulatedDriver, moved: boolean): void {
    const socket = moved ? `${driver.name}-${++this.sockets}` : driver.name;
    const endpoint = `${ROOT_DIR}/plugins/${socket}/csi.sock`;
    this.options.time.busy();
    driver.start(endpoint);
    this.seen(driver, endpoint);
  }

  private goes(driver: SimulatedDriver): void {
    const { endpoint } = driver;
    if (endpoint === null) return;
    this.options.time.busy();
    driver.die();
    this.withAgent(SEEN_MS, (drivers) => drivers.deregistered(driver.name, endpoint));
  }

  /** The agent sees its socket; a registration that fails is tried again as long as that is there. */
  private seen(driver: SimulatedDriver, endpoint: string): void {
    this.withAgent(SEEN_MS, (drivers) => {
      if (driver.endpoint !== endpoint) return;
      const versions = ['1.0.0'];
      const again = (): void => this.withAgent(AGAIN_MS, () => this.seen(driver, endpoint));
      drivers.registered(driver.name, endpoint, versions).catch(again);
    });
  }

  private withAgent(ms: number, act: (drivers: CsiDrivers) => void): void {
    const { agent } = this;
    if (agent !== null) this.options.time.after(ms, agent.owner, () => act(agent.drivers), false);
  }
}
