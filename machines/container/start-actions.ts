import type { Effect } from '../protocol/effects.ts';
import { behaves } from '../protocol/behaviour.ts';
import { ask, errorOf, outcomeOf, RETRY_MS } from './asking.ts';
import type { Out } from './asking.ts';
import { nextBackOff } from './back-off.ts';
import type { ContainerContext, ContainerEvent, ContainerWorld } from './container-context.ts';
import { endBefore } from './container-guards.ts';
import { containerEvent, runtimeError } from './container-events.ts';
import { createEffect, nextKey, prepareEffect } from './start-effects.ts';

/** A start is to be made: the crash-loop entry moves on when the container has ended before. */
export function begun(context: ContainerContext, { world }: ContainerEvent): Out {
  const last = world.observed;
  const entry = context.backOff?.hash === world.hash ? context.backOff : null;
  const { maxContainerRestartPeriodMs: max, firstContainerBackOffMs: first } = world.settings;
  const ended = last?.state === 'exited' ? last.finishedAt : null;
  const before = endBefore(context, world);
  const since = before === undefined ? ended : before;
  const backOff =
    since === null ? context.backOff : { ...nextBackOff(entry, since, world.at, max, first), hash: world.hash };
  const told = behaves(world.settings, 'backsOffUntilItRuns') || context.waiting?.reason !== 'CrashLoopBackOff';
  const waiting = told ? context.waiting : null;
  return { patch: { attempt: world.nextAttempt, backOff, kill: null, image: null, waiting, op: '', deadline: null } };
}

/** Words of the runtime for why a container was not made or started: kubelet tells them without the error's code. */
export function startError({ settings }: ContainerWorld, error: { code: string; message: string }): string {
  return behaves(settings, 'failuresInKubeletsWords') ? error.message : runtimeError(error);
}

/** Any other failure on the way to CreateContainer: told, and tried again after a pause. */
export function failed(reason: string) {
  return (context: ContainerContext, event: ContainerEvent): Out => {
    const raw = errorOf(event);
    const message = reason === 'CreateContainerConfigError' ? raw.message : startError(event.world, raw);
    return {
      patch: { op: '', deadline: event.world.at + RETRY_MS, waiting: { reason, message } },
      effects: [containerEvent(context, 'Warning', 'Failed', `Error: ${raw.message}`)],
    };
  };
}

export function pauseBeforeRetry(_context: ContainerContext, { world }: ContainerEvent): Out {
  return { patch: { deadline: world.at + RETRY_MS } };
}

export function askPrepare(context: ContainerContext, { world }: ContainerEvent): Out {
  const made = prepareEffect(context, world);
  if ('effect' in made) return ask(context, made.effect);
  return {
    patch: { op: '', deadline: null, waiting: { reason: 'CreateContainerConfigError', message: made.error } },
    effects: [containerEvent(context, 'Warning', 'Failed', `Error: ${made.error}`)],
  };
}

/** What it needs is there; and logs of earlier ones may have told that it was restarted more often. */
export function prepared({ attempt }: ContainerContext, event: ContainerEvent): Out {
  const outcome = outcomeOf(event);
  if (outcome?.effect !== 'host.PrepareContainer') return {};
  const { subPaths, attempt: logged = 0 } = outcome.result;
  return { patch: { subPaths, op: '', ...(logged > attempt && { attempt: logged }) } };
}

export function askCreate(context: ContainerContext, { world }: ContainerEvent): Out {
  const made = createEffect(context, world);
  if ('effect' in made) return ask(context, made.effect);
  return {
    patch: { op: '', deadline: null, waiting: made.error },
    effects: [containerEvent(context, 'Warning', 'Failed', `Error: ${made.error.message}`)],
  };
}

export function created(context: ContainerContext, event: ContainerEvent): Out {
  const outcome = outcomeOf(event);
  if (outcome?.effect !== 'cri.CreateContainer') return {};
  return {
    patch: { id: outcome.result.containerId, op: '' },
    effects: [containerEvent(context, 'Normal', 'Created', 'Container created')],
  };
}

/** An earlier agent has made it: it is started as it is. */
export function takenUp(_context: ContainerContext, { world }: ContainerEvent): Out {
  return { patch: { id: world.madeBefore, attempt: world.observed?.restartCount ?? 0, op: '' } };
}

/** Pause before a container that another call starts is asked for again, ms. */
const ANOTHER_MS = 1_000;

