import type { ClaimDrivers, DriverHears } from '../../../actors/resources/claims/claim-drivers.ts';
import type { DevicePlugins, PluginHears } from '../../../actors/resources/devices/device-plugins.ts';
import type { FoundDevices } from '../../../actors/resources/devices/device-checkpoint-file.ts';
import type { DeviceManagerOptions } from '../../../actors/resources/devices/device-manager.ts';
import { claimCheckpointText, readClaimCheckpoint } from '../../../machines/claims/claim-checkpoint.ts';
import type { AskedClaim, ClaimResult } from '../../../machines/claims/claim-messages.ts';
import type { ClaimState, KnownClaim } from '../../../machines/claims/claim-state.ts';
import type { AllocateResponse, Device } from '../../../machines/devices/device-state.ts';
import { uidEntries } from '../../../machines/supervisor/uid-table.ts';
import { DEVICES, DRIVERS } from '../draw/draw-plugins.ts';
import type { Fault } from '../draw/plan.ts';
import type { Fact } from './facts.ts';
import type { FaultClock } from './fault-clock.ts';
import type { Random } from './random.ts';
import type { Owner, VirtualTime } from './virtual-time.ts';

type PluginFault = Extract<Fault, { kind: 'plugin' }>;

/** Annotation by which a container shows the devices that it was made with, before the name of their resource. */
export const DEVICE_ANNOTATION = 'devices/';

/** Plugins and drivers have registered with a new agent by then, ms after it began. */
export const PLUGINS_LATE_MS = 15_000;

/** What the plugins of the simulated machine are made from. */
export interface PluginsOptions {
  time: VirtualTime;
  faults: FaultClock;
  random: Random;
  tell: (fact: Fact) => void;
  /** There are some. */
  on: boolean;
  /** Device plugins are called before each container that has a device of theirs starts. */
  preStart: boolean;
  /** Does the agent die at this call, before it does anything or right after? */
  mortal: (call: string) => 'before' | 'after' | null;
  /** The agent dies, now. */
  die: () => void;
}

/** A plugin's devices and drivers' claims do not die with an agent, nor what stands in the checkpoints. */
export class PluginsEdge {
  /** Claims that drivers have prepared, as `driver claimUid`. */
  readonly prepared = new Set<string>();
  private readonly options: PluginsOptions;
  private readonly listeners = new Map<Owner, { devices?: PluginHears; drivers?: DriverHears }>();
  private deviceFile: string | null = null;
  private claimFile: string | null = null;

  constructor(options: PluginsOptions) {
    this.options = options;
  }

  get on(): boolean {
    return this.options.on;
  }

  /** Lets plugins go, come back, fall ill and register again by themselves. */
  start(): void {
    const { time, faults } = this.options;
    const at = (ms: number, act: () => void): void => void time.after(ms, time.world, act, false);
    for (const fault of faults.all('plugin')) {
      const { how, of } = fault;
      if (how === 'hang' || how === 'fail' || how === 'lost' || how === 'slow' || how === 'death') continue;
      at(fault.from, () => {
        faults.count(fault);
        if (how === 'wipe') this.wipe(of);
        else if (how === 'away') this.leave(of);
        else this.come(of, how === 'twice');
      });
      at(fault.from + fault.for, () => this.come(of, how === 'away'));
    }
  }

  private wipe(driver: string): void {
    for (const key of [...this.prepared]) if (key.startsWith(`${driver} `)) this.prepared.delete(key);
  }

  /** The machine comes up again: what drivers had made ready is gone with it. */
  boot(): void {
    this.prepared.clear();
  }

