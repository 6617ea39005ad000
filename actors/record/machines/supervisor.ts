import { initialTransition } from 'xstate';
import type { AnyMachineSnapshot } from 'xstate';
import { resolve, statePath, step } from '../../../machines/machine-step/step.ts';
import { NO_TRACKED_PODS, podTable, trackedPods } from '../../../machines/supervisor/pod-table.ts';
import type { PodTable } from '../../../machines/supervisor/pod-table.ts';
import type {
  SupervisorContext,
  SupervisorMessage,
  SupervisorOrder,
} from '../../../machines/supervisor/supervisor-context.ts';
import { supervisorMachine } from '../../../machines/supervisor/supervisor-machine.ts';
import type { TrackedPod } from '../../../machines/supervisor/tracked-pod.ts';
import { journaled } from './journaled-machine.ts';
import type { Refer, SpecReference } from './journaled-machine.ts';

/** The supervisor's snapshot. */
export type SupervisorSnapshot = AnyMachineSnapshot & { context: SupervisorContext };

/** A `sup.snap` record: one pod that it tracks. */
interface TrackedRow {
  t: Omit<TrackedPod, 'pod' | 'comeback'> & { pod: SpecReference; comeback: SpecReference | null };
}

/** The supervisor at its birth. */
export function bornSupervisor(input: { shards: number; behaviour?: readonly number[] }): SupervisorSnapshot {
  return initialTransition(supervisorMachine, input)[0] as SupervisorSnapshot;
}

/** The supervisor. Looks at pods that have an actor change nothing in it; they stand in the shard's log. */
export const supervisor = journaled<SupervisorSnapshot, SupervisorMessage, SupervisorOrder>({
  name: 'supervisor',
  prefix: 'sup',
  folder: '',
  step: (from, message) => {
    const { snapshot, effects } = step<SupervisorSnapshot, SupervisorOrder>(supervisorMachine, from, message);
    return { state: snapshot, outputs: effects };
  },
  stateName: ({ value }) => statePath(value),
  write: ({ value, context: { pods, ...context } }, refer) => ({
    head: { value, context },
    rows: trackedRows(pods, refer),
  }),
  revive: (head, rows, { podOf }) => {
    const { value, context } = head as { value: unknown; context: { shards: number } };
    if (!Number.isFinite(context.shards)) throw new Error('context.shards: no number');
    const tracked = (rows as readonly TrackedRow[]).map(({ t }) => ({
      ...t,
      pod: podOf(t.pod),
      comeback: t.comeback === null ? null : podOf(t.comeback),
    }));
    const pods = tracked.length === 0 ? NO_TRACKED_PODS : podTable(tracked);
    const whole = { ...bornSupervisor({ shards: context.shards }).context, ...context, pods };
    return resolve(supervisorMachine, { value, context: whole }) as SupervisorSnapshot;
  },
  packMessage: (message, refer) =>
    message.type === 'config'
      ? { ...message, update: { ...message.update, pods: message.update.pods.map((pod) => refer(pod)) } }
      : message,
  unpackMessage: (raw, { podOf }) => {
    if (raw.type !== 'config') return raw as SupervisorMessage;
    const { update } = raw as unknown as { update: { pods: SpecReference[] } };
    return {
      ...raw,
      update: { ...update, pods: update.pods.map((pod) => podOf(pod)) },
    } as unknown as SupervisorMessage;
  },
  packOutputs: (orders, refer) =>
    orders.map((order) => {
      if (order.type === 'start') return { ...order, pod: refer(order.pod) };
      if (order.type !== 'tell' || !('pod' in order.message)) return order;
      return { ...order, message: { ...order.message, pod: refer(order.message.pod) } };
    }),
});

/** One by one: the spec of each stands right before it. */
function* trackedRows(pods: PodTable, refer: Refer): Generator<TrackedRow> {
  for (const { pod, comeback, ...tracked } of trackedPods(pods)) {
    const back = comeback === null ? null : refer(comeback);
    yield { t: { ...tracked, pod: refer(pod), comeback: back } };
  }
}
