import type { Decision } from '../machine-step/act.ts';
import { behaves } from '../protocol/behaviour.ts';
import type { Effect } from '../protocol/effects.ts';
import type { ProbeContext, ProbeEvent, ProbeResult, ProbeWorld } from './probe-context.ts';
import { initialResult } from './probe-context.ts';
import { probeEffect } from './probe-effect.ts';
import { verdictOf } from './probe-verdict.ts';
import type { Verdict } from './probe-verdict.ts';

type Out = Decision<ProbeContext>;

/** Errors of the prober itself are tried so often (kubelet maxProbeRetries). */
const MAX_TRIES = 3;

/** A container runs that the counts do not belong to. */
export function newContainer(context: ProbeContext, { world }: ProbeEvent): boolean {
  return world.runningId !== '' && world.runningId !== context.containerId;
}

/** The end of the pod has stopped this probe. */
export function mustEnd({ kind }: ProbeContext, { world: { stopped } }: ProbeEvent): boolean {
  return stopped === 'all' || (stopped === 'livenessAndStartup' && kind !== 'readiness');
}

/** A run that was under way when the probe was stopped is still counted (kubelet's worker looks whether it is to stop between runs). */
export function runGoesOn(context: ProbeContext, event: ProbeEvent): boolean {
  const { runningId, settings } = event.world;
  if (!behaves(settings, 'sidecarsAreProbedToTheEnd')) return false;
  return mustEnd(context, event) && runningId !== '' && runningId === context.containerId;
}

/**
 * Starts anew for a container; one that was taken over keeps the result it was known with (ready stays ready). How often the runs of the
 * container before it ended alike counts on: kubelet's worker stays, and forgets that only when it goes on hold.
 */
export function begin(context: ProbeContext, event: ProbeEvent): Out {
  const { world } = event;
  const result: ProbeResult = isKeptUp(context, event) ? 'success' : initialResult(context.kind);
  const fresh: ProbeContext = {
    ...context,
    containerId: world.runningId,
    result,
    ...(behaves(world.settings, 'rowsOfProbesGoOn') ? {} : { outcome: 'unknown' as const, run: 0 }),
    op: '',
    tries: 0,
  };
  const deadline = firstRunAt(fresh, event);
  return {
    patch: { ...fresh, deadline, ...countsFrom(context, world, deadline, world.adopted && deadline === world.at) },
  };
}

/** It ran before this agent took it over: alive, and ready if its pod was (kubelet setReadyStateOnKubeletRestart; not with its gate). */
function isKeptUp({ kind }: ProbeContext, { world }: ProbeEvent): boolean {
  if (!world.adopted || kind === 'startup') return false;
  if (world.settings.restartChangesStatus) return kind === 'liveness';
  if (kind === 'liveness' || !behaves(world.settings, 'firstRunsOfProbes')) return true;
  return world.pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
}

function firstRunAt(context: ProbeContext, { world }: ProbeEvent): number | null {
  if (context.kind === 'startup' ? false : !world.started) return null;
  // A start in the future is one of before the clock was set back.
  return Math.max(world.at, Math.min(world.startedAt, world.at) + (world.probe.initialDelaySeconds ?? 0) * 1000);
}

/** The container started meanwhile: liveness and readiness become due. */
export function arm(context: ProbeContext, event: ProbeEvent): Out {
  if (context.deadline !== null) return {};
  const deadline = firstRunAt(context, event);
  // When failures begin to count was settled when the probe first became due.
  return { patch: { deadline, ...(context.countsFrom === null && countsFrom(context, event.world, deadline)) } };
}

/** No container: readiness and liveness count as failed until the next one (kubelet sets Failure). */
export function stopped(context: ProbeContext): Out {
  if (context.containerId === '') return {};
  return { patch: { op: '', deadline: null, result: context.kind === 'readiness' ? 'failure' : context.result } };
}

/**
 * The last word of a liveness probe that ends with its pod is success, so that nothing is restarted any more. What had not
 * started has not by that, and what was ready is.
 */