  /** The device plugins as one life of the agent has them. */
  devices(owner: Owner, hears: PluginHears): DevicePlugins {
    const listening = this.listeners.get(owner) ?? {};
    this.listeners.set(owner, { ...listening, devices: hears });
    return {
      start: () => {
        for (const resource of Object.keys(DEVICES)) this.later(owner, () => this.come(resource, true));
        return Promise.resolve();
      },
      stop: () => Promise.resolve(),
      prefer: (_resource, { available, mustInclude, size }) =>
        Promise.resolve([...new Set([...mustInclude, ...available.toReversed()])].slice(0, size)),
      allocate: (resource, ids) =>
        this.deviceCall(owner, 'Allocate', resource, 60_000, () => {
          this.options.tell({ f: 'devices', resource, ids });
          return responseOf(resource, ids);
        }),
      preStart: (resource) => this.deviceCall(owner, 'PreStartContainer', resource, 30_000, () => undefined),
    };
  }

  /** The drivers as one life of the agent has them. */
  drivers(owner: Owner, hears: DriverHears): ClaimDrivers {
    const listening = this.listeners.get(owner) ?? {};
    this.listeners.set(owner, { ...listening, drivers: hears });
    return {
      start: () => {
        for (const driver of DRIVERS) this.later(owner, () => this.come(driver, true));
        return Promise.resolve();
      },
      stop: () => Promise.resolve(),
      prepare: (driver, claims) => this.call(owner, driver, 45_000, () => this.act(driver, claims, 'prepared')),
      unprepare: (driver, claims) => this.call(owner, driver, 45_000, () => this.act(driver, claims, 'unprepared')),
    };
  }

  /** `kubelet_internal_checkpoint` of the machine. */
  deviceCheckpoint(owner: Owner): DeviceManagerOptions['checkpoint'] {
    return {
      read: () => Promise.resolve(this.deviceFile === null ? null : (JSON.parse(this.deviceFile) as FoundDevices)),
      nothingThere: () => Promise.resolve(this.deviceFile === null),
      write: ({ resources, grants }) => {
        const registered = Object.keys(resources).filter((name) => resources[name]?.devices !== null);
        const text = JSON.stringify({ grants: Object.fromEntries(uidEntries(grants)), registered });
        return this.written(owner, () => (this.deviceFile = text));
      },
    };
  }

  /** `dra_manager_state` of the machine. */
  claimCheckpoint(owner: Owner): { read(): Promise<KnownClaim[]>; write(state: ClaimState): Promise<void> } {
    return {
      read: () => Promise.resolve(this.claimFile === null ? [] : readClaimCheckpoint(this.claimFile)),
      write: ({ claims }) => {
        const text = claimCheckpointText(Object.values(claims));
        return this.written(owner, () => (this.claimFile = text));
      },
    };
  }

  /** Does any fault hold for this plugin? */
  private fault(of: string, ...how: PluginFault['how'][]): PluginFault | undefined {
    return this.options.faults.strikes('plugin', (fault) => fault.of === of && how.includes(fault.how));
  }

  private isAway(of: string): boolean {
    const { now } = this.options.time;
    const { faults } = this.options;
    return faults.all('plugin').some((f) => f.of === of && f.how === 'away' && f.from <= now && now < f.from + f.for);
  }

  private leave(of: string): void {
    this.hearing((owner, { devices, drivers }) =>
      this.as(owner, () => {
        if (of in DEVICES) devices?.went(of);
        else drivers?.told(of, { registered: false, connected: false });
      }),
    );
  }

  /** It registers, or tells what it has; `anew`: with another connection. */
  private come(of: string, anew: boolean): void {
    if (this.isAway(of)) return;
    this.hearing((owner, { devices, drivers }) =>
      this.as(owner, () => {
        if (!(of in DEVICES)) {
          drivers?.told(of, { registered: true, connected: true });
          return;
        }
        if (anew) devices?.came(of, { preStart: this.options.preStart, prefers: of.endsWith('gpu') });
        devices?.told(of, this.devicesOf(of));
      }),
    );
  }

  private devicesOf(resource: string): Record<string, Device> {
    const { faults, time } = this.options;
    const { now } = time;
    const holds = (how: PluginFault['how']): boolean =>
      faults.all('plugin').some((f) => f.of === resource && f.how === how && f.from <= now && now < f.from + f.for);
    const whole = (DEVICES as Record<string, number>)[resource] ?? 0;
    const count = holds('fewer') ? Math.floor(whole / 2) : whole;
    const sick = holds('sick');
    return Object.fromEntries(
      Array.from({ length: count }, (_, i): [string, Device] => [
        `${resource.split('/')[1]}-${String(i).padStart(2, '0')}`,
        { healthy: !(sick && i % 3 === 0), nodes: [] },
      ]),
    );
  }

