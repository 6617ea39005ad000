import type { Place } from '../../../machines/machine-step/step.ts';
import { statePath } from '../../../machines/machine-step/step.ts';
import type { PodSnapshot } from '../../../machines/pod/pod-context.ts';
import { isObject } from '../../../machines/values/json-object.ts';
import type { AnyJournaled } from '../../record/machines/journaled-machine.ts';
import type { NodeSnapshot } from '../../record/machines/node.ts';
import type { StepDetail } from './inspector-api.ts';

/** What the page shows of a pod at a moment. */
export function shownPod({
  value,
  context,
}: PodSnapshot): Pick<StepDetail, 'machines' | 'spec' | 'status' | 'context'> {
  const { pod, status, settings: _settings, ...rest } = context;
  const { status: _told, ...spec } = pod;
  return {
    machines: {
      pod: statePath(value),
      containers: statesOf(context.containers),
      probes: statesOf(context.probes),
      volumes: statesOf(context.volumes),
    },
    spec,
    status,
    context: rest,
  };
}

function statesOf(places: Record<string, Place<unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(places).map(([name, { value }]) => [name, statePath(value)]));
}

/** What the page shows of the node at a moment; its status is what the Ready condition says. */
export function shownNode({
  value,
  context,
}: NodeSnapshot): Pick<StepDetail, 'machines' | 'spec' | 'status' | 'context'> {
  const { nodeName, agent, cluster, reasons } = context;
  const state = statePath(value);
  const ready =
    reasons.length === 0 && !state.startsWith('starting')
      ? { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' }
      : { type: 'Ready', status: 'False', reason: 'KubeletNotReady', message: reasons.join(', ') };
  return {
    machines: { pod: state, containers: {}, probes: {}, volumes: {} },
    spec: { nodeName, agent, cluster },
    status: { conditions: [ready] },
    context,
  };
}

/** What the page shows of a machine that there is one of: its state is its context. */
export function shownSingle(
  machine: AnyJournaled,
  state: unknown,
): Pick<StepDetail, 'machines' | 'spec' | 'status' | 'context'> {
  const none = { containers: {}, probes: {}, volumes: {} };
  // Of an XState machine the context, of a function all that it remembers.
  const context = isObject(state) && 'context' in state ? state['context'] : state;
  return { machines: { pod: machine.stateName(state), ...none }, spec: {}, status: {}, context };
}
