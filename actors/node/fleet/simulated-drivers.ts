import { anyMatches } from '../../../cri/sim/glob.ts';
import { drawBetween } from '../../../cri/sim/prng.ts';
import type { ToldHealth } from '../../../machines/claims/claim-health.ts';
import type { AskedClaim, ClaimResult } from '../../../machines/claims/claim-messages.ts';
import type { KnownClaim } from '../../../machines/claims/claim-state.ts';
import type { ResourceClaim } from '../../../machines/claims/resource-claim.ts';
import type { ClaimDrivers, DriverHears } from '../../resources/claims/claim-drivers.ts';
import type { ClaimEdge } from '../edges.ts';
import { DeviceTaints } from './device-taints.ts';
import { deviceNames, slicesOf } from './driver-slices.ts';
import type { DriverSlice } from './driver-slices.ts';
import { FailingLots } from './failing-lots.ts';
import type { FleetClock } from './fleet-clock.ts';
import { preparedClaim } from './prepared-claim.ts';
import type { DeviceTaintRule } from './profile/device-taint-schema.ts';
import type { DriverRule } from './profile/driver-schema.ts';

/** What {@link SimulatedDrivers} is made from. */
export interface SimulatedDriversOptions {
  rules: readonly DriverRule[];
  nodeName: string;
  /** The machine's own. */
  seed: number;
  clock: Pick<FleetClock, 'after' | 'now' | 'toReal'>;
}

/** What an agent that runs on the machine gives its drivers. */
export interface DriverGround {
  /** Gate ResourceHealthStatus: drivers are asked how their devices are. */
  health: boolean;
  /** A ResourceClaim as the API has it; drivers look there what was allocated. */
  claim: (namespace: string, name: string) => Promise<ResourceClaim>;
}

/** One driver with its devices. */
interface Driver {
  rule: DriverRule;
  names: readonly string[];
  lots: FailingLots;
  taints: DeviceTaints;
  /** Of its pool: one more with each change. */
  generation: number;
  /** How often it was told to go and has not come back. */
  away: number;
  /** How many failures hold that have it refuse claims. */
  refusing: number;
}

/** A driver here tells of each change, so its word holds for as long as nobody waits: 10 years, ms. */
const HOLDS_MS = 10 * 365 * 86_400_000;

/**
 * The drivers of dynamic resources (KEP-4381) of a simulated machine, in memory, and what the claims manager writes down. They outlive
 * the agents that run on it, as devices and disk of a real one do.
 */
export class SimulatedDrivers {
  /** Claims that are prepared now, `driver/uid of the claim`. */
  readonly prepared = new Set<string>();
  /** Drivers went or came: what is to be published is something else. */
  changed: () => void = () => undefined;
  private readonly drivers: ReadonlyMap<string, Driver>;
  private readonly options: SimulatedDriversOptions;
  private agent: { hears: DriverHears; health: boolean } | null = null;
  private file: KnownClaim[] = [];

  constructor(options: SimulatedDriversOptions) {
    this.options = options;
    this.drivers = new Map(options.rules.map((rule) => [rule.driver, this.driverOf(rule)]));
  }

  /** The profile gives the machine some. */
  get any(): boolean {
    return this.drivers.size > 0;
  }

  /** What the drivers that are there tell of their devices. */
  slices(): DriverSlice[] {
    return [...this.drivers.values()].flatMap(({ rule, away, generation, taints }) =>
      away > 0 ? [] : slicesOf(rule, this.options.nodeName, { generation, taints: taints.now }),
    );
  }

  /** The way to them for an agent; null where the profile gives none. */
  edge(ground: DriverGround): ClaimEdge | null {
    if (!this.any) return null;
    return {
      drivers: (hears) => this.forAgent(hears, ground),
      checkpoint: {
        read: () => Promise.resolve(this.file),
        write: ({ claims }) => {
          // As from the file of a real one: drivers are asked again before the next pod uses a claim.
          this.file = Object.values(claims).map((claim) => ({ ...claim, prepared: false }));
          return Promise.resolve();
        },
      },
    };
  }

  /** So many devices of each of these drivers fall ill, drawn by the seed; without a number all of them. */
  fail(drivers: readonly string[] | undefined, count: number | undefined): void {
    for (const driver of this.named(drivers)) {
      driver.lots.fail(count);
      this.tellHealth(driver);
      this.tellTaints(driver);
    }
  }

  /** What {@link fail} did with the same words is over. */
  heal(drivers: readonly string[] | undefined, count: number | undefined): void {
    for (const driver of this.named(drivers)) {
      driver.lots.heal(count);
      this.tellHealth(driver);
      this.tellTaints(driver);
    }
  }

  /** So many devices of each of these drivers get this taint, drawn by the seed; without a number all of them. */
  taint(drivers: readonly string[] | undefined, taint: DeviceTaintRule, count: number | undefined): void {
    for (const driver of this.named(drivers)) {
      driver.taints.add(taint, count);
      this.tellTaints(driver);
    }
  }

