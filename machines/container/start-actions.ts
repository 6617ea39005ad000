import type { Decision } from '../machine-step/act.ts';
import { goDuration } from '../go-duration.ts';
import type { Effect } from '../protocol/effects.ts';
import { MAX_IMAGE_BACK_OFF_MS, nextBackOff } from './back-off.ts';
import type { ContainerContext, ContainerEvent, ContainerWorld } from './container-context.ts';
import { containerEvent, podText, runtimeError } from './container-events.ts';
import { backOffUntil } from './container-guards.ts';
import { fallbackEvents, hookAction, hookOverHttp } from './hook-effect.ts';
import { withDefaultTag } from './image-name.ts';
import { createEffect, imagePullEffect, imageStatusEffect, nextKey, prepareEffect } from './start-effects.ts';

type Out = Decision<ContainerContext>;

/** Pause after a failed start (kubelet's backOffPeriod of the pod worker), ms. */
const RETRY_MS = 10_000;

/** Asks for an effect and waits for its outcome. */
export function ask(context: ContainerContext, effect: Effect, more: Effect[] = []): Out {
  return { patch: { op: effect.key, seq: context.seq + 1, deadline: null }, effects: [...more, effect] };
}

function outcomeOf(event: ContainerEvent) {
  return event.type === 'done' ? event.outcome : null;
}

function errorOf(event: ContainerEvent): { code: string; message: string } {
  return event.type === 'failed' ? event.outcome.error : { code: 'Unknown', message: 'unknown error' };
}

/** A start is to be made: the crash-loop entry moves on when the container has ended before. */
export function begun(context: ContainerContext, { world }: ContainerEvent): Out {
  const last = world.observed;
  const entry = context.backOff?.hash === world.hash ? context.backOff : null;
  const max = world.settings.maxContainerRestartPeriodMs;
  const backOff =
    last?.state === 'exited'
      ? { ...nextBackOff(entry, last.finishedAt, world.at, max), hash: world.hash }
      : context.backOff;
  const waiting = context.waiting?.reason === 'CrashLoopBackOff' ? null : context.waiting;
  return { patch: { attempt: world.nextAttempt, backOff, kill: null, image: null, waiting, op: '', deadline: null } };
}

/** CrashLoopBackOff: reason and words as kubelet's doBackOff. */
export function backedOff(context: ContainerContext, event: ContainerEvent): Out {
  const { world } = event;
  const until = backOffUntil(context, event) ?? world.at;
  const delay = goDuration(context.backOff?.delayMs ?? 0);
  const message = `back-off ${delay} restarting failed container=${context.name} pod=${podText(world.pod)}`;
  return {
    patch: { deadline: until, op: '', waiting: { reason: 'CrashLoopBackOff', message } },
    effects: [backOffEvent(context, world)],
  };
}

/** While the delay lasts, each resync repeats the event, as each sync of kubelet does. */
export function backOffReminder(context: ContainerContext, { world }: ContainerEvent): Out {
  return { effects: [backOffEvent(context, world)] };
}

function backOffEvent(context: ContainerContext, world: ContainerWorld): Effect {
  return containerEvent(
    context,
    'Warning',
    'BackOff',
    `Back-off restarting failed container ${context.name} in pod ${podText(world.pod)}`,
  );
}

/** The delay or the pause is over; the pod decides anew whether to start. */
export function waitOver(): Out {
  return { patch: { deadline: null } };
}

/** The definition changed: nothing that belonged to the old one holds the container back. */
export function startAnew(): Out {
  return { patch: { op: '', deadline: null, imageBackOff: null, waiting: null } };
}

export function badImageName(context: ContainerContext, { world }: ContainerEvent): Out {
  const image = world.container.image ?? '';
  const named = withDefaultTag(image);
  const message = `Failed to apply default image tag "${image}": ${'error' in named ? named.error : ''}`;
  return {
    patch: { deadline: world.at + RETRY_MS, op: '', waiting: { reason: 'InvalidImageName', message } },
    effects: [
      containerEvent(context, 'Warning', 'InspectFailed', message),
      containerEvent(context, 'Warning', 'Failed', 'Error: InvalidImageName'),
    ],
  };
}

export function askImageStatus(context: ContainerContext, { world }: ContainerEvent): Out {
  return ask(context, imageStatusEffect(context, world));
}

export function imageFound(context: ContainerContext, event: ContainerEvent): Out {
  const outcome = outcomeOf(event);
  if (outcome?.effect !== 'image.Status' || outcome.result.present === null) return {};
  const image = event.world.container.image ?? '';
  return {
    patch: { image: outcome.result.present, op: '', imageBackOff: null },
    effects: [
      containerEvent(
        context,
        'Normal',
        'Pulled',
        `Container image "${image}" already present on machine and can be accessed by the pod`,
      ),
    ],
  };
}

export function neverPull(context: ContainerContext, { world }: ContainerEvent): Out {
  const message = `Container image "${world.container.image ?? ''}" is not present with pull policy of Never`;
  return {
    patch: { deadline: world.at + RETRY_MS, op: '', waiting: { reason: 'ErrImageNeverPull', message } },
    effects: [
      containerEvent(context, 'Warning', 'ErrImageNeverPull', message),
      containerEvent(context, 'Warning', 'Failed', 'Error: ErrImageNeverPull'),
    ],
  };
}

export function askImagePull(context: ContainerContext, { world }: ContainerEvent): Out {
  const pulling = containerEvent(context, 'Normal', 'Pulling', `Pulling image "${world.container.image ?? ''}"`);
  return ask(context, imagePullEffect(context, world), [pulling]);
}

