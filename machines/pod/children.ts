import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import { initialTransition } from 'xstate';
import { containerHash } from '../container-config/container-hash.ts';
import type { ContainerContext, ContainerEvent, ContainerWorld } from '../container/container-context.ts';
import { containerMachine } from '../container/container-machine.ts';
import type { Place } from '../machine-step/step.ts';
import { resolve, statePath, step } from '../machine-step/step.ts';
import type { ProbeContext, ProbeEvent, ProbeKind, ProbeWorld } from '../probe/probe-context.ts';
import { probeMachine } from '../probe/probe-machine.ts';
import type { Probe } from '../protocol/api-types.ts';
import type { Draft } from './draft.ts';
import { newestOf, newestSandbox } from './observation.ts';
import type { SpecContainer } from './spec.ts';
import { specContainer } from './spec.ts';
import { startedOf } from './readiness.ts';

/** Snapshots of places made in this process, so that a step need not resolve them anew. */
const snapshots = new WeakMap<object, AnyMachineSnapshot>();

function snapshotOf(machine: AnyStateMachine, place: Place<unknown>): AnyMachineSnapshot {
  return snapshots.get(place) ?? resolve(machine, place);
}

function placeOf<C>(snapshot: AnyMachineSnapshot): Place<C> {
  const place: Place<C> = { value: snapshot.value, context: snapshot.context as C };
  snapshots.set(place, snapshot);
  return place;
}

type Bare<E> = E extends unknown ? Omit<E, 'world'> : never;

/** Hands an event to a container machine (made when it is new) and takes over its effects. */
export function tellContainer(draft: Draft, name: string, event: Bare<ContainerEvent>): void {
  const found = specContainer(draft.context.pod, name);
  if (found === null) return;
  const before = draft.context.containers[name] ?? bornContainer(name, found.kind);
  const world = containerWorld(draft, found, before.context);
  const { snapshot, effects } = step(containerMachine, snapshotOf(containerMachine, before), {
    ...event,
    world,
  } as ContainerEvent);
  draft.context.containers[name] = placeOf<ContainerContext>(snapshot);
  draft.effects.push(...effects);
}

/** A container machine at its start. */
export function bornContainer(name: string, kind: SpecContainer['kind']): Place<ContainerContext> {
  return placeOf<ContainerContext>(initialTransition(containerMachine, { name, kind })[0]);
}

function containerWorld(draft: Draft, { container, kind }: SpecContainer, own: ContainerContext): ContainerWorld {
  const { context } = draft;
  const observed = newestOf(context.observed, container.name);
  const sandbox = newestSandbox(context.observed);
  const ready = sandbox?.state === 'ready' && context.tasks['sandbox.run']?.state === 'done' ? sandbox : null;
  const target =
    kind === 'ephemeral'
      ? context.pod.spec?.ephemeralContainers?.find((c) => c.name === container.name)?.targetContainerName
      : undefined;
  return {
    at: draft.at,
    pod: context.pod,
    container,
    settings: context.settings,
    hash: containerHash(container),
    sandboxId: ready?.id ?? '',
    sandboxConfig: context.sandboxConfig,
    podIPs: podIPs(draft),
    volumePaths: context.tasks['volumes']?.state === 'done' ? (context.volumePaths ?? {}) : null,
    observed,
    nextAttempt: observed === null ? (own.id === '' ? 0 : own.attempt + 1) : observed.restartCount + 1,
    runtimeHandler: sandbox?.runtimeHandler ?? '',
    targetId: target === undefined ? '' : (newestOf(context.observed, target)?.id ?? ''),
  };
}

/** The pod's addresses: the sandbox's, or the node's with host network. */
export function podIPs(draft: Draft): string[] {
  const sandbox = newestSandbox(draft.context.observed);
  if (sandbox === null) return [];
  if (draft.context.pod.spec?.hostNetwork === true) return draft.context.settings.nodeIPs;
  return sandbox.ips;
}

const PROBE_FIELDS = { liveness: 'livenessProbe', readiness: 'readinessProbe', startup: 'startupProbe' } as const;

/** The probes that a container asks for. */
export function probesOf({ container, kind }: SpecContainer): { key: string; kind: ProbeKind; probe: Probe }[] {
  if (kind === 'init' || kind === 'ephemeral') return [];
  return (['startup', 'liveness', 'readiness'] as const).flatMap((probeKind) => {
    const probe = container[PROBE_FIELDS[probeKind]];
    return probe === undefined ? [] : [{ key: `${container.name}/${probeKind}`, kind: probeKind, probe }];
  });
}

/** Hands an event to a probe machine (made when it is new) and takes over its effects. */
export function tellProbe(
  draft: Draft,
  owner: SpecContainer,
  kind: ProbeKind,
  probe: Probe,
  event: Bare<ProbeEvent>,
): void {
  const key = `${owner.container.name}/${kind}`;
  const before = draft.context.probes[key] ?? bornProbe(owner.container.name, kind);
  const world = probeWorld(draft, owner, probe);
  const { snapshot, effects } = step(probeMachine, snapshotOf(probeMachine, before), { ...event, world } as ProbeEvent);
  draft.context.probes[key] = placeOf<ProbeContext>(snapshot);
  draft.effects.push(...effects);
}

/** A probe machine at its start. */
export function bornProbe(container: string, kind: ProbeKind): Place<ProbeContext> {
  return placeOf<ProbeContext>(initialTransition(probeMachine, { container, kind })[0]);
}

function probeWorld(draft: Draft, owner: SpecContainer, probe: Probe): ProbeWorld {
  const { context } = draft;
  const seen = newestOf(context.observed, owner.container.name);
  // A container that is being stopped is probed on: it is ready until it says otherwise (kubelet's worker asks whether it runs, no more).
  const state = statePath(context.containers[owner.container.name]?.value);
  const running = seen?.state === 'running' && (state === 'running' || state.startsWith('stopping'));
  return {
    at: draft.at,
    pod: context.pod,
    container: owner.container,
    probe,
    podIP: podIPs(draft)[0] ?? '',
    runningId: running ? seen.id : '',
    startedAt: running ? seen.startedAt : 0,
    started: startedOf(context, owner),
    terminating: context.termination !== null,
    adopted: running && context.adopted.includes(seen.id),
  };
}
