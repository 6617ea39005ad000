import { bornPlace, hears, stepPlace } from '../machine-step/step.ts';
import type { Place } from '../machine-step/step.ts';
import { backOffMs } from '../values/back-off.ts';
import type { DeviceContext, DeviceEvent, DeviceUser } from './device-context.ts';
import { deviceMachine } from './device-machine.ts';
import type { MountContext, MountEvent } from './mount-context.ts';
import { mountMachine } from './mount-machine.ts';
import type { VolumeMessage } from './volume-messages.ts';
import type { DeviceId, VolumeOrder } from './volume-orders.ts';
import { foundId, mountId, volumesInUse } from './volume-manager-state.ts';
import type { VolumeManagerState } from './volume-manager-state.ts';

/** Kubelet's back-off of a volume's operations (goroutinemap). */
const WAITS = { firstMs: 500, maxMs: 122_000 };

/** How long a pod's worker waits for a volume, ms: kubelet's podAttachAndMountTimeout. */
export const PATIENCE_MS = 123_000;

type Mount = Place<MountContext>;
type Device = Place<DeviceContext>;
type Of<T extends VolumeMessage['type']> = Extract<VolumeMessage, { type: T }>;

/**
 * One step of the volume manager: what the message tells goes to the volume or device that it is of, and then each of them that can go on does. A
 * message that changes nothing gives the same state again.
 */
export function stepVolumeManager(
  state: VolumeManagerState,
  message: VolumeMessage,
): { state: VolumeManagerState; outputs: VolumeOrder[] } {
  const draft = new Draft(state, message.at);
  take(draft, message);
  settle(draft);
  draft.servedDeadlines();
  const next = draft.state();
  if (draft.changed && String(volumesInUse(state)) !== String(volumesInUse(next)))
    draft.orders.push({ type: 'node.tell' });
  return { state: next, outputs: draft.orders };
}

/** When the next message `timer` is due, ms since the epoch; null when none is. */
export function nextVolumeDeadline({ mounts, devices }: VolumeManagerState): number | null {
  const times: number[] = [];
  for (const { context } of Object.values(mounts)) {
    if (context.retryAt !== null) times.push(context.retryAt);
    if (context.askedAt !== null) times.push(context.askedAt + PATIENCE_MS);
  }
  for (const { context } of Object.values(devices)) if (context.retryAt !== null) times.push(context.retryAt);
  return times.length === 0 ? null : Math.min(...times);
}

/** The state while a step is made of it. */
class Draft {
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
    const place = this.mounts[id];
    if (place === undefined) return;
    this.mounts[id] = { value: place.value, context: { ...place.context, ...patch } };
    this.changed = true;
  }

  tellMount(id: string, event: MountEvent): void {
    const place = this.mounts[id];
    if (place === undefined || !hears(mountMachine, place.value, event.type)) return;
    const orders: VolumeOrder[] = [];
    const next = stepPlace(mountMachine, place, event, orders);
    this.order(orders);
    if (next === place) return;
    this.mounts[id] = next;
    this.changed = true;
  }

  bearDevice(birth: Omit<Parameters<typeof bornDevice>[0], 'at'>): void {
    this.devices[birth.device] = bornDevice({ ...birth, at: this.at });
    this.changed = true;
  }

  tellDevice(device: DeviceId, event: DeviceEvent): void {
    const place = this.devices[device];
    if (place === undefined || !hears(deviceMachine, place.value, event.type)) return;
    const orders: VolumeOrder[] = [];
    const next = stepPlace(deviceMachine, place, event, orders);
    this.order(orders);
    if (next === place) return;
    this.devices[device] = next;
    this.changed = true;
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
    for (const [device, place] of Object.entries(this.devices))
      if (over(place)) {
        this.devices[device] = { value: place.value, context: { ...place.context, retryAt: null } };
        this.changed = true;
      }
  }

  /** Each call has a key of its own. */
  private order(orders: readonly VolumeOrder[]): void {
    this.calls += orders.filter((order) => 'key' in order && order.type !== 'call.giveUp').length;
    this.orders.push(...orders);
  }
}