  /** A call of a device plugin, at which the agent can die, too. */
  private deviceCall<T>(owner: Owner, rpc: string, of: string, limitMs: number, act: () => T): Promise<T> {
    const death = owner.alive ? this.options.mortal(rpc) : null;
    if (death === 'before') {
      this.options.die();
      return new Promise<T>(() => undefined);
    }
    return this.call(owner, of, limitMs, () => {
      const answer = act();
      if (death === 'after') this.options.die();
      return answer;
    });
  }

  /** One call: it takes its time, can fail, hang, be carried out without an answer, and be the last thing that the agent did. */
  private async call<T>(owner: Owner, of: string, limitMs: number, act: () => T): Promise<T> {
    const { time, die } = this.options;
    time.busy();
    const death = this.fault(of, 'death');
    const before = death !== undefined && this.options.random.chance(0.5);
    if (before) die();
    if (!owner.alive) return new Promise<T>(() => undefined);
    if (this.isAway(of)) throw new Error(`DRA driver ${of} is not registered`);
    const fault = this.fault(of, 'hang', 'fail', 'lost', 'slow');
    await this.pass(owner, fault?.how === 'hang' ? limitMs : fault?.how === 'slow' ? 8_000 : 5);
    if (fault?.how === 'hang') throw new Error('rpc error: code = DeadlineExceeded desc = context deadline exceeded');
    if (fault?.how === 'fail') throw new Error('rpc error: code = Internal desc = a fault of the simulation');
    const answer = act();
    if (death !== undefined) {
      die();
      return new Promise<T>(() => undefined);
    }
    if (fault?.how === 'lost') throw new Error('rpc error: code = Unavailable desc = error reading from server: EOF');
    await this.pass(owner, 5);
    return answer;
  }

  private act(driver: string, claims: readonly AskedClaim[], change: 'prepared' | 'unprepared'): ClaimResult[] {
    return claims.map(({ uid, name }) => {
      const key = `${driver} ${uid}`;
      if (change === 'prepared') this.prepared.add(key);
      else this.prepared.delete(key);
      this.options.tell({ f: 'claim', change, driver, claim: uid });
      const device = { pool: 'pool', device: name, share: null, requests: [], cdi: [`${driver}/claim=${uid}`] };
      return { uid, error: '', devices: change === 'prepared' ? [device] : [] };
    });
  }

  private async written(owner: Owner, act: () => void): Promise<void> {
    await this.pass(owner, this.options.random.between(1, 10));
    act();
  }

  private hearing(act: (owner: Owner, hears: { devices?: PluginHears; drivers?: DriverHears }) => void): void {
    this.options.time.busy();
    for (const [owner, hears] of this.listeners) {
      if (owner.alive) act(owner, hears);
      else this.listeners.delete(owner);
    }
  }

  private as(owner: Owner, act: () => void): void {
    this.options.time.after(0, owner, act, false);
  }

  /** A plugin sees that there is another agent some time later. */
  private later(owner: Owner, act: () => void): void {
    const { time, random } = this.options;
    time.after(
      random.chance(0.7) ? random.between(10, 1_000) : random.between(1_000, PLUGINS_LATE_MS),
      owner,
      act,
      false,
    );
  }

  private pass(owner: Owner, ms: number): Promise<void> {
    return new Promise((resolve) => this.options.time.after(ms, owner, resolve, false));
  }
}

function responseOf(resource: string, ids: readonly string[]): AllocateResponse {
  const annotations = { [`${DEVICE_ANNOTATION}${resource}`]: ids.toSorted().join() };
  return { envs: {}, mounts: [], devices: [], annotations, cdiDevices: [] };
}
