import type { Logger } from 'pino';
import { deviceOptions } from '../../../machines/devices/container-options.ts';
import { deviceCapacity } from '../../../machines/devices/device-capacity.ts';
import type { DeviceCapacity } from '../../../machines/devices/device-capacity.ts';
import type { DeviceMessage, DeviceOrder } from '../../../machines/devices/device-messages.ts';
import { idsOf, isDeviceResource, NO_DEVICES } from '../../../machines/devices/device-state.ts';
import { keptDevicesProblem } from '../../../machines/devices/choose-devices.ts';
import { Refusal, rejectionOf } from '../../../machines/resource-managers/refusal.ts';
import type { Rejection } from '../../../machines/admission/rejection.ts';
import type { DeviceState, PluginOptions, PodGrants } from '../../../machines/devices/device-state.ts';
import { heldHints } from '../../../machines/devices/held-hints.ts';
import type { HeldHints } from '../../../machines/resource-managers/topology/hints.ts';
import { deviceSteps } from '../../../machines/devices/device-steps.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { DeviceOptions } from '../../../machines/protocol/device-options.ts';
import { atUid } from '../../../machines/supervisor/uid-table.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { lookEach } from '../../host/time/clock.ts';
import type { Timer } from '../../host/time/clock.ts';
import { SingleMachine } from '../../record/host/single-machine.ts';
import type { Attempt } from '../../record/host/single-machine.ts';
import type { JournalSettings } from '../../record/journal/machine-journal.ts';
import { devices } from '../../record/machines/devices.ts';
import type { WithoutTime } from '../../../machines/protocol/without-time.ts';
import { LeftBehind } from '../admission/left-behind.ts';
import type { FoundDevices } from './device-checkpoint-file.ts';
import type { DevicePlugins, PluginHears } from './device-plugins.ts';
import { grantDevices } from './grant-devices.ts';
import type { GrantAnswer, GrantOptions, Granting } from './grant-devices.ts';

/** How often plugins that went are looked at, ms. */
const DUE_MS = 10_000;

/** What the device manager works with. */
export interface DeviceManagerOptions extends GrantOptions {
  plugins: (hears: PluginHears) => DevicePlugins;
  /** Where it is written down who has which devices. */
  checkpoint: {
    read(): Promise<FoundDevices | null>;
    write(state: DeviceState): Promise<void>;
    /** Nothing is there, of whatever kind: no agent has been here before. Asked before plugins can come. */
    nothingThere?(): Promise<boolean>;
  };
  /** UIDs of pods of which the runtime has something; null before it said so. */
  listed: () => { has(uid: string): boolean } | null;
  /** A plugin has told its devices: who waits for it may ask again. */
  returned?: () => void;
  /** What the node has of devices changed: its status is told at once. */
  changed: () => void;
  /** Devices, their health, or who has them, are others. */
  healthChanged?: () => void;
  log: Logger;
  /** Absent with `--no-journal`. */
  journal?: JournalSettings | undefined;
}

/**
 * Hosts the machine that gives devices to containers (kubelet: devicemanager): tells it what plugins say, asks them what it orders,
 * and has it written down before a container may use what it was given. One pod after the other.
 */
export class DeviceManager {
  private readonly options: DeviceManagerOptions;
  private readonly machine: SingleMachine<DeviceState, DeviceMessage, DeviceOrder>;
  private readonly plugins: DevicePlugins;
  private readonly leftBehind = new LeftBehind();
  /** What plugins said of themselves when they came last, also of those that are away: nobody is to miss a reset for that. */
  private readonly lastOptions = new Map<string, PluginOptions>();
  private turn: Promise<unknown> = Promise.resolve();
  private looks: Timer | undefined;
  private machineIsNew = false;
  private readonly granting: Granting;

  constructor(options: DeviceManagerOptions) {
    this.options = options;
    this.machine = new SingleMachine(devices, NO_DEVICES, options.journal ?? null);
    const steady = (): number => options.clock.steady();
    this.plugins = options.plugins({
      came: (resource, its) => {
        this.lastOptions.set(resource, its);
        this.tell({ type: 'plugin.came', resource, options: its });
      },
      told: (resource, its) => {
        this.tell({ type: 'plugin.told', resource, devices: its });
        options.returned?.();
      },
      went: (resource) => this.tell({ type: 'plugin.went', resource, steady: steady() }),
    });
    this.granting = {
      ...{ options, plugins: this.plugins },
      take: (message) => this.take(message),
      carryOut: (order) => this.carryOut(order),
    };
  }

  get state(): DeviceState {
    return this.machine.state;
  }

  async start(): Promise<void> {
    const { clock, checkpoint } = this.options;
    const { patienceMs = 0 } = this.options;
    if (patienceMs > 0) this.tell({ type: 'patience.set', steady: clock.steady(), ms: patienceMs });
    this.machineIsNew = (await checkpoint.nothingThere?.()) ?? false;
    const found = await checkpoint.read();
    if (found !== null) {
      this.tell({ type: 'checkpoint.found', steady: clock.steady(), ...found });
      this.leftBehind.begin(Object.keys(found.grants));
    }
    this.looks = lookEach(clock, DUE_MS, () => this.look());
    await this.plugins.start();
  }

  async stop(): Promise<void> {
    this.looks?.cancel();
    await this.plugins.stop();
    this.machine.close();
  }

  /** Why no plugin can register, in kubelet's words; null while they can (health check `device-plugin`). */
  problem(): string | null {
    const problem = this.plugins.problem?.() ?? null;
    if (problem === null) return null;
    return `device registration error: device plugin registration gRPC server failed and no device plugins can register: ${problem}`;
  }

