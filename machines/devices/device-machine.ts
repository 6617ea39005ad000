import { atUid, uidEntries, uidTable, withoutUid, withUid } from '../supervisor/uid-table.ts';
import { chooseDevices } from './choose-devices.ts';
import { allHints } from './device-hints.ts';
import type { ResourceHints } from '../resource-managers/topology/hints.ts';
import type { DeviceMessage, DeviceOrder } from './device-messages.ts';
import { STOP_GRACE_MS, healthyIds, idsOf, isDeviceResource } from './device-state.ts';
import type { Asking, DeviceGrant, DeviceResource, DeviceState, DeviceStep } from './device-state.ts';

/** NUMA node of devices whose plugin names none. */
const NO_NODE = '-1';

const UNKNOWN: DeviceResource = { devices: null, plugin: null, told: false, stoppedAt: null };

type MessageOf<T extends DeviceMessage['type']> = Extract<DeviceMessage, { type: T }>;

/** One step on its way. */
interface Turn {
  state: DeviceState;
  orders: DeviceOrder[];
}

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
    case 'affinity.told': {
      const { asking } = turn.state;
      const step = asking?.steps[asking.at];
      if (asking?.aligning !== true || step === undefined) break;
      const affinity = { ...asking.affinity, [alignedAs(asking, step)]: message.nodes };
      turn.state = { ...turn.state, asking: { ...asking, affinity, aligning: false } };
      proceed(turn);
      break;
    }
    case 'affinity.refused': {
      const { asking } = turn.state;
      if (asking?.aligning === true) end(turn, { type: 'pod.refused', uid: asking.uid, message: message.message });
      break;
    }
    case 'plugin.prefers':
      if (turn.state.asking?.chosen === null) proceed(turn, message.ids);
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
  proceed(turn);
}

/** Goes on with the step at hand, and with all after it that need no plugin. */
function proceed(turn: Turn, preferred?: readonly string[]): void {
  let liked = preferred;
  for (let { asking } = turn.state; asking !== null; { asking } = turn.state) {
    const step = asking.steps[asking.at];
    if (step === undefined) {
      end(turn, { type: 'pod.granted', uid: asking.uid });
      return;
    }
    if (!isDeviceResource(turn.state, step.resource)) {
      next(turn, asking);
      continue;
    }
    if (mustAlign(asking, step)) {
      const [container, hints] = [alignedAs(asking, step), hintsFor(turn.state, asking, step)];
      turn.state = { ...turn.state, asking: { ...asking, aligning: true } };
      turn.orders.push({ type: 'affinity.ask', uid: asking.uid, container, hints });
      return;
    }
    const affinity = asking.affinity?.[alignedAs(asking, step)] ?? null;
    const choice = chooseDevices(turn.state, asking, step, { preferred: liked, affinity });
    liked = undefined;
    if (choice.t === 'nothing') {
      next(turn, asking);
    } else if (choice.t === 'refused') {
      end(turn, { type: 'pod.refused', uid: asking.uid, message: choice.message });
      return;
    } else {
      askPlugin(turn, asking, step, choice);
      return;
    }
  }
}

/** Under which name the topology manager is asked for a step. */
function alignedAs({ alignment }: Asking, { container }: DeviceStep): string {
  return alignment?.ofPod ? '' : container;
}

function mustAlign(asking: Asking, step: DeviceStep): boolean {
  return asking.alignment !== undefined && asking.affinity?.[alignedAs(asking, step)] === undefined;
}

/** Where all devices of the step's container, or of the pod as a whole, could be had from. */
function hintsFor(state: DeviceState, asking: Asking, { container }: DeviceStep): ResourceHints {
  const { uid, alignment, steps, reusable } = asking;
  const ofPod = alignment?.ofPod ?? null;
  const asked: [string, number][] =
    ofPod === null
      ? steps.filter((step) => step.container === container).map(({ resource, count }) => [resource, count])
      : Object.entries(ofPod);
  const asks = asked
    .filter(([resource]) => isDeviceResource(state, resource))
    .map(([resource, count]) => ({
      ...{ uid, resource, count, container: ofPod === null ? container : null },
      reusable: reusable[resource] ?? [],
    }));
  return allHints(state, alignment?.nodes ?? [], asks);
}