const bornDevice = (birth: {
  device: DeviceId;
  plugin: string;
  name: string;
  mode: 'Filesystem' | 'Block';
  attachable: boolean;
  stages: boolean;
  at: number;
}): Device => bornPlace<DeviceContext>(deviceMachine, birth);

function take(draft: Draft, message: VolumeMessage): void {
  const { at } = message;
  switch (message.type) {
    case 'node.found':
      return nodeFound(draft, message);
    case 'volume.wanted':
      return wanted(draft, message);
    case 'pod.left':
      return podLeft(draft, message);
    case 'volume.stale':
      return stale(draft, message);
    case 'volume.grown':
      return grown(draft, message);
    case 'timer':
      return;
    case 'volume.resolved':
      return of(draft, message.key, (id) => draft.tellMount(id, { type: 'resolved', at, known: message.known }));
    case 'volume.published':
      return of(draft, message.key, (id) => published(draft, id, message));
    case 'volume.unpublished':
      return of(draft, message.key, (id) => draft.tellMount(id, { type: 'unpublished', at }));
    case 'device.attached':
      return ofDevice(draft, message.key, (device, by) =>
        draft.tellDevice(device, { type: 'attached', at, key: draft.key(device), by, devicePath: message.devicePath }),
      );
    case 'device.staged':
      return ofDevice(draft, message.key, (device) =>
        draft.tellDevice(device, { type: 'staged', at, key: draft.key(device), stagedPath: message.stagedPath }),
      );
    case 'device.expanded':
      return ofDevice(draft, message.key, (device) =>
        draft.tellDevice(device, { type: 'expanded', at, key: draft.key(device), bytes: message.bytes }),
      );
    case 'device.unstaged':
      return ofDevice(draft, message.key, (device) => draft.tellDevice(device, { type: 'unstaged', at }));
    case 'call.failed':
      return failed(draft, message);
  }
}

/** It is there. Its pod is told when its worker does not wait any more: it was told of a failure before. */
function published(draft: Draft, id: string, { at, path }: Of<'volume.published'>): void {
  const before = draft.mounts[id];
  draft.tellMount(id, { type: 'published', at, key: draft.key(id), path });
  const { value, context } = draft.mounts[id] ?? {};
  if (before?.value !== 'publishing' || value !== 'mounted' || !context || context.askedAt !== null) return;
  draft.orders.push({ type: 'worker.mounted', uid: context.uid, volume: context.volume, path });
}

/** The volume whose call this is; an outcome that nobody waits for is left alone. */
function of(draft: Draft, key: string, act: (id: string) => void): void {
  for (const [id, { context }] of Object.entries(draft.mounts)) if (context.op === key) act(id);
}

function ofDevice(draft: Draft, key: string, act: (device: DeviceId, by: DeviceUser) => void): void {
  for (const [device, { context }] of Object.entries(draft.devices))
    if (context.op === key) act(device, usersOf(draft, device)[0] ?? { uid: '', volume: '' });
}

function failed(draft: Draft, { at, key, code, text, done }: Of<'call.failed'>): void {
  const problem = { code, text };
  of(draft, key, (id) => {
    const { failures = 0, askedAt } = draft.mounts[id]?.context ?? { askedAt: null };
    const retryAt = at + backOffMs(failures + 1, WAITS);
    draft.tellMount(id, { type: 'failed', at, key: draft.key(id), problem, retryAt, done });
    if (askedAt !== null) refuse(draft, id, problem);
    for (const [twin, { value, context }] of twinsOf(draft, id))
      if (value === 'waitingForDevice' && context.askedAt !== null) refuse(draft, twin, problem);
    tellLeft(draft, id, problem);
  });
  ofDevice(draft, key, (device) => {
    const retryAt = at + backOffMs((draft.devices[device]?.context.failures ?? 0) + 1, WAITS);
    draft.tellDevice(device, { type: 'failed', at, key: draft.key(device), problem, retryAt, done });
    for (const [id, { value, context }] of Object.entries(draft.mounts))
      if (value === 'waitingForDevice' && context.known?.device === device && context.askedAt !== null)
        refuse(draft, id, problem);
  });
}

