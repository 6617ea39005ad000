import { backOffMs } from '../values/back-off.ts';
import type { DeviceContext, DeviceUser } from './device-context.ts';
import type { MountContext } from './mount-context.ts';
import type { Draft, Mount } from './volume-draft.ts';
import { foundId, mountId } from './volume-manager-state.ts';
import type { DeviceId } from './volume-orders.ts';
import {
  isElsewhere,
  isGrowing,
  isOtherwiseLabelled,
  pathsOf,
  refuse,
  twinsOf,
  usersOf,
  waitIsOver,
} from './volume-users.ts';
import { LABELLED, PATIENCE_MS, WAITS } from './volume-waits.ts';

/** All that can go on does, until nothing more can. */
export function settle(draft: Draft): void {
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
    case 'unpublishFailed':
      if (due) begin();
      break;
    case 'publishFailed':
      // Two pods at which it failed stand in nobody's way, until one of them tries again.
      if (due && !(context.known?.aloneAtEachTry && isHindered(draft, context))) begin();
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
      } else if (context.retryAt !== null && due && !isGrowing(draft, place)) begin();
      break;
    case 'gone':
      forgetMount(draft, id);
      break;
  }
  const asked = draft.mounts[id]?.context.askedAt ?? null;
  if (asked !== null && at >= asked + PATIENCE_MS) waitIsOver(draft, id);
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

/** The device is ready and the volume may be put into the pod; where it is not wanted by anybody yet it is from now on. */
function deviceIsThere(draft: Draft, { context }: Mount): boolean {
  const { known } = context;
  if (known === null || known.device === '' || known.device === '?') return true;
  const { device, plugin, name, mode, attachable, stages } = known;
  const place = draft.devices[device];
  if (place === undefined) {
    const label = known.seLinux?.mount;
    draft.bearDevice({ device, plugin, name, mode, attachable, stages, ...(label !== undefined && { label }) });
    if (context.problem?.code === LABELLED) draft.patch(mountId(context.uid, context.volume), { problem: null });
    return false;
  }
  if (isOtherwiseLabelled(draft, context)) {
    const text = `waiting for unmount of volume "${device}", because it is already mounted to a different pod with a different SELinux label`;
    if (context.problem?.code !== LABELLED)
      draft.patch(mountId(context.uid, context.volume), { problem: { code: LABELLED, text } });
    return false;
  }
  return (place.value === 'ready' || place.value === 'expanding') && !isHindered(draft, context);
}

/** One pod alone may have it, and another has it, or is about to: told, and looked at again after a delay that grows. */
function isHindered(draft: Draft, context: MountContext): boolean {
  const { known } = context;
  if (!known?.alone || !isElsewhere(draft, context)) return false;
  const what = known.mapped ? 'MapVolume.SetUpDevice' : 'MountVolume.SetUp';
  const text = `${what} failed for volume "${known.name}" : volume uses the ReadWriteOncePod access mode and is already in use by another pod`;
  const problem = { code: 'FailedMount', text };
  const id = mountId(context.uid, context.volume);
  const retryAt = draft.at + backOffMs(context.failures + 1, WAITS);
  draft.tellMount(id, { type: 'hindered', at: draft.at, problem, retryAt });
  if (context.askedAt !== null) refuse(draft, id, problem);
  return true;
}

function deviceGoesOn(draft: Draft, device: DeviceId): void {
  const place = draft.devices[device];
  if (place === undefined) return;
  const { at } = draft;
  const { value } = place;
  if (value === 'gone') {
    draft.forgetDevice(device);
    return;
  }
  const users = usersOf(draft, device);
  const bytes = place.context.bytes === 0 ? firstSize(draft, device) : 0;
  if (bytes > 0) draft.patchDevice(device, { bytes });
  const context = { ...place.context, ...(bytes > 0 && { bytes }) };
  const due = (context.retryAt ?? 0) <= at;
  const [by] = users;
  if (by === undefined) {
    if (!isHeld(draft, context)) draft.tellDevice(device, { type: 'leave', at, key: draft.key(device) });
    if (value === 'unstageFailed' && due)
      draft.tellDevice(device, { type: 'begin', at, key: draft.key(device), by: NOBODY });
    return;
  }
  if (value === 'unstageFailed' && draft.mounts[mountId(by.uid, by.volume)]?.context.known?.stagesAnew === true) {
    draft.tellDevice(device, { type: 'again', at, key: draft.key(device), by });
    return;
  }
  // What an earlier agent has left is staged again for a pod that asks for it, not for one that only has a folder.
  const asked = value === 'found' && by.volume !== '';
  const waits = value === 'wanted' || value === 'attachFailed' || value === 'stageFailed' || value === 'unstageFailed';
  if ((asked || waits) && due) draft.tellDevice(device, { type: 'begin', at, key: draft.key(device), by });
  else if (value === 'ready' && due) growIfDue(draft, device, context);
}

const NOBODY: DeviceUser = { uid: '', volume: '' };

/** Of a volume in a pod's folder it cannot be told which device it is on: it may be this one. */
function isHeld(draft: Draft, { plugin }: DeviceContext): boolean {
  return Object.values(draft.mounts).some(
    ({ context }) => context.known?.device === '?' && context.known.plugin === plugin,
  );
}

/** How large a device is when a pod of this node has it first: as its claim says then (kubelet: InitializeClaimSize). */
function firstSize(draft: Draft, device: DeviceId): number {
  const known = Object.values(draft.mounts).map(({ context }) => context.known);
  return known.find((each) => each?.device === device && each.growsHere && each.knownBytes > 0)?.knownBytes ?? 0;
}

/**
 * A volume that has grown since it was last looked at is made larger once a pod has it, and no other call for it there is under way: of two volumes
 * of a pod that are the same one, only that which was put there tells of that.
 */
function growIfDue(draft: Draft, device: DeviceId, { bytes, plugin }: DeviceContext): void {
  for (const { value, context } of Object.values(draft.mounts)) {
    const { known, uid, volume, path } = context;
    if (value !== 'mounted' || context.shared || known?.device !== device || known.plugin !== plugin) continue;
    const oldBytes = known.growsHere ? bytes : Math.max(bytes, known.knownBytes);
    if (known.wantedBytes <= oldBytes || known.knownBytes === 0) continue;
    const by = { uid, volume };
    const key = draft.key(device);
    const newBytes = known.wantedBytes;
    draft.tellDevice(device, { type: 'expand', at: draft.at, key, by, publishedPath: path, oldBytes, newBytes });
    return;
  }
}