  /** What {@link taint} did with the same words is over. */
  untaint(drivers: readonly string[] | undefined, taint: DeviceTaintRule, count: number | undefined): void {
    for (const driver of this.named(drivers)) {
      driver.taints.remove(taint, count);
      this.tellTaints(driver);
    }
  }

  /** These drivers prepare nothing any more; what is prepared stays so, and is given back when that is asked. */
  refuse(drivers: readonly string[] | undefined): void {
    for (const driver of this.named(drivers)) driver.refusing++;
  }

  /** What {@link refuse} did is over. */
  accept(drivers: readonly string[] | undefined): void {
    for (const driver of this.named(drivers)) driver.refusing--;
  }

  /** These drivers go away: 30 s later kubelet removes their ResourceSlices. */
  leave(drivers: readonly string[] | undefined): void {
    for (const driver of this.named(drivers)) if (++driver.away === 1) this.unregister(driver);
    this.changed();
  }

  /** They are there again, register, and publish what they have. */
  comeBack(drivers: readonly string[] | undefined): void {
    for (const driver of this.named(drivers)) if (--driver.away === 0) this.register(driver);
    this.changed();
  }

  private forAgent(hears: DriverHears, { health, claim }: DriverGround): ClaimDrivers {
    return {
      start: () => {
        this.agent = { hears, health };
        for (const driver of this.drivers.values()) if (driver.away === 0) this.register(driver);
        return Promise.resolve();
      },
      stop: () => {
        if (this.agent?.hears === hears) this.agent = null;
        return Promise.resolve();
      },
      prepare: (name, claims) => this.prepare(name, claims, claim),
      unprepare: (name, claims) => this.unprepare(name, claims),
    };
  }

  private async prepare(name: string, claims: AskedClaim[], claim: DriverGround['claim']): Promise<ClaimResult[]> {
    const driver = this.reached(name);
    const { rule, names } = driver;
    const { seed, clock, nodeName: pool } = this.options;
    const ms = drawBetween(rule.takes, seed, 'prepare', name, ...claims.map(({ uid }) => uid));
    if (ms > 0) await new Promise<void>((resolve) => void clock.after(ms, resolve));
    const results = claims.map(async (asked) => {
      if (driver.refusing > 0) return { uid: asked.uid, error: 'the driver refuses claims', devices: [] };
      const result = await preparedClaim(asked, { driver: name, pool, devices: names }, claim);
      if (result.error === '') this.prepared.add(`${name}/${asked.uid}`);
      return result;
    });
    return Promise.all(results);
  }

  private async unprepare(name: string, claims: AskedClaim[]): Promise<ClaimResult[]> {
    this.reached(name);
    await Promise.resolve();
    return claims.map(({ uid }) => {
      this.prepared.delete(`${name}/${uid}`);
      return { uid, error: '', devices: [] };
    });
  }

  /** @throws Error with kubelet's words when the driver is not there */
  private reached(name: string): Driver {
    const driver = this.drivers.get(name);
    if (driver === undefined || driver.away > 0) throw new Error(`DRA driver ${name} is not registered`);
    return driver;
  }

  private register(driver: Driver): void {
    this.agent?.hears.told(driver.rule.driver, { registered: true, connected: true });
    this.tellHealth(driver);
  }

  private unregister({ rule: { driver } }: Driver): void {
    this.agent?.hears.told(driver, { registered: false, connected: false });
    if (this.agent?.health === true) this.agent.hears.healthLost(driver);
  }

  private tellHealth({ rule, names, lots, away }: Driver): void {
    if (away > 0 || this.agent?.health !== true) return;
    const { ill } = lots;
    const told = names.map((device): ToldHealth => {
      const health = ill.has(device) ? 'Unhealthy' : 'Healthy';
      return { pool: this.options.nodeName, device, health, timeoutMs: HOLDS_MS };
    });
    this.agent.hears.health(rule.driver, told);
  }

  private tellTaints(driver: Driver): void {
    if (!driver.taints.look(driver.lots.ill)) return;
    driver.generation++;
    this.changed();
  }

  private named(drivers: readonly string[] | undefined): Driver[] {
    return [...this.drivers].flatMap(([name, driver]) => (anyMatches(drivers, name) ? [driver] : []));
  }

  private driverOf(rule: DriverRule): Driver {
    const names = deviceNames(rule);
    const of = ['driver-device', rule.driver];
    const { seed, clock } = this.options;
    const lots = new FailingLots({ seed, of, ids: names, unhealthy: rule.unhealthy });
    const taints = new DeviceTaints({ rule, seed, names, now: () => clock.toReal(clock.now()) });
    taints.look(lots.ill);
    return { rule, names, lots, taints, generation: 1, away: 0, refusing: 0 };
  }
}
