import type { DeviceUser } from './device-context.ts';
import type { KnownVolume, MountContext } from './mount-context.ts';
import type { Device, Draft, Mount } from './volume-draft.ts';
import { foundId } from './volume-manager-state.ts';
import type { DeviceId } from './volume-orders.ts';
import { NOT_ATTACHED, WAITING } from './volume-waits.ts';

/** A worker that waits hears of the failure; the next try is made whether it asks again or not. */
export function refuse(draft: Draft, id: string, { code, text }: { code: string; text: string }): void {
  const context = draft.mounts[id]?.context;
  if (context === undefined) return;
  draft.patch(id, { askedAt: null });
  draft.orders.push({ type: 'worker.failed', uid: context.uid, volume: context.volume, code, text });
}

/** A worker that waits does so no longer. */
export function waitIsOver(draft: Draft, id: string): void {
  const code = isUnattached(draft, id) ? WAITING.unattached : WAITING.timeout;
  refuse(draft, id, { code, text: 'timed out waiting for the condition' });
}

/** Its device is not attached yet. */
function isUnattached(draft: Draft, id: string): boolean {
  const { value } = draft.devices[draft.mounts[id]?.context.known?.device ?? ''] ?? {};
  return value === 'attaching' || value === 'attachFailed';
}

/** The worker of a pod that ends hears what could not be taken down. */
export function tellLeft(draft: Draft, id: string, problem: { code: string; text: string }): void {
  const place = draft.mounts[id];
  if (place?.value === 'unpublishFailed') draft.orders.push({ type: 'worker.left', uid: place.context.uid, problem });
}

/** Other records of the same volume in the same pod. */
export function twinsOf(draft: Draft, id: string): [string, Mount][] {
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

/** Another pod has the volume already. */
export function isElsewhere(draft: Draft, { uid, known }: MountContext): boolean {
  return Object.values(draft.mounts).some(
    ({ value, context }) =>
      context.uid !== uid &&
      maybeSame(context.known, known) &&
      value !== 'gone' &&
      (context.mayBeThere || (value !== 'waitingForDevice' && value !== 'publishFailed')),
  );
}

/** On the same device; of one in a pod's folder that nobody can tell the device of, by the name of its volume. */
function maybeSame(found: MountContext['known'], known: MountContext['known']): boolean {
  if (found?.device !== '?') return found?.device === known?.device;
  return found.plugin === known?.plugin && found.name === known.name;
}

/**
 * Those that want it or have it, those that asked for it first: calls are made for them. One that asks for it while it is given back waits for the
 * next life of it.
 */
export function usersOf(draft: Draft, device: DeviceId): DeviceUser[] {
  return Object.values(draft.mounts)
    .filter(({ value, context }) => context.known?.device === device && value !== 'gone')
    .filter(({ context }) => !isOtherwiseLabelled(draft, context))
    .map(({ context: { uid, volume } }) => ({ uid, volume }))
    .sort((a, b) => Number(a.volume === '') - Number(b.volume === ''));
}

/**
 * Its device is made ready with another SELinux label than it wants: it waits until that is given back, and made ready again with its own (kubelet:
 * seLinuxMountMismatchError). What may be in the pod already stays as it is.
 */
export function isOtherwiseLabelled(draft: Draft, { known, mayBeThere }: MountContext): boolean {
  const label = draft.devices[known?.device ?? '']?.context.label;
  return known?.seLinux !== undefined && !mayBeThere && label !== undefined && label !== known.seLinux.mount;
}

/**
 * The label that another pod of the node, which has the volume or wants it, has for it; undefined when no other pod does. One that was found on disk and is
 * not looked up yet has what its device is mounted with; that tells nothing where volumes are not mounted with labels yet.
 */
export function labelElsewhere(draft: Draft, uid: string, { device, seLinux }: KnownVolume): string | undefined {
  const isKnown = (place: Mount): boolean => seLinux?.enforced === true || place.context.known?.seLinux !== undefined;
  const other = Object.values(draft.mounts).find(
    (place) =>
      !isLeaving(place) && place.context.uid !== uid && place.context.known?.device === device && isKnown(place),
  );
  return other && (other.context.known?.seLinux?.wanted ?? draft.devices[device]?.context.label ?? '');
}

/** It is being taken down, or is. */
export function isLeaving({ value }: Mount): boolean {
  return value === 'givenUp' || value === 'unpublishing' || value === 'unpublishFailed' || value === 'gone';
}

/** It is not attached as far as the node's object says, and that is looked at again. */
export function waitsForNode(device: Device | undefined): boolean {
  return device?.value === 'attachFailed' && device.context.problem?.code === NOT_ATTACHED;
}

/** Its device is being made larger: until that is over it is not brought up to date, for a driver is not to have two calls for one volume. */
export function isGrowing(draft: Draft, { context }: Mount): boolean {
  return draft.devices[context.known?.device ?? '']?.value === 'expanding';
}

/** Where its device is, as far as it is known. */
export function pathsOf(draft: Draft, { context }: Mount): { devicePath: string; stagedPath: string } {
  const { devicePath = '', stagedPath = '' } = draft.devices[context.known?.device ?? '']?.context ?? {};
  return { devicePath, stagedPath };
}