/**
 * Another call starts it, or has started it: what became of it is looked at, and what is seen then counts. It is not this
 * agent's, so that one which that other call leaves behind is made anew with its number.
 */
export function leftToAnother(context: ContainerContext, { world }: ContainerEvent): Out {
  return {
    patch: { id: '', op: '', deadline: world.at + ANOTHER_MS },
    effects: [{ type: 'cri.ContainerStatus', key: `inspect/${context.id}`, params: { containerId: context.id } }],
  };
}

export function askStart(context: ContainerContext): Out {
  return ask(context, { type: 'cri.StartContainer', key: nextKey(context), params: { containerId: context.id } });
}

/** The container runs: a fresh look at it, and its log's link. */
function afterStart(context: ContainerContext, world: ContainerWorld): Effect[] {
  const pod = world.pod.metadata;
  return [
    containerEvent(context, 'Normal', 'Started', 'Container started'),
    { type: 'cri.ContainerStatus', key: `inspect/${context.id}`, params: { containerId: context.id } },
    {
      type: 'host.LinkLog',
      key: `link/${context.id}`,
      params: {
        logPath: `${world.sandboxConfig?.logDirectory ?? ''}/${context.name}/${context.attempt}.log`,
        linkName: `${pod?.name ?? ''}_${pod?.namespace ?? ''}_${context.name}-${context.id}.log`,
      },
    },
  ];
}

export function startDone(context: ContainerContext, { world }: ContainerEvent): Out {
  return { patch: { op: '' }, effects: afterStart(context, world) };
}

/** It was told to stop meanwhile: no hook runs and nobody looks for its end. */
export function startDoneToStop(context: ContainerContext, { world }: ContainerEvent): Out {
  return { patch: { op: '', waiting: null }, effects: afterStart(context, world) };
}

export function startDoneNoHook(context: ContainerContext, { world }: ContainerEvent): Out {
  return {
    patch: { op: '', waiting: null, postStartDone: context.id, ...firstLook(context, world) },
    effects: afterStart(context, world),
  };
}

/** First pause before a container that is expected to end is looked at, and the longest one, ms. */
const FIRST_LOOK_MS = 25;
const LAST_LOOK_MS = 800;

/**
 * A container that is expected to end soon (an init container, or one that is not to be restarted) is looked at after
 * 25, 50, 100 ... 800 ms, so that what waits for it need not wait for the observer's next round. After that the
 * observer is soon enough.
 */
function firstLook(context: ContainerContext, { at, pod }: ContainerWorld): Partial<ContainerContext> {
  const ends = context.kind === 'init' || (context.kind === 'regular' && pod.spec?.restartPolicy !== 'Always');
  return ends ? { deadline: at + FIRST_LOOK_MS, lookMs: FIRST_LOOK_MS } : { lookMs: 0 };
}

export function lookAgain(context: ContainerContext, { world }: ContainerEvent): Out {
  if (context.lookMs === 0) return { patch: { deadline: null } };
  const lookMs = context.lookMs >= LAST_LOOK_MS ? 0 : context.lookMs * 2;
  return {
    patch: { lookMs, deadline: lookMs === 0 ? null : world.at + lookMs },
    effects: [{ type: 'cri.ContainerStatus', key: `inspect/${context.id}`, params: { containerId: context.id } }],
  };
}

/** RunContainerError; the runtime keeps the container as ended, so a fresh look follows. */
export function startFailed(context: ContainerContext, event: ContainerEvent): Out {
  const raw = errorOf(event);
  return {
    patch: {
      op: '',
      deadline: event.world.at + RETRY_MS,
      waiting: { reason: 'RunContainerError', message: startError(event.world, raw) },
    },
    effects: [
      containerEvent(context, 'Warning', 'Failed', `Error: ${raw.message}`),
      { type: 'cri.ContainerStatus', key: `inspect/${context.id}`, params: { containerId: context.id } },
    ],
  };
}

/** A container that runs already is taken over as it is; its hooks are not run again. */
export function adopted(context: ContainerContext, { world }: ContainerEvent): Out {
  const seen = world.observed;
  if (seen === null) return {};
  // After a restart of the agent the id is not known yet, but the memory tells for which container the hook has ended.
  const preStopDone = context.preStopDone === seen.id ? context.preStopDone : '';
  return {
    patch: {
      id: seen.id,
      attempt: seen.restartCount,
      op: '',
      deadline: null,
      waiting: null,
      kill: null,
      postStartDone: seen.id,
      preStopDone,
      ...(context.doubt && { doubt: null }),
    },
  };
}
