import { backOffMs } from '../values/back-off.ts';
import type { DeviceUser } from './device-context.ts';
import type { VolumeProblem } from './mount-context.ts';
import type { Draft } from './volume-draft.ts';
import { foundId, mountId } from './volume-manager-state.ts';
import type { VolumeMessage } from './volume-messages.ts';
import type { DeviceId } from './volume-orders.ts';
import {
  isGrowing,
  isLeaving,
  labelElsewhere,
  pathsOf,
  refuse,
  tellLeft,
  twinsOf,
  usersOf,
  waitIsOver,
  waitsForNode,
} from './volume-users.ts';
import { LOOKS, NOT_ATTACHED, NOT_GROWN, WAITING, WAITS } from './volume-waits.ts';

type Of<T extends VolumeMessage['type']> = Extract<VolumeMessage, { type: T }>;

/** What a message tells goes to the volume or device that it is of. */
export function take(draft: Draft, message: VolumeMessage): void {
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
    case 'wait.over':
      for (const [id, { context }] of Object.entries(draft.mounts))
        if (context.uid === message.uid && context.askedAt !== null) waitIsOver(draft, id);
      return;
    case 'node.told':
      return nodeTold(draft, message);
    case 'timer':
      return;
    case 'volume.resolved':
      return of(draft, message.key, (id) => resolved(draft, id, message));
    case 'volume.published':
      return of(draft, message.key, (id) => published(draft, id, message));
    case 'volume.unpublished':
      return of(draft, message.key, (id) => draft.tellMount(id, { type: 'unpublished', at }));
    case 'device.attached':
      return ofDevice(draft, message.key, (device, by) => {
        if (message.unattachable) isAttachedByNobody(draft, device);
        draft.tellDevice(device, { type: 'attached', at, key: draft.key(device), by, devicePath: message.devicePath });
      });
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

/** It is known. One that another pod of the node has with another SELinux label is refused, or that is only counted. */
function resolved(draft: Draft, id: string, { at, known }: Of<'volume.resolved'>): void {
  const { uid = '', volume = '' } = draft.mounts[id]?.context ?? {};
  const { seLinux } = known;
  const elsewhere = seLinux === undefined ? undefined : labelElsewhere(draft, uid, known);
  const counted = (what: 'admitted' | 'mismatch'): void => {
    draft.orders.push({ type: 'label.counted', uid, volume, what });
  };
  if (seLinux !== undefined && elsewhere === undefined && seLinux.wanted !== '') counted('admitted');
  if (seLinux !== undefined && elsewhere !== undefined && elsewhere !== seLinux.wanted) {
    counted('mismatch');
    const text = `conflicting SELinux labels of volume ${known.name}: "${elsewhere}" and "${seLinux.wanted}"`;
    if (seLinux.enforced)
      return mountFailed(draft, id, { at, problem: { code: WAITING.unprocessed, text }, done: true });
  }
  draft.tellMount(id, { type: 'resolved', at, known });
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

/** The node's status does not name it as in use any more, which only asks for it to stay attached. */
function isAttachedByNobody(draft: Draft, device: DeviceId): void {
  draft.patchDevice(device, { attachable: false });
  for (const [id, { context }] of Object.entries(draft.mounts))
    if (context.known?.device === device) draft.patch(id, { known: { ...context.known, attachable: false } });
}

function failed(draft: Draft, { at, key, code, text, done }: Of<'call.failed'>): void {
  const problem = { code, text };
  of(draft, key, (id) => mountFailed(draft, id, { at, problem, done }));
  ofDevice(draft, key, (device) => {
    const quiet = code === NOT_ATTACHED;
    const failures = (draft.devices[device]?.context.failures ?? 0) + 1;
    const retryAt = at + backOffMs(failures, quiet ? LOOKS : WAITS);
    draft.tellDevice(device, { type: 'failed', at, key: draft.key(device), problem, retryAt, done });
    // Kubelet tells no event of that: it is somebody else's turn.
    if (quiet || code === NOT_GROWN) return;
    for (const [id, { value, context }] of Object.entries(draft.mounts))
      if (value === 'waitingForDevice' && context.known?.device === device && context.askedAt !== null)
        refuse(draft, id, problem);
  });
}

function mountFailed(
  draft: Draft,
  id: string,
  { at, problem, done }: { at: number; problem: VolumeProblem; done: boolean },
): void {
  const { value, context } = draft.mounts[id] ?? {};
  const { failures = 0, askedAt = null } = context ?? {};
  const retryAt = at + backOffMs(failures + 1, value === 'resolving' ? LOOKS : WAITS);
  draft.tellMount(id, { type: 'failed', at, key: draft.key(id), problem, retryAt, done });
  if (askedAt !== null) refuse(draft, id, problem);
  for (const [twin, { value, context }] of twinsOf(draft, id))
    if (value === 'waitingForDevice' && context.askedAt !== null) refuse(draft, twin, problem);
  tellLeft(draft, id, problem);
}

function nodeFound(draft: Draft, { pods, devices }: Of<'node.found'>): void {
  for (const { uid, volumes } of pods) for (const volume of volumes) foundVolume(draft, uid, volume);
  for (const { stagedPath, ...birth } of devices) {
    if (draft.devices[birth.device] !== undefined) continue;
    draft.bearDevice({ ...birth, stages: true });
    draft.tellDevice(birth.device, { type: 'found', at: draft.at, stagedPath });
  }
}

function nodeTold(draft: Draft, { at, devices }: Of<'node.told'>): void {
  for (const device of devices) if (waitsForNode(draft.devices[device])) draft.patchDevice(device, { retryAt: at });
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
    callOffExpansion(draft, id);
    draft.tellMount(id, { type: 'leave', at, key: draft.key(id) });
  }
  if (!some) draft.orders.push({ type: 'worker.left', uid, problem: null });
}

/** What is taken from a pod is not made larger at the same time: a driver is not to have two calls for one volume. */
function callOffExpansion(draft: Draft, id: string): void {
  const { value, context } = draft.mounts[id] ?? {};
  const device = context?.known?.device ?? '';
  if (device === '' || (value !== 'mounted' && value !== 'republishing')) return;
  draft.tellDevice(device, { type: 'callOff', at: draft.at });
}

function stale(draft: Draft, { at, uid, volume }: Of<'volume.stale'>): void {
  const id = mountId(uid, volume);
  const place = draft.mounts[id];
  if (place?.value !== 'mounted' || place.context.shared || (place.context.retryAt ?? 0) > at) return;
  if (isGrowing(draft, place)) return;
  draft.tellMount(id, { type: 'begin', at, key: draft.key(id), order: pathsOf(draft, place) });
}

function grown(draft: Draft, { uid, volume, wantedBytes, knownBytes }: Of<'volume.grown'>): void {
  const id = mountId(uid, volume);
  const known = draft.mounts[id]?.context.known;
  if (!known || (known.wantedBytes === wantedBytes && known.knownBytes === knownBytes)) return;
  draft.patch(id, { known: { ...known, wantedBytes, knownBytes } });
}