function askPlugin(
  turn: Turn,
  asking: Asking,
  { resource }: DeviceStep,
  choice: Extract<ReturnType<typeof chooseDevices>, { t: 'ids' | 'prefer' }>,
): void {
  if ((turn.state.resources[resource]?.plugin ?? null) === null) {
    const message = `endpoint ${resource} has been stopped`;
    end(turn, { type: 'pod.refused', uid: asking.uid, message });
    return;
  }
  const chosen = choice.t === 'ids' ? choice.ids : null;
  turn.state = { ...turn.state, asking: { ...asking, chosen } };
  if (choice.t === 'ids') turn.orders.push({ type: 'plugin.allocate', resource, ids: choice.ids });
  else {
    const { available, mustInclude, size } = choice;
    turn.orders.push({ type: 'plugin.prefer', resource, available, mustInclude, size });
  }
}

function gave(turn: Turn, { response }: MessageOf<'plugin.gave'>): void {
  const { asking, grants, resources } = turn.state;
  const step = asking?.steps[asking.at];
  if (asking === null || step === undefined || asking.chosen === null) return;
  const { uid } = asking;
  if (response === null) {
    end(turn, { type: 'pod.refused', uid, message: 'no containers return in allocation response' });
    return;
  }
  const ids: Record<string, string[]> = {};
  for (const id of asking.chosen) {
    const nodes = resources[step.resource]?.devices?.[id]?.nodes ?? [];
    for (const node of nodes.length > 0 ? nodes.map(String) : [NO_NODE]) (ids[node] ??= []).push(id);
  }
  const pod = atUid(grants, uid) ?? {};
  const grant: DeviceGrant = { ids, response };
  const of = { ...pod[step.container], [step.resource]: grant };
  turn.state = { ...turn.state, grants: withUid(grants, uid, { ...pod, [step.container]: of }) };
  turn.orders.push({ type: 'checkpoint.write' });
  next(turn, asking);
  proceed(turn);
}

/** The step is done. What an init container has is free for those after it; what another one has is not. */
function next(turn: Turn, asking: Asking): void {
  const step = asking.steps[asking.at];
  const grant = step && atUid(turn.state.grants, asking.uid)?.[step.container]?.[step.resource];
  let { reusable } = asking;
  if (step !== undefined && grant !== undefined) {
    const had = reusable[step.resource] ?? [];
    const mine = idsOf(grant);
    const others = had.filter((id) => !mine.includes(id));
    reusable = { ...reusable, [step.resource]: step.kind === 'init' ? [...others, ...mine].sort() : others };
  }
  turn.state = { ...turn.state, asking: { ...asking, at: asking.at + 1, reusable, chosen: null } };
}

function failed(turn: Turn, { call, message }: MessageOf<'plugin.failed'>): void {
  const { asking } = turn.state;
  if (asking === null || (asking.chosen === null) !== (call === 'GetPreferredAllocation')) return;
  const text = call === 'Allocate' ? message : `device plugin ${call} rpc failed with err: ${message}`;
  end(turn, { type: 'pod.refused', uid: asking.uid, message: text });
}

function end(turn: Turn, order: DeviceOrder): void {
  turn.state = { ...turn.state, asking: null };
  turn.orders.push(order);
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

/** Numbers of devices by resource, as a node's status has them: all, and the healthy ones. */
export interface DeviceCapacity {
  capacity: Record<string, string>;
  allocatable: Record<string, string>;
  /** Nothing was left here of an agent before this one: what the node's object says of extended resources is of a machine that is no more. */
  machineIsNew?: true;
}

/** What the node has of each resource; 0 of those whose plugin went for good. */
export function deviceCapacity({ resources }: DeviceState): DeviceCapacity {
  const capacity: Record<string, string> = {};
  const allocatable: Record<string, string> = {};
  for (const [name, resource] of Object.entries(resources)) {
    const { devices, stoppedAt } = resource;
    // One that has only just registered has told nothing yet.
    if (devices === null && stoppedAt === null) continue;
    capacity[name] = String(Object.keys(devices ?? {}).length);
    allocatable[name] = String(healthyIds(resource).length);
  }
  return { capacity, allocatable };
}
