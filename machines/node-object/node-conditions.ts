import { aggregate } from '../values/aggregate.ts';
import type { ManagedCondition, NodeCondition, NodeEvent, NodePressure } from './node-types.ts';

/** `metav1.Time`: RFC 3339 in UTC without a fraction. */
export function apiTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** Conditions and the events that their changes are. */
export interface ConditionsStep {
  conditions: NodeCondition[];
  events: NodeEvent[];
}

const PRESSURES = [
  {
    type: 'MemoryPressure',
    of: (p: NodePressure) => p.memory,
    yes: ['NodeHasInsufficientMemory', 'KubeletHasInsufficientMemory', 'kubelet has insufficient memory available'],
    no: ['NodeHasSufficientMemory', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
  },
  {
    type: 'DiskPressure',
    of: (p: NodePressure) => p.disk,
    yes: ['NodeHasDiskPressure', 'KubeletHasDiskPressure', 'kubelet has disk pressure'],
    no: ['NodeHasNoDiskPressure', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  },
  {
    type: 'PIDPressure',
    of: (p: NodePressure) => p.pid,
    yes: ['NodeHasInsufficientPID', 'KubeletHasInsufficientPID', 'kubelet has insufficient PID available'],
    no: ['NodeHasSufficientPID', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
  },
] as const;

/** `Node <name> status is now: <reason>`, as kubelet records each change of a condition. */
export function statusEvent(nodeName: string, reason: string): NodeEvent {
  return { type: 'Normal', reason, message: `Node ${nodeName} status is now: ${reason}` };
}

/**
 * The node's own conditions over those that the object has; conditions of others stay where they are.
 * `lastTransitionTime` moves only when the status does, `lastHeartbeatTime` always. Ready comes last when it is new.
 */
export function nodeConditions(
  nodeName: string,
  before: readonly NodeCondition[],
  facts: { pressure: NodePressure; managed?: readonly ManagedCondition[]; notReady: readonly string[] },
  now: number,
): ConditionsStep {
  const at = apiTime(now);
  const conditions = [...before];
  const events: NodeEvent[] = [];
  for (const pressure of PRESSURES) {
    const high = pressure.of(facts.pressure);
    const status = high ? 'True' : 'False';
    const [event, reason, message] = high ? pressure.yes : pressure.no;
    const index = conditions.findIndex((c) => c.type === pressure.type);
    const old = conditions[index];
    if (old?.status === status) {
      conditions[index] = { ...old, lastHeartbeatTime: at };
      continue;
    }
    const fresh = { type: pressure.type, status, lastHeartbeatTime: at, lastTransitionTime: at, reason, message };
    if (index < 0) conditions.push(fresh);
    else conditions[index] = fresh;
    events.push(statusEvent(nodeName, event));
  }
  for (const managed of facts.managed ?? []) {
    const index = conditions.findIndex((c) => c.type === managed.type);
    const old = conditions[index];
    const since = old?.status === managed.status ? (old.lastTransitionTime ?? at) : at;
    const fresh = { ...managed, lastHeartbeatTime: at, lastTransitionTime: since };
    if (index < 0) conditions.push(fresh);
    else conditions[index] = fresh;
  }
  const ready = readyCondition(facts.notReady, at);
  const index = conditions.findIndex((c) => c.type === 'Ready');
  const old = conditions[index];
  if (old?.status === ready.status && old.lastTransitionTime !== undefined) {
    ready.lastTransitionTime = old.lastTransitionTime;
  }
  // kubelet tells no event for a condition that is new, since its first one is never True; ours may be.
  if (old === undefined ? ready.status === 'True' : old.status !== ready.status) {
    events.push(statusEvent(nodeName, ready.status === 'True' ? 'NodeReady' : 'NodeNotReady'));
  }
  if (index < 0) conditions.push(ready);
  else conditions[index] = ready;
  return { conditions, events };
}

function readyCondition(notReady: readonly string[], at: string): NodeCondition {
  const times = { lastHeartbeatTime: at, lastTransitionTime: at };
  return notReady.length === 0
    ? { type: 'Ready', status: 'True', ...times, reason: 'KubeletReady', message: 'kubelet is posting ready status' }
    : { type: 'Ready', status: 'False', ...times, reason: 'KubeletNotReady', message: aggregate(notReady) };
}
