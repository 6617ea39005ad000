import { entryOf } from '../values/entry-of.ts';
import { backOffKey } from '../container/back-off-key.ts';
import type { ContainerContext, ContainerEvent, ContainerWorld } from '../container/container-context.ts';
import { containerMachine } from '../container/container-machine.ts';
import type { Place } from '../machine-step/step.ts';
import { bornPlace, hears, statePath, stepPlace } from '../machine-step/step.ts';
import type { ProbeContext, ProbeEvent, ProbeKind, ProbeWorld } from '../probe/probe-context.ts';
import { probeMachine } from '../probe/probe-machine.ts';
import type { Probe } from '../protocol/api-types.ts';
import { behaves } from '../protocol/behaviour.ts';
import type { ObservedContainer } from '../protocol/observed.ts';
import { toldOf } from '../status/status-lists.ts';
import type { Draft } from './draft.ts';
import { own } from './draft.ts';
import { grantOf, runsWithoutQuota } from './cpu-grants.ts';
import { imagesFor } from './awaited-images.ts';
import { takesUp } from './left-over.ts';
import { newestOf, newestSandbox } from './observation.ts';
import { isInHook } from './readiness.ts';
import type { PodContext } from './pod-context.ts';
import { imageRuntimeOf } from './pod-runtime.ts';
import { settingsNow } from './settings-now.ts';
import type { SpecContainer } from './spec.ts';
import { specContainer } from './spec.ts';
import { startedOf } from './readiness.ts';
import { awaitedStart } from './start-turn.ts';
import { stoppedProbes } from './stopped-probes.ts';
import { endedBefore } from './start-again.ts';

type Bare<E> = E extends unknown ? Omit<E, 'world'> : never;

/** Hands an event to a container machine (made when it is new) and takes over its effects. */
export function tellContainer(draft: Draft, name: string, event: Bare<ContainerEvent>): void {
  const found = specContainer(draft.context.pod, name);
  if (found === null) return;
  const before = entryOf(draft.context.containers, name) ?? bornContainer(name, found.kind);
  if (!hears(containerMachine, before.value, event.type)) {
    if (entryOf(draft.context.containers, name) === undefined) own(draft, 'containers')[name] = before;
    return;
  }
  const world = containerWorld(draft, found, before.context);
  const after = stepPlace(containerMachine, before, { ...event, world } as ContainerEvent, draft.effects);
  if (after !== draft.context.containers[name]) own(draft, 'containers')[name] = after;
}

/** A container machine at its start. */
export function bornContainer(name: string, kind: SpecContainer['kind']): Place<ContainerContext> {
  return bornPlace<ContainerContext>(containerMachine, { name, kind });
}

function containerWorld(draft: Draft, found: SpecContainer, own: ContainerContext): ContainerWorld {
  const { context } = draft;
  const { container, kind } = found;
  const observed = newestOf(context.observed, container.name);
  const sandbox = newestSandbox(context.observed);
  const ready = sandbox?.state === 'ready' && context.tasks['sandbox.run']?.state === 'done' ? sandbox : null;
  const target =
    kind === 'ephemeral'
      ? context.pod.spec?.ephemeralContainers?.find((c) => c.name === container.name)?.targetContainerName
      : undefined;
  const targetId = target === undefined ? '' : (newestOf(context.observed, target)?.id ?? '');
  const images = imagesFor(context, container);
  const grant = grantOf(context, container.name);
  const awaited = awaitedStart(context, found);
  const before = endedBefore(context, container.name);
  return {
    at: draft.at,
    pod: context.pod,
    container,
    settings: settingsNow(context),
    hash: backOffKey(container, context.settings),
    sandboxId: ready?.id ?? '',
    sandboxConfig: context.sandboxConfig,
    podIPs: podIPs(draft),
    volumePaths: context.tasks['volumes']?.state === 'done' && images !== null ? (context.volumePaths ?? {}) : null,
    ...(context.volumeTraits && { volumeTraits: context.volumeTraits }),
    imageVolumes: images ?? {},
    ...(grant !== undefined && { grant }),
    ...(runsWithoutQuota(context, container.name) && { withoutQuota: true }),
    ...(awaited !== undefined && { awaitedStart: awaited }),
    observed,
    lookedAt: context.observed?.at ?? 0,
    nextAttempt: nextAttempt(context, own, observed),
    ...(before !== undefined && { endedBefore: before }),
    madeBefore: takesUp(context, observed) ? (observed?.id ?? '') : '',
    ...imageRuntimeOf(context),
    targetId,
    ...(target && targetId === '' && { missingTarget: target }),
  };
}