export function quietEnd({ kind, result }: ProbeContext, { world }: ProbeEvent): Out {
  const holds = kind !== 'liveness' && behaves(world.settings, 'sidecarsAreProbedToTheEnd');
  return { patch: { op: '', deadline: null, result: holds ? result : 'success' } };
}

export function mayProbe(context: ProbeContext, { world }: ProbeEvent): boolean {
  if (world.runningId !== context.containerId) return false;
  return context.kind === 'startup' ? !world.started : world.started;
}

/** Kubelet hears of its containers once a second (PLEG): what happens within one brings about one run, ms. */
const HEARD_MS = 1_000;

/**
 * Each time that kubelet syncs the pod it runs the readiness probe of a container that has started and is not ready at once, and its
 * period counts from there (`UpdatePodStatus` triggers the worker): a long period keeps nobody waiting who became ready meanwhile.
 */
export function runsAtSync(context: ProbeContext, event: ProbeEvent): boolean {
  if (event.type !== 'sync' || context.kind !== 'readiness' || context.result === 'success') return false;
  // After a restart its first run comes somewhere within its period, whatever happens (kubelet's worker sleeps until then).
  if (context.deadline === null || context.askedAt === 0) return false;
  return behaves(event.world.settings, 'unreadyAreProbedAtSyncs');
}

/** Due at once, or when kubelet would hear of it; never before the initial delay is over. */
export function dueAtSync(context: ProbeContext, event: ProbeEvent): Out {
  const { world } = event;
  const soon = event.type === 'sync' && event.byProbe ? world.at : Math.max(world.at, context.askedAt + HEARD_MS);
  const first = firstRunAt(context, event);
  if (first === null || context.deadline === null) return {};
  return { patch: { deadline: Math.min(context.deadline, Math.max(first, soon)) } };
}

/** Not due after all: `look` arms it again. */
export function notYet(): Out {
  return { patch: { deadline: null } };
}

export function askProbe(context: ProbeContext, { world }: ProbeEvent): Out {
  const key = `probe/${context.container}/${context.kind}/${context.seq + 1}`;
  const made = probeEffect(world, context.containerId, key);
  if ('error' in made) return cannotAsk(context, world, made.error);
  const askedAt = context.tries === 0 ? world.at : context.askedAt;
  return { patch: { op: key, seq: context.seq + 1, deadline: null, askedAt }, effects: [made.effect] };
}

/** Each try would fail alike, so one of them is enough. */
function cannotAsk(context: ProbeContext, world: ProbeWorld, error: string): Out {
  const patch = { op: '', deadline: world.at + (world.probe.periodSeconds ?? 10) * 1000 };
  if (!behaves(world.settings, 'unknownPortsAreTold')) return { patch };
  const effects = told({ ...context, askedAt: world.at }, world, { outcome: 'unknown', text: error });
  return { patch: { ...patch, tries: 0 }, effects };
}

function verdict(event: ProbeEvent): Verdict {
  if (event.type !== 'done' && event.type !== 'failed') return { outcome: 'unknown', text: '' };
  return verdictOf(event.outcome, event.world);
}

/** The prober itself erred (not: the container failed), and may try again at once. */
export function tryAgain(context: ProbeContext, event: ProbeEvent): boolean {
  return (
    (event.type === 'done' || event.type === 'failed') &&
    event.outcome.key === context.op &&
    verdict(event).outcome === 'unknown' &&
    context.tries + 1 < MAX_TRIES
  );
}

export function nextTry(context: ProbeContext): Out {
  return { patch: { tries: context.tries + 1 } };
}

