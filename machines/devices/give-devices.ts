import type { ResourceHints } from '../resource-managers/topology/hints.ts';
import { atUid, withUid } from '../supervisor/uid-table.ts';
import { chooseDevices } from './choose-devices.ts';
import { allHints } from './device-hints.ts';
import type { DeviceMessage, DeviceOrder } from './device-messages.ts';
import { idsOf, isDeviceResource } from './device-state.ts';
import type { Asking, DeviceGrant, DeviceState, DeviceStep } from './device-state.ts';

/** One step of the device manager on its way. */
export interface Turn {
  state: DeviceState;
  orders: DeviceOrder[];
}

type MessageOf<T extends DeviceMessage['type']> = Extract<DeviceMessage, { type: T }>;

/** NUMA node of devices whose plugin names none. */
const NO_NODE = '-1';

/** Goes on with the step at hand, and with all after it that need no plugin. */
export function giveOn(turn: Turn, preferred?: readonly string[]): void {
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

/** The topology manager has said where a container, or the pod, is to be. */
export function aligned(turn: Turn, { nodes }: MessageOf<'affinity.told'>): void {
  const { asking } = turn.state;
  const step = asking?.steps[asking.at];
  if (asking?.aligning !== true || step === undefined) return;
  const affinity = { ...asking.affinity, [alignedAs(asking, step)]: nodes };
  turn.state = { ...turn.state, asking: { ...asking, affinity, aligning: false } };
  giveOn(turn);
}

/** It can be nowhere. */
export function notAligned(turn: Turn, { message }: MessageOf<'affinity.refused'>): void {
  const { asking } = turn.state;
  if (asking?.aligning === true) end(turn, { type: 'pod.refused', uid: asking.uid, message });
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

/** The plugin has made chosen devices ready: the container has them. */
export function gave(turn: Turn, { response }: MessageOf<'plugin.gave'>): void {
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
  giveOn(turn);
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

/** The plugin could not say which it would like, or make them ready: the pod is refused. */
export function failed(turn: Turn, { call, message }: MessageOf<'plugin.failed'>): void {
  const { asking } = turn.state;
  if (asking === null || (asking.chosen === null) !== (call === 'GetPreferredAllocation')) return;
  const text = call === 'Allocate' ? message : `device plugin ${call} rpc failed with err: ${message}`;
  end(turn, { type: 'pod.refused', uid: asking.uid, message: text });
}

function end(turn: Turn, order: DeviceOrder): void {
  turn.state = { ...turn.state, asking: null };
  turn.orders.push(order);
}
