import type { AnyStateMachine } from 'xstate';
import { bornPlace, hears, stepPlace } from '../machine-step/step.ts';
import type { Place } from '../machine-step/step.ts';
import type { DeviceBirth, DeviceContext, DeviceEvent } from './device-context.ts';
import { deviceMachine } from './device-machine.ts';
import type { MountContext, MountEvent } from './mount-context.ts';
import { mountMachine } from './mount-machine.ts';
import type { DeviceId, VolumeOrder } from './volume-orders.ts';
import type { VolumeManagerState } from './volume-manager-state.ts';

/** A volume of a pod, in its state. */
export type Mount = Place<MountContext>;
/** A device of the node, in its state. */
export type Device = Place<DeviceContext>;

/** The volume manager's state while a step is made of it, with the orders that come of it. */
export class Draft {
  readonly at: number;
  readonly orders: VolumeOrder[] = [];
  /** Something has changed. */
  changed = false;
  mounts: Record<string, Mount>;
  devices: Record<DeviceId, Device>;
  private readonly before: VolumeManagerState;
  private calls: number;

  constructor(state: VolumeManagerState, at: number) {
    this.before = state;
    this.at = at;
    this.calls = state.calls;
    this.mounts = { ...state.mounts };
    this.devices = { ...state.devices };
  }

  key(what: string): string {
    return `${what}#${this.calls + 1}`;
  }

  state(): VolumeManagerState {
    if (!this.changed) return this.before;
    return { mounts: this.mounts, devices: this.devices, calls: this.calls };
  }

  bear(id: string, birth: { uid: string; pod: string; volume: string }): void {
    this.mounts[id] = bornPlace<MountContext>(mountMachine, { ...birth, at: this.at });
    this.changed = true;
  }

  patch(id: string, patch: Partial<MountContext>): void {
    this.patchIn(this.mounts, id, patch);
  }

  tellMount(id: string, event: MountEvent): void {
    this.tellIn(this.mounts, mountMachine, id, event);
  }

  bearDevice(birth: Omit<DeviceBirth, 'at'>): void {
    this.devices[birth.device] = bornPlace<DeviceContext>(deviceMachine, { ...birth, at: this.at });
    this.changed = true;
  }

  patchDevice(device: DeviceId, patch: Partial<DeviceContext>): void {
    this.patchIn(this.devices, device, patch);
  }

  tellDevice(device: DeviceId, event: DeviceEvent): void {
    this.tellIn(this.devices, deviceMachine, device, event);
  }

  forget(id: string): void {
    delete this.mounts[id];
    this.changed = true;
  }

  forgetDevice(device: DeviceId): void {
    delete this.devices[device];
    this.changed = true;
  }

  /** A time that has come and of which nothing followed is none to wait for: what stood in the way tells when it is gone. */
  servedDeadlines(): void {
    const { at } = this;
    const over = ({ context: { retryAt } }: Mount | Device): boolean => retryAt !== null && retryAt <= at;
    for (const [id, place] of Object.entries(this.mounts)) if (over(place)) this.patch(id, { retryAt: null });
    for (const [id, place] of Object.entries(this.devices)) if (over(place)) this.patchDevice(id, { retryAt: null });
  }

  private patchIn<C>(places: Record<string, Place<C>>, id: string, patch: Partial<C>): void {
    const place = places[id];
    if (place === undefined) return;
    places[id] = { value: place.value, context: { ...place.context, ...patch } };
    this.changed = true;
  }

  /** Has a place's machine take what it hears in its state. */
  private tellIn<C>(
    places: Record<string, Place<C>>,
    machine: AnyStateMachine,
    id: string,
    event: { type: string },
  ): void {
    const place = places[id];
    if (place === undefined || !hears(machine, place.value, event.type)) return;
    const orders: VolumeOrder[] = [];
    const next = stepPlace(machine, place, event, orders);
    this.order(orders);
    if (next === place) return;
    places[id] = next;
    this.changed = true;
  }

  /** Each call has a key of its own. */
  private order(orders: readonly VolumeOrder[]): void {
    this.calls += orders.filter((order) => 'key' in order && order.type !== 'call.giveUp').length;
    this.orders.push(...orders);
  }
}
