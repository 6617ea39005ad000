import { atUid, uidEntries, uidTable, withoutUid } from '../supervisor/uid-table.ts';
import type { DeviceMessage, DeviceOrder } from './device-messages.ts';
import { STOP_GRACE_MS, isDeviceResource } from './device-state.ts';
import type { DeviceResource, DeviceState } from './device-state.ts';
import { aligned, failed, gave, giveOn, notAligned } from './give-devices.ts';
import type { Turn } from './give-devices.ts';

const UNKNOWN: DeviceResource = { devices: null, plugin: null, told: false, stoppedAt: null };

type MessageOf<T extends DeviceMessage['type']> = Extract<DeviceMessage, { type: T }>;

/**
 * One step of the device manager (kubelet: devicemanager.ManagerImpl): which devices there are, who has them, and who is given
 * some. A plugin is asked by an order and answers by a message, so a grant is decided, made ready and kept in that order.
 * An answer that nobody waits for changes nothing.
 */
export function stepDevices(
  state: DeviceState,
  message: DeviceMessage,
): { state: DeviceState; outputs: DeviceOrder[] } {
  const turn: Turn = { state, orders: [] };
  take(turn, message);
  return { state: turn.state, outputs: turn.orders };
}

/** The state's name: whether a pod waits for a plugin. */
export function devicesStateName({ asking }: DeviceState): string {
  if (asking === null) return 'idle';
  if (asking.aligning === true) return 'aligning';
  return asking.chosen === null ? 'preferring' : 'allocating';
}

/** What is waited for; '' when nothing is. */
export function devicesWhy({ asking }: DeviceState): string {
  const step = asking?.steps[asking.at];
  if (asking === null || step === undefined) return '';
  const what = asking.chosen === null ? 'which devices it would like' : `devices ${asking.chosen.join(', ')}`;
  return `container ${step.container} of pod ${asking.uid} waits for the plugin of ${step.resource}: ${what}`;
}

function take(turn: Turn, message: DeviceMessage): void {
  switch (message.type) {
    case 'patience.set':
      turn.state = { ...turn.state, patience: { ms: message.ms, begunAt: message.steady } };
      break;
    case 'checkpoint.found':
      found(turn, message);
      break;
    case 'plugin.came':
      changeResource(turn, message.resource, { plugin: message.options, told: false, stoppedAt: null });
      break;
    case 'plugin.told':
      told(turn, message);
      break;
    case 'plugin.went':
      changeResource(turn, message.resource, {
        ...{ plugin: null, told: false, stoppedAt: message.steady },
        ...missing(turn, message.resource, message.steady),
      });
      turn.orders.push({ type: 'capacity.changed' });
      break;
    case 'plugins.due':
      due(turn, message.steady);
      break;
    case 'pod.asks':
      asks(turn, message);
      break;
    case 'affinity.told':
      aligned(turn, message);
      break;
    case 'affinity.refused':
      notAligned(turn, message);
      break;
    case 'plugin.prefers':
      if (turn.state.asking?.chosen === null) giveOn(turn, message.ids);
      break;
    case 'plugin.gave':
      gave(turn, message);
      break;
    case 'plugin.failed':
      failed(turn, message);
      break;
    case 'pod.gone':
      gone(turn, message.uid);
      break;
  }
}

/** Until their plugins come back the resources have no devices, so that no pod is given one. */
function found(turn: Turn, { grants, registered, steady }: MessageOf<'checkpoint.found'>): void {
  const before = Object.fromEntries(
    registered.map((name) => [name, { ...UNKNOWN, devices: {}, stoppedAt: steady, ...missing(turn, name, steady) }]),
  );
  turn.state = {
    ...turn.state,
    resources: { ...before, ...turn.state.resources },
    grants: uidTable(Object.entries(grants)),
  };
}

/** Since when the resource has no plugin that told its devices: one that comes and goes gets no more time by that. */
function missing({ state }: Turn, resource: string, steady: number): { missingSince?: number } {
  if (state.patience === undefined) return {};
  return { missingSince: state.resources[resource]?.missingSince ?? steady };
}

/** The first step that has to wait for a plugin which was there before; null when none has, or no longer. */
function awaited({ state }: Turn, { uid, steps, running, steady }: MessageOf<'pod.asks'>): DeviceOrder | null {
  const { patience, resources } = state;
  if (patience === undefined || steady === undefined) return null;
  for (const { container, resource } of steps) {
    if (running.includes(container) || !isDeviceResource(state, resource)) continue;
    const of = resources[resource];
    if (of?.told === true) continue;
    const until = (of === undefined ? patience.begunAt : (of.missingSince ?? -Infinity)) + patience.ms;
    if (steady < until) return { type: 'pod.waits', uid, resource, until };
  }
  return null;
}

function told(turn: Turn, { resource, devices }: MessageOf<'plugin.told'>): void {
  if ((turn.state.resources[resource]?.plugin ?? null) === null) return;
  const { missingSince: _found, ...known } = turn.state.resources[resource] ?? UNKNOWN;
  const { resources } = turn.state;
  turn.state = { ...turn.state, resources: { ...resources, [resource]: { ...known, devices, told: true } } };
  turn.orders.push({ type: 'checkpoint.write' }, { type: 'capacity.changed' });
}

function due(turn: Turn, steady: number): void {
  for (const [name, { stoppedAt, devices }] of Object.entries(turn.state.resources)) {
    if (stoppedAt === null || devices === null || steady - stoppedAt <= STOP_GRACE_MS) continue;
    changeResource(turn, name, { devices: null });
    if (turn.orders.length === 0) turn.orders.push({ type: 'checkpoint.write' }, { type: 'capacity.changed' });
  }
}

function asks(turn: Turn, message: MessageOf<'pod.asks'>): void {
  const { uid, steps, active, running, alignment } = message;
  if (active !== null) {
    const all = uidEntries(turn.state.grants);
    const alive = all.filter(([other]) => other === uid || active.includes(other));
    if (alive.length < all.length) {
      turn.state = { ...turn.state, grants: uidTable(alive) };
      turn.orders.push({ type: 'checkpoint.write' });
    }
  }
  const waits = awaited(turn, message);
  if (waits !== null) {
    turn.orders.push(waits);
    return;
  }
  turn.state = {
    ...turn.state,
    asking: { uid, steps, at: 0, reusable: {}, running, chosen: null, ...(alignment && { alignment }) },
  };
  giveOn(turn);
}

function gone(turn: Turn, uid: string): void {
  if (atUid(turn.state.grants, uid) === undefined) return;
  turn.state = { ...turn.state, grants: withoutUid(turn.state.grants, uid) };
  turn.orders.push({ type: 'checkpoint.write' });
}

function changeResource(turn: Turn, name: string, part: Partial<DeviceResource>): void {
  const { resources } = turn.state;
  turn.state = { ...turn.state, resources: { ...resources, [name]: { ...(resources[name] ?? UNKNOWN), ...part } } };
}
