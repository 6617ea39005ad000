import type { AnyStateMachine } from 'xstate';
import { machineConfig } from '../../../machines/charts/machine-config.ts';
import type { MachineName } from '../../../machines/charts/node-machines.ts';
import { NODE_MACHINES } from '../../../machines/charts/node-machines.ts';
import type { Place } from '../../../machines/machine-step/step.ts';
import { statePath } from '../../../machines/machine-step/step.ts';
import { NODE_UID } from '../../../machines/node/node-context.ts';
import type { PodSnapshot } from '../../../machines/pod/pod-context.ts';
import type { NodeSnapshot } from '../../record/machines/node.ts';
import type { Lane } from './inspector-api.ts';

/** Version of `@statelyai/inspect` whose schema this is. */
const PROTOCOL = '0.7.2';

/** A message of the protocol of `@statelyai/inspect`. */
export type StatelyEvent = {
  /** Unique in the agent: a pod's UID, or `UID/container/NAME`, `UID/probe/CONTAINER/KIND`, `UID/volume/NAME`, `@node`, `actorlet/LANE`. */
  sessionId: string;
  rootId: string;
  /** ms since the epoch, as text. */
  createdAt: string;
  id: string;
  _version: string;
} & (
  | {
      type: '@xstate.actor';
      name: string;
      parentId: string | undefined;
      /** The machine's definition, as JSON text. */
      definition: string | undefined;
      snapshot: StatelySnapshot;
    }
  | { type: '@xstate.event'; sourceId: string | undefined; event: { type: string } }
  | { type: '@xstate.snapshot'; event: { type: string }; snapshot: StatelySnapshot }
);

/** A machine's place as the protocol shows it. */
export interface StatelySnapshot {
  status: 'active' | 'done';
  value?: unknown;
  context?: unknown;
}

/** One actor that stands below a pod. */
export interface ChildActor {
  sessionId: string;
  name: string;
  machine: MachineName;
  place: Place<unknown>;
  /** Changes when something has happened to it. */
  mark: string;
}

const definitions = new Map<MachineName, string>();

function definitionOf(machine: MachineName): string {
  let text = definitions.get(machine);
  if (text === undefined) {
    text = JSON.stringify(machineConfig(NODE_MACHINES[machine] as AnyStateMachine));
    definitions.set(machine, text);
  }
  return text;
}

function base(sessionId: string, rootId: string, at: number, id: string) {
  return { sessionId, rootId, createdAt: String(Math.round(at)), id, _version: PROTOCOL };
}

/** Session of who sends a pod its messages. */
export function laneSession(lane: Lane): string {
  return `actorlet/${lane}`;
}

/** Who sends messages, as an actor without a definition. */
export function laneActor(lane: Lane, at: number): StatelyEvent {
  const sessionId = laneSession(lane);
  return {
    type: '@xstate.actor',
    ...base(sessionId, sessionId, at, sessionId),
    ...{ name: lane, parentId: undefined, definition: JSON.stringify({ id: lane }), snapshot: { status: 'active' } },
  };
}

/** A pod's machine, with its definition and its place. */
export function podActor(uid: string, name: string, at: number, snapshot: PodSnapshot): StatelyEvent {
  return {
    type: '@xstate.actor',
    ...base(uid, uid, at, `${uid}#actor`),
    ...{ name, parentId: undefined, definition: definitionOf('pod'), snapshot: podPlace(snapshot) },
  };
}

/** The node's machine, with its definition and its place. */
export function nodeActor(name: string, at: number, snapshot: NodeSnapshot): StatelyEvent {
  return {
    type: '@xstate.actor',
    ...base(NODE_UID, NODE_UID, at, `${NODE_UID}#actor`),
    ...{ name, parentId: undefined, definition: definitionOf('node'), snapshot: nodePlace(snapshot) },
  };
}