  /** Does the pod ask for devices that a plugin of this node has, had, or gave it? */
  wants(pod: Pod): boolean {
    return deviceSteps(pod, undefined, this.options.extended).some(({ resource }) =>
      isDeviceResource(this.state, resource),
    );
  }

  /**
   * Gives a pod that arrives its devices. @param only this container's, of a pod that runs; @param early it has waited since not all
   * sources had spoken: what runs of it was adopted
   */
  grant(pod: Pod, only?: string, early = false): Promise<GrantAnswer> {
    const mine = this.turn.then(() => grantDevices(this.granting, pod, only, early));
    this.turn = mine.catch(() => undefined);
    return mine;
  }

  /** Why a pod that runs may not be resized, for its devices, in kubelet's words; null when it may. */
  refusesResize(pod: Pod): Rejection | null {
    const steps = deviceSteps(pod, undefined, this.options.extended);
    const problem = keptDevicesProblem(this.state, pod.metadata?.uid ?? '', steps);
    return problem === null ? null : rejectionOf(new Refusal(problem));
  }

  /** Where the devices that a pod has let it be when it is resized; null where that does not matter. */
  held(pod: Pod): HeldHints | null {
    const alignment = this.options.alignment(pod);
    return alignment === null ? null : heldHints(this.state, pod, alignment, this.options.extended);
  }

  /** What a container's config gets of its devices; null when it has none. Plugins that want to know of its start are told. Rejects when that fails. */
  async optionsOf(pod: Pod, container: string): Promise<DeviceOptions | null> {
    const steps = deviceSteps(pod, container, this.options.extended).filter(({ resource }) =>
      isDeviceResource(this.state, resource),
    );
    if (steps.length === 0) return null;
    for (const { resource } of steps) {
      const of = this.state.resources[resource];
      if (of === undefined || (of.plugin === null && of.devices === null))
        throw new Error(`endpoint not found in cache for a registered resource: ${resource}`);
    }
    const uid = pod.metadata?.uid ?? '';
    const has = (): PodGrants[string] => this.grantsOf(uid, container);
    // It ran when the agent was started, and was given nothing since.
    if (steps.some(({ resource }) => !(resource in has()))) {
      const { problem } = await this.grant(pod, container);
      if (problem !== null) throw new Error(problem);
    }
    for (const { resource } of steps) {
      if (this.lastOptions.get(resource)?.preStart !== true) continue;
      const grant = has()[resource];
      if (grant === undefined)
        throw new Error(
          `no devices found allocated in local cache for pod ${uid}, container ${container}, resource ${resource}`,
        );
      await this.plugins.preStart(resource, idsOf(grant)).catch((error: unknown) => {
        throw new Error(`device plugin PreStartContainer rpc failed with err: ${messageOf(error)}`, { cause: error });
      });
    }
    return this.given(uid, container);
  }

  /** What a container's config got, or will get, of the devices that it has. */
  given(uid: string, container: string): DeviceOptions {
    const grants = this.grantsOf(uid, container);
    return deviceOptions(
      Object.keys(grants)
        .sort()
        .flatMap((name) => grants[name]?.response ?? []),
    );
  }

  private grantsOf(uid: string, container: string): PodGrants[string] {
    return atUid(this.state.grants, uid)?.[container] ?? {};
  }

  /** How many devices of each resource pods have: the node counts as having as many (sanitizeNodeAllocatable), for a pod that has some. */
  floor(uid: string): Record<string, number> | null {
    if (atUid(this.state.grants, uid) === undefined) return null;
    const counts: Record<string, number> = {};
    for (const bucket of Object.values(this.state.grants))
      for (const containers of Object.values(bucket))
        for (const resources of Object.values(containers))
          for (const [name, grant] of Object.entries(resources))
            counts[name] = (counts[name] ?? 0) + idsOf(grant).length;
    return counts;
  }

  /** The pod is gone, or was not taken for another reason. */
  gone(uid: string): void {
    if (atUid(this.state.grants, uid) !== undefined) this.tell({ type: 'pod.gone', uid });
  }

  /** For the status of the node's object. */
  capacity(): DeviceCapacity {
    return { ...deviceCapacity(this.state), ...(this.machineIsNew && { machineIsNew: true }) };
  }

  private look(): void {
    const { clock, active, listed } = this.options;
    const due = Object.values(this.state.resources).some(({ stoppedAt, devices: its }) => stoppedAt !== null && its);
    if (due) this.tell({ type: 'plugins.due', steady: clock.steady() });
    const [known, there] = this.leftBehind.any ? [active(), listed()] : [null, null];
    if (known === null || there === null) return;
    for (const uid of this.leftBehind.take(known, there)) this.gone(uid);
  }

  /** Throws when the machine does: the pod that is given devices is refused for it. */
  private take(message: WithoutTime<DeviceMessage>): DeviceOrder[] {
    const { orders, failure } = this.attempt(message);
    if (failure !== null) throw failure;
    return orders;
  }

  private attempt(message: WithoutTime<DeviceMessage>): Attempt<DeviceOrder> {
    const { resources, grants } = this.state;
    const { clock, log, healthChanged } = this.options;
    const attempt = this.machine.attempt({ ...message, at: clock.now() }, log);
    if (this.state.resources !== resources || this.state.grants !== grants) healthChanged?.();
    return attempt;
  }

  /** A message whose orders nobody waits for. */
  private tell(message: WithoutTime<DeviceMessage>): void {
    const { orders } = this.attempt(message);
    for (const order of orders)
      void this.carryOut(order).catch((error: unknown) => this.machine.orderFailed(order, this.options.log, error));
  }

  private async carryOut(order: DeviceOrder): Promise<void> {
    if (order.type === 'checkpoint.write') await this.options.checkpoint.write(this.state);
    else if (order.type === 'capacity.changed') this.options.changed();
  }
}