/** A worker that waits hears of the failure; the next try is made whether it asks again or not. */
function refuse(draft: Draft, id: string, { code, text }: { code: string; text: string }): void {
  const context = draft.mounts[id]?.context;
  if (context === undefined) return;
  draft.patch(id, { askedAt: null });
  draft.orders.push({ type: 'worker.failed', uid: context.uid, volume: context.volume, code, text });
}

function tellLeft(draft: Draft, id: string, problem: { code: string; text: string }): void {
  const place = draft.mounts[id];
  if (place?.value === 'unpublishFailed') draft.orders.push({ type: 'worker.left', uid: place.context.uid, problem });
}

function nodeFound(draft: Draft, { pods, devices }: Of<'node.found'>): void {
  for (const { uid, volumes } of pods) for (const volume of volumes) foundVolume(draft, uid, volume);
  for (const { stagedPath, ...birth } of devices) {
    if (draft.devices[birth.device] !== undefined) continue;
    draft.bearDevice({ ...birth, stages: true });
    draft.tellDevice(birth.device, { type: 'found', at: draft.at, stagedPath });
  }
}

function foundVolume(draft: Draft, uid: string, found: Of<'pod.left'>['found'][number]): void {
  const { plugin, name, mode, path, device, attachable } = found;
  const same = Object.values(draft.mounts).some(
    ({ context }) =>
      context.uid === uid &&
      context.known?.plugin === plugin &&
      context.known.name === name &&
      context.known.mode === mode,
  );
  if (same) return;
  const id = foundId(uid, found);
  draft.bear(id, { uid, pod: '', volume: '' });
  const known = { plugin, name, mode, device, attachable, stages: false, alone: false, wantedBytes: 0, knownBytes: 0 };
  draft.tellMount(id, { type: 'found', at: draft.at, known, path });
}

function wanted(draft: Draft, { at, uid, pod, volume }: Of<'volume.wanted'>): void {
  const id = mountId(uid, volume);
  const place = draft.mounts[id];
  if (place === undefined) draft.bear(id, { uid, pod, volume });
  else if (isLeaving(place)) {
    draft.patch(id, { again: true, askedAt: at });
    return;
  } else if (place.value === 'mounted') {
    draft.orders.push({ type: 'worker.mounted', uid, volume, path: place.context.path });
    return;
  }
  draft.patch(id, { askedAt: place?.context.askedAt ?? at });
}

function podLeft(draft: Draft, { at, uid, found }: Of<'pod.left'>): void {
  for (const volume of found) foundVolume(draft, uid, volume);
  let some = false;
  for (const [id, { context }] of Object.entries(draft.mounts)) {
    if (context.uid !== uid) continue;
    some = true;
    if (context.again) draft.patch(id, { again: false });
    draft.tellMount(id, { type: 'leave', at, key: draft.key(id) });
  }
  if (!some) draft.orders.push({ type: 'worker.left', uid, problem: null });
}

function stale(draft: Draft, { at, uid, volume }: Of<'volume.stale'>): void {
  const id = mountId(uid, volume);
  const place = draft.mounts[id];
  if (place?.value !== 'mounted' || place.context.shared || (place.context.retryAt ?? 0) > at) return;
  draft.tellMount(id, { type: 'begin', at, key: draft.key(id), order: pathsOf(draft, place) });
}

function grown(draft: Draft, { uid, volume, wantedBytes, knownBytes }: Of<'volume.grown'>): void {
  const id = mountId(uid, volume);
  const known = draft.mounts[id]?.context.known;
  if (!known || (known.wantedBytes === wantedBytes && known.knownBytes === knownBytes)) return;
  draft.patch(id, { known: { ...known, wantedBytes, knownBytes } });
}