/** Where the node is after a step. */
export function nodeSnapshot(
  step: { index: number; at: number },
  message: Record<string, unknown>,
  snapshot: NodeSnapshot,
): StatelyEvent {
  return {
    type: '@xstate.snapshot',
    ...base(NODE_UID, NODE_UID, step.at, `${NODE_UID}#snapshot-${String(step.index)}`),
    ...{ event: message as { type: string }, snapshot: nodePlace(snapshot) },
  };
}

function nodePlace({ value, context }: NodeSnapshot): StatelySnapshot {
  return { status: 'active', value, context };
}

/** A container's, probe's or volume's machine. */
export function childActor(uid: string, child: ChildActor, at: number): StatelyEvent {
  return {
    type: '@xstate.actor',
    ...base(child.sessionId, uid, at, `${child.sessionId}#actor`),
    ...{ name: child.name, parentId: uid, definition: definitionOf(child.machine), snapshot: childPlace(child) },
  };
}

/** A message to a pod, or what the pod tells one of its children of it. */
export function messageEvent(
  uid: string,
  to: { sessionId: string; sourceId: string },
  step: { index: number; at: number },
  message: Record<string, unknown>,
): StatelyEvent {
  return {
    type: '@xstate.event',
    ...base(to.sessionId, uid, step.at, `${to.sessionId}#event-${String(step.index)}`),
    sourceId: to.sourceId,
    event: message as { type: string },
  };
}

/** Where a pod is after a step. */
export function podSnapshot(
  uid: string,
  step: { index: number; at: number },
  message: Record<string, unknown>,
  snapshot: PodSnapshot,
): StatelyEvent {
  return {
    type: '@xstate.snapshot',
    ...base(uid, uid, step.at, `${uid}#snapshot-${String(step.index)}`),
    ...{ event: message as { type: string }, snapshot: podPlace(snapshot) },
  };
}

/** Where a container, a probe or a volume is after a step of its pod. */
export function childSnapshot(
  uid: string,
  step: { index: number; at: number },
  message: Record<string, unknown>,
  child: ChildActor,
): StatelyEvent {
  return {
    type: '@xstate.snapshot',
    ...base(child.sessionId, uid, step.at, `${child.sessionId}#snapshot-${String(step.index)}`),
    ...{ event: message as { type: string }, snapshot: childPlace(child) },
  };
}

/** The machines that live in a pod's context. */
export function childActors(uid: string, { context }: PodSnapshot): ChildActor[] {
  const made = (machine: MachineName, places: Record<string, Place<unknown>>): ChildActor[] =>
    Object.entries(places).map(([name, place]) => ({
      ...{
        sessionId: `${uid}/${machine}/${name}`,
        name: `${context.pod.metadata?.name ?? uid}/${name}`,
        machine,
        place,
      },
      mark: `${statePath(place.value)} ${markOf(place.context)}`,
    }));
  return [
    ...made('container', context.containers),
    ...made('probe', context.probes),
    ...made('volume', context.volumes),
  ];
}

/** What of a context counts its turns: of containers and probes the effects, of volumes the effect under way and the last success. */
function markOf(context: unknown): string {
  const { seq, op, mountedAt } = context as { seq?: unknown; op?: unknown; mountedAt?: unknown };
  return JSON.stringify(seq ?? [op, mountedAt]);
}

/** The child whose effect a message answers. */
export function answeredChild(uid: string, message: Record<string, unknown>): string | null {
  const [kind, first, second] = String(message['key'] ?? '').split('/');
  if (kind === 'container' && first !== undefined) return `${uid}/container/${first}`;
  return kind === 'probe' && second !== undefined ? `${uid}/probe/${String(first)}/${second}` : null;
}

/** The context without what never changes (settings), stands elsewhere (children) or is large (the pod's spec). */
function podPlace({ value, context }: PodSnapshot): StatelySnapshot {
  const {
    settings: _settings,
    pod: _pod,
    containers: _containers,
    probes: _probes,
    volumes: _volumes,
    ...rest
  } = context;
  return { status: context.finished ? 'done' : 'active', value, context: rest };
}

function childPlace({ place }: ChildActor): StatelySnapshot {
  return { status: 'active', value: place.value, context: place.context };
}