function count(
  context: ProbeContext,
  event: ProbeEvent,
): { result: ProbeResult; outcome: ProbeResult; run: number; reached: boolean } {
  const { outcome } = verdict(event);
  if (outcome === 'unknown' || (outcome === 'failure' && isEarly(context)))
    return { result: context.result, outcome: context.outcome, run: context.run, reached: false };
  const run = context.outcome === outcome ? context.run + 1 : 1;
  const { probe } = event.world;
  const threshold = outcome === 'failure' ? (probe.failureThreshold ?? 3) : (probe.successThreshold ?? 1);
  const reached = run >= threshold;
  return { result: reached ? outcome : context.result, outcome, run, reached };
}

/** After this outcome nothing more is to be asked of this container (liveness failed, startup decided). */
export function holdNow(context: ProbeContext, event: ProbeEvent): boolean {
  if ((event.type !== 'done' && event.type !== 'failed') || event.outcome.key !== context.op) return false;
  const counted = count(context, event);
  return (
    counted.reached && (context.kind === 'startup' || (context.kind === 'liveness' && counted.outcome === 'failure'))
  );
}

/** Counts one run. */
export function counted(context: ProbeContext, event: ProbeEvent): Out {
  const { world } = event;
  const { result, run, outcome: last } = count(context, event);
  const onHold = holdNow(context, event);
  return {
    patch: {
      result,
      outcome: last,
      run: onHold ? 0 : run,
      op: '',
      tries: 0,
      deadline: onHold ? null : Math.max(world.at, context.askedAt + (world.probe.periodSeconds ?? 10) * 1000),
    },
    effects: told(context, world, verdict(event)),
  };
}

/**
 * Failures are told as kubelet's events Unhealthy, redirects elsewhere as ProbeWarning. What went wrong before kubelet's worker would
 * have run at all is not told.
 */
function told(context: ProbeContext, { pod }: ProbeWorld, run: Verdict): Effect[] {
  const message = run.outcome !== 'success' && isEarly(context) ? '' : messageOf(context, run);
  if (message === '') return [];
  const list = pod.spec?.containers.some((c) => c.name === context.container) ? 'containers' : 'initContainers';
  const reason = run.warning ? 'ProbeWarning' : 'Unhealthy';
  const fieldPath = `spec.${list}{${context.container}}`;
  return [{ type: 'event.Record', key: '', params: { type: 'Warning', reason, message, fieldPath } }];
}

/** Text of the run's event; '' when it has none. */
function messageOf({ kind }: ProbeContext, { outcome, text, warning, instead = 'unknown' }: Verdict): string {
  const word = kind.charAt(0).toUpperCase() + kind.slice(1);
  if (warning) return `${word} probe warning: ${text}`;
  if (outcome === 'failure') return `${word} probe failed: ${text}`;
  return outcome === 'unknown' ? `${word} probe errored and resulted in ${instead} state: ${text}` : '';
}

/**
 * From when on failures of a liveness or startup probe count that is first due at `due` (null: not yet). Kubelet's worker ticks each
 * period from when the pod came (`AddPod`), whatever its containers do: its first run is that of the first tick after the start,
 * initialDelaySeconds and (liveness) the startup probe, up to a whole period after they are over. Readiness alone is run at once
 * (`UpdatePodStatus` triggers it). Here each probe runs at the first moment, since success is worth knowing early; a container that
 * would be alive in time under kubelet must not be stopped for it. After a restart of the agent kubelet's workers begin anew while
 * the containers run: the first run may be at once, and counts (`ranBefore`: it was due before it was taken over).
 */
function countsFrom(
  { kind }: Pick<ProbeContext, 'kind'>,
  { settings, probe }: ProbeWorld,
  due: number | null,
  ranBefore = false,
): Pick<ProbeContext, 'countsFrom'> {
  if (kind === 'readiness' || !behaves(settings, 'firstRunsOfProbes')) return {};
  if (due === null) return { countsFrom: null };
  return { countsFrom: ranBefore ? due : due + (probe.periodSeconds ?? 10) * 1000 };
}

/** The run that is under way began before failures count. */
function isEarly({ countsFrom: from, askedAt }: ProbeContext): boolean {
  return typeof from === 'number' && askedAt < from;
}