/** All that can go on does, until nothing more can. */
function settle(draft: Draft): void {
  for (;;) {
    const before = [draft.mounts, draft.devices].map((all) => Object.values(all));
    for (const id of Object.keys(draft.mounts)) goOn(draft, id);
    for (const device of Object.keys(draft.devices)) deviceGoesOn(draft, device);
    const after = [draft.mounts, draft.devices].map((all) => Object.values(all));
    const same = after.every(
      (all, i) => all.length === before[i]?.length && all.every((one, k) => one === before[i]?.[k]),
    );
    if (same) return;
  }
}

function goOn(draft: Draft, id: string): void {
  const place = draft.mounts[id];
  if (place === undefined) return;
  const { at } = draft;
  const { context } = place;
  const begin = (): void =>
    draft.tellMount(id, { type: 'begin', at, key: draft.key(id), order: pathsOf(draft, place) });
  const due = (context.retryAt ?? 0) <= at;
  switch (place.value) {
    case 'wanted':
      begin();
      break;
    case 'unresolved':
    case 'publishFailed':
    case 'unpublishFailed':
      if (due) begin();
      break;
    case 'waitingForDevice':
      takeOver(draft, id);
      if (isShared(draft, id)) break;
      if (due && deviceIsThere(draft, place)) begin();
      break;
    case 'mounted':
      if (context.askedAt !== null) {
        draft.patch(id, { askedAt: null });
        const { uid, volume, path } = context;
        draft.orders.push({ type: 'worker.mounted', uid, volume, path });
      } else if (context.retryAt !== null && due) begin();
      break;
    case 'gone':
      forgetMount(draft, id);
      break;
  }
  const asked = draft.mounts[id]?.context.askedAt ?? null;
  if (asked !== null && at >= asked + PATIENCE_MS)
    refuse(draft, id, { code: 'VolumeTimeout', text: 'timed out waiting for the condition' });
}

/** What lay in the pod's folder is this volume: from now on it stands for it. */
function takeOver(draft: Draft, id: string): void {
  const { uid, known } = draft.mounts[id]?.context ?? {};
  if (uid === undefined || !known) return;
  const found = foundId(uid, known);
  if (draft.mounts[found]?.value === 'found') {
    draft.forget(found);
    draft.patch(id, { mayBeThere: true });
  }
}

function forgetMount(draft: Draft, id: string): void {
  const { uid, pod, volume, again, askedAt } = draft.mounts[id]?.context ?? {};
  draft.forget(id);
  if (uid === undefined) return;
  if (again && pod !== undefined && volume !== undefined) {
    draft.bear(id, { uid, pod, volume });
    draft.patch(id, { askedAt: askedAt ?? null });
  }
  if (!Object.values(draft.mounts).some(({ context }) => context.uid === uid && !context.again))
    draft.orders.push({ type: 'worker.left', uid, problem: null });
}

/** Another volume of the pod is the same one, or what lay in its folder, and must be there or gone first. */
function isShared(draft: Draft, id: string): boolean {
  const twin = twinsOf(draft, id).find(([, { value }]) => value !== 'waitingForDevice' && value !== 'gone');
  if (twin === undefined) return false;
  const [, { value, context }] = twin;
  if (value === 'mounted' || value === 'republishing')
    draft.tellMount(id, { type: 'shared', at: draft.at, path: context.path });
  return true;
}

/** Other records of the same volume in the same pod. */
function twinsOf(draft: Draft, id: string): [string, Mount][] {
  const { uid, known } = draft.mounts[id]?.context ?? {};
  if (!known) return [];
  return Object.entries(draft.mounts).filter(
    ([other, { context }]) =>
      other !== id &&
      context.uid === uid &&
      context.known !== null &&
      !context.shared &&
      foundId(context.uid, context.known) === foundId(context.uid, known),
  );
}