/**
 * Number of the container that is made next. One that never ran is made anew with its number; where several of one name are
 * removed, none is left that tells it. The status has told it then, and a restart count never falls.
 */
function nextAttempt(context: PodContext, own: ContainerContext, observed: ObservedContainer | null): number {
  if (observed !== null && takesUp(context, observed)) return observed.restartCount;
  const next = observed === null ? (own.id === '' ? 0 : own.attempt + 1) : observed.restartCount + 1;
  if (!behaves(context.settings, 'restartCountNeverFalls')) return next;
  const told = toldOf(context.status ?? context.pod.status, own.name);
  return told === undefined ? next : Math.max(next, told.restartCount);
}

/** The pod's addresses: the sandbox's, or the node's with host network. */
export function podIPs(draft: Draft): string[] {
  const sandbox = newestSandbox(draft.context.observed);
  if (sandbox === null) return [];
  if (draft.context.pod.spec?.hostNetwork === true) return [...settingsNow(draft.context).nodeIPs];
  return sandbox.ips;
}

const PROBE_FIELDS = { liveness: 'livenessProbe', readiness: 'readinessProbe', startup: 'startupProbe' } as const;

/** One probe that a container asks for; `key` as in `context.probes`. */
interface AskedProbe {
  key: string;
  kind: ProbeKind;
  probe: Probe;
}

/** Made once for each container of a definition: each step asks. */
const ASKED = new WeakMap<SpecContainer, readonly AskedProbe[]>();
const NO_PROBES: readonly AskedProbe[] = [];

/** The probes that a container asks for. */
export function probesOf(owner: SpecContainer): readonly AskedProbe[] {
  let asked = ASKED.get(owner);
  if (asked === undefined) ASKED.set(owner, (asked = askedBy(owner)));
  return asked;
}

function askedBy({ container, kind }: SpecContainer): readonly AskedProbe[] {
  if (kind === 'init' || kind === 'ephemeral') return NO_PROBES;
  const asked = (['startup', 'liveness', 'readiness'] as const).flatMap((probeKind) => {
    const probe = container[PROBE_FIELDS[probeKind]];
    return probe === undefined ? [] : [{ key: `${container.name}/${probeKind}`, kind: probeKind, probe }];
  });
  return asked.length === 0 ? NO_PROBES : asked;
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
  if (!hears(probeMachine, before.value, event.type)) {
    if (draft.context.probes[key] === undefined) own(draft, 'probes')[key] = before;
    return;
  }
  const world = probeWorld(draft, owner, probe);
  const after = stepPlace(probeMachine, before, { ...event, world } as ProbeEvent, draft.effects);
  if (after !== draft.context.probes[key]) own(draft, 'probes')[key] = after;
}

/** A probe machine at its start. */
export function bornProbe(container: string, kind: ProbeKind): Place<ProbeContext> {
  return bornPlace<ProbeContext>(probeMachine, { container, kind });
}

function probeWorld(draft: Draft, owner: SpecContainer, probe: Probe): ProbeWorld {
  const { context } = draft;
  const seen = newestOf(context.observed, owner.container.name);
  // A container that is being stopped is probed on: it is ready until it says otherwise (kubelet's worker asks whether it runs, no more).
  const state = statePath(context.containers[owner.container.name]?.value);
  const failedHook = isInHook(context, owner.container.name) && behaves(context.settings, 'failedHookEndsProbes');
  const running = seen?.state === 'running' && (state === 'running' || (state.startsWith('stopping') && !failedHook));
  return {
    at: draft.at,
    pod: context.pod,
    container: owner.container,
    probe,
    podIP: podIPs(draft)[0] ?? '',
    runningId: running ? seen.id : '',
    startedAt: running ? seen.startedAt : 0,
    started: startedOf(context, owner),
    stopped: stoppedProbes(context, owner),
    settings: context.settings,
    adopted: running && context.adopted.includes(seen.id),
  };
}