export function imagePulled(context: ContainerContext, event: ContainerEvent): Out {
  const outcome = outcomeOf(event);
  if (outcome?.effect !== 'image.Pull') return {};
  const { imageRef, uid, username, ms, waitedMs, sizeBytes } = outcome.result;
  const image = event.world.container.image ?? '';
  const text = `Successfully pulled image "${image}" in ${goDuration(ms)} (${goDuration(waitedMs)} including waiting). Image size: ${sizeBytes} bytes.`;
  return {
    patch: { image: { imageRef, uid, username }, op: '', imageBackOff: null },
    effects: [containerEvent(context, 'Normal', 'Pulled', text)],
  };
}

/** ErrImagePull first; the delay then counts from now and doubles up to 300 s. */
export function pullFailed(context: ContainerContext, event: ContainerEvent): Out {
  const { world } = event;
  const image = world.container.image ?? '';
  const error = runtimeError(errorOf(event));
  const entry = nextBackOff(context.imageBackOff, world.at, world.at, MAX_IMAGE_BACK_OFF_MS);
  return {
    patch: {
      op: '',
      imageBackOff: { ...entry, error: `ErrImagePull: ${error}` },
      deadline: world.at + Math.min(RETRY_MS, entry.delayMs),
      waiting: { reason: 'ErrImagePull', message: error },
    },
    effects: [
      containerEvent(context, 'Warning', 'Failed', `Failed to pull image "${image}": ${error}`),
      containerEvent(context, 'Warning', 'Failed', 'Error: ErrImagePull'),
    ],
  };
}

/** ImagePullBackOff for the rest of the delay. */
export function imageBackedOff(context: ContainerContext, { world }: ContainerEvent): Out {
  const entry = context.imageBackOff;
  if (entry === null) return { patch: { deadline: world.at } };
  const text = `Back-off pulling image "${world.container.image ?? ''}"`;
  return {
    patch: {
      op: '',
      deadline: entry.since + entry.delayMs,
      waiting: { reason: 'ImagePullBackOff', message: `${text}: ${entry.error}` },
    },
    effects: [
      containerEvent(context, 'Normal', 'BackOff', text),
      containerEvent(context, 'Warning', 'Failed', 'Error: ImagePullBackOff'),
    ],
  };
}

/** Any other failure on the way to CreateContainer: told, and tried again after a pause. */
export function failed(reason: string) {
  return (context: ContainerContext, event: ContainerEvent): Out => {
    const raw = errorOf(event);
    const message = reason === 'CreateContainerConfigError' ? raw.message : runtimeError(raw);
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

export function prepared(_context: ContainerContext, event: ContainerEvent): Out {
  const outcome = outcomeOf(event);
  if (outcome?.effect !== 'host.PrepareContainer') return {};
  return { patch: { subPaths: outcome.result.subPaths, op: '' } };
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
      waiting: { reason: 'RunContainerError', message: runtimeError(raw) },
    },
    effects: [
      containerEvent(context, 'Warning', 'Failed', `Error: ${raw.message}`),
      { type: 'cri.ContainerStatus', key: `inspect/${context.id}`, params: { containerId: context.id } },
    ],
  };
}

export function askPostStart(context: ContainerContext, { world }: ContainerEvent): Out {
  const handler = world.container.lifecycle?.postStart;
  if (handler === undefined) return { patch: { deadline: world.at } };
  const hook = hookAction(handler, world.container, context.id, world.podIPs[0] ?? '', nextKey(context), 0);
  if ('effect' in hook) return ask(context, hook.effect);
  return { patch: { op: '', deadline: world.at + ('sleepMs' in hook ? hook.sleepMs : 0) } };
}

/** The server speaks http: the hook is asked for again that way. */
export function askPostStartOverHttp(context: ContainerContext, { world }: ContainerEvent): Out {
  const handler = world.container.lifecycle?.postStart;
  const effect =
    handler === undefined
      ? null
      : hookOverHttp(hookAction(handler, world.container, context.id, world.podIPs[0] ?? '', nextKey(context), 0));
  return effect === null ? { patch: { op: '', deadline: world.at } } : ask(context, effect);
}

export function postStartDone(context: ContainerContext, event: ContainerEvent): Out {
  const { container, podIPs } = event.world;
  return {
    patch: { op: '', deadline: null, waiting: null, postStartDone: context.id },
    effects:
      event.type === 'done'
        ? fallbackEvents(event.outcome, container.lifecycle?.postStart, container, podIPs[0] ?? '')
        : [],
  };
}

/** Grace of a container whose postStart hook failed, seconds. */
export function hookKillGrace(world: ContainerWorld): number {
  return world.pod.metadata?.deletionGracePeriodSeconds ?? world.pod.spec?.terminationGracePeriodSeconds ?? 2;
}

/** A failed postStart hook kills its container (kubelet reason PostStartHookError, event FailedPostStartHook). */
export function postStartFailed(context: ContainerContext, { world }: ContainerEvent): Out {
  const graceSeconds = hookKillGrace(world);
  return {
    patch: {
      op: '',
      deadline: null,
      waiting: { reason: 'PostStartHookError', message: 'PostStartHook failed' },
      kill: { reason: 'postStartHook', message: 'FailedPostStartHook', graceSeconds, since: world.at, waitTurn: false },
    },
    effects: [
      containerEvent(context, 'Warning', 'FailedPostStartHook', 'PostStartHook failed'),
      containerEvent(context, 'Normal', 'Killing', 'FailedPostStartHook'),
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
    },
  };
}