/** The device is ready and the volume may be put into the pod; where it is not wanted by anybody yet it is from now on. */
function deviceIsThere(draft: Draft, { context }: Mount): boolean {
  const { known } = context;
  if (known === null || known.device === '' || known.device === '?') return true;
  const { device, plugin, name, mode, attachable, stages } = known;
  const place = draft.devices[device];
  if (place === undefined) {
    draft.bearDevice({ device, plugin, name, mode, attachable, stages });
    return false;
  }
  if (place.value !== 'ready' && place.value !== 'expanding') return false;
  if (known.alone && isElsewhere(draft, context)) {
    const text = `MountVolume.SetUp failed for volume "${name}" : volume uses the ReadWriteOncePod access mode and is already in use by another pod`;
    const problem = { code: 'FailedMount', text };
    const id = mountId(context.uid, context.volume);
    const retryAt = draft.at + backOffMs(context.failures + 1, WAITS);
    draft.tellMount(id, { type: 'hindered', at: draft.at, problem, retryAt });
    if (context.askedAt !== null) refuse(draft, id, problem);
    return false;
  }
  return true;
}

/** Another pod has the volume already. */
function isElsewhere(draft: Draft, { uid, known }: MountContext): boolean {
  return Object.values(draft.mounts).some(
    ({ value, context }) =>
      context.uid !== uid &&
      context.known?.device === known?.device &&
      value !== 'waitingForDevice' &&
      (value !== 'publishFailed' || context.mayBeThere) &&
      value !== 'gone',
  );
}

function pathsOf(draft: Draft, { context }: Mount): { devicePath: string; stagedPath: string } {
  const { devicePath = '', stagedPath = '' } = draft.devices[context.known?.device ?? '']?.context ?? {};
  return { devicePath, stagedPath };
}

function deviceGoesOn(draft: Draft, device: DeviceId): void {
  const place = draft.devices[device];
  if (place === undefined) return;
  const { at } = draft;
  const { value, context } = place;
  if (value === 'gone') {
    draft.forgetDevice(device);
    return;
  }
  const users = usersOf(draft, device);
  const due = (context.retryAt ?? 0) <= at;
  const [by] = users;
  if (by === undefined) {
    if (!isHeld(draft, context)) draft.tellDevice(device, { type: 'leave', at, key: draft.key(device) });
    if (value === 'unstageFailed' && due)
      draft.tellDevice(device, { type: 'begin', at, key: draft.key(device), by: NOBODY });
    return;
  }
  const waits = value === 'wanted' || value === 'attachFailed' || value === 'stageFailed' || value === 'unstageFailed';
  if (waits && due) draft.tellDevice(device, { type: 'begin', at, key: draft.key(device), by });
  else if (value === 'ready' && due) growIfDue(draft, device, context);
}

const NOBODY: DeviceUser = { uid: '', volume: '' };

/** Of a volume in a pod's folder it cannot be told which device it is on: it may be this one. */
function isHeld(draft: Draft, { plugin }: DeviceContext): boolean {
  return Object.values(draft.mounts).some(
    ({ context }) => context.known?.device === '?' && context.known.plugin === plugin,
  );
}

/** Those that want it or have it. One that asks for it while it is given back waits for the next life of it. */
function usersOf(draft: Draft, device: DeviceId): DeviceUser[] {
  return Object.values(draft.mounts)
    .filter(({ value, context }) => context.known?.device === device && value !== 'gone')
    .map(({ context: { uid, volume } }) => ({ uid, volume }));
}

/** A volume that has grown since it was last looked at is made larger once a pod has it. */
function growIfDue(draft: Draft, device: DeviceId, { bytes, plugin }: DeviceContext): void {
  for (const { value, context } of Object.values(draft.mounts)) {
    const { known, uid, volume, path } = context;
    if (value !== 'mounted' || known?.device !== device || known.plugin !== plugin) continue;
    const oldBytes = Math.max(bytes, known.knownBytes);
    if (known.wantedBytes <= oldBytes || known.knownBytes === 0) continue;
    const by = { uid, volume };
    const key = draft.key(device);
    const newBytes = known.wantedBytes;
    draft.tellDevice(device, { type: 'expand', at: draft.at, key, by, publishedPath: path, oldBytes, newBytes });
    return;
  }
}

function isLeaving({ value }: Mount): boolean {
  return value === 'givenUp' || value === 'unpublishing' || value === 'unpublishFailed' || value === 'gone';
}
