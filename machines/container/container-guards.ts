import { graceEnd } from '../values/grace-end.ts';
import { behaves } from '../protocol/behaviour.ts';
import type { ContainerContext, ContainerEvent, ContainerWorld } from './container-context.ts';
import { waitsUntil } from './back-off.ts';
import { hookAction, wantsHttp } from './hook-effect.ts';
import { withDefaultTag } from './image-name.ts';

/** Crash-loop back-off holds the container back. Its last end counts, and only for the same definition. */
export function backOffUntil(context: ContainerContext, { world }: ContainerEvent): number | null {
  if (context.backOff === null || context.backOff.hash !== world.hash) return null;
  const last = world.observed;
  if (last === null || last.state !== 'exited') return null;
  // Stopped to start again: only an earlier end may hold it back, and then its own counts as well (the next pass of kubelet).
  const endedBefore = endBefore(context, world);
  if (endedBefore === null) return null;
  if (endedBefore !== undefined && waitsUntil(context.backOff, endedBefore, world.at) === null) return null;
  return waitsUntil(context.backOff, last.finishedAt, world.at);
}

/**
 * When the container before the one that was stopped had ended. Who collects containers may have taken it; then it had when the stopped one
 * was started, or its loop would begin anew each time.
 */
export function endBefore({ backOff }: ContainerContext, world: ContainerWorld): number | null | undefined {
  const { endedBefore, hash, settings } = world;
  if (endedBefore !== null || backOff === null || backOff.hash !== hash) return endedBefore;
  return behaves(settings, 'collectedEndsCount') ? backOff.since : null;
}

export function inBackOff(context: ContainerContext, event: ContainerEvent): boolean {
  return backOffUntil(context, event) !== null;
}

export function imageNameBad({ world }: ContainerEvent): boolean {
  return 'error' in withDefaultTag(world.container.image ?? '');
}

export function pullAlways({ world }: ContainerEvent): boolean {
  return world.container.imagePullPolicy === 'Always';
}

/** The outcome answers the effect that the machine waits for. */
export function ownOutcome(context: ContainerContext, event: ContainerEvent): boolean {
  return (event.type === 'done' || event.type === 'failed') && event.outcome.key === context.op;
}

/** `image.Status` answered, and the image is there. */
export function imagePresent(context: ContainerContext, event: ContainerEvent): boolean {
  if (!ownOutcome(context, event) || event.type !== 'done') return false;
  return event.outcome.effect === 'image.Status' && event.outcome.result.present !== null;
}

/** The image is not there, and may not be pulled. */
export function pullNever(context: ContainerContext, event: ContainerEvent): boolean {
  return ownOutcome(context, event) && event.world.container.imagePullPolicy === 'Never';
}

/** The worker could not make the environment: an object that it names is not there, or a key of it. */
export function configLacking(context: ContainerContext, event: ContainerEvent): boolean {
  return (
    event.type === 'failed' && ownOutcome(context, event) && event.outcome.error.code === 'CreateContainerConfigError'
  );
}

/** What held the last start back may be an API object that has appeared by now. */
export function waitsForConfig({ waiting }: ContainerContext): boolean {
  return waiting?.reason === 'CreateContainerConfigError';
}

/** Sandbox, its configuration and the volumes are there. */
export function podReady(_context: ContainerContext, { world }: ContainerEvent): boolean {
  return world.sandboxId !== '' && world.sandboxConfig !== null && world.volumePaths !== null;
}

/** The same, and no container before this one is still being started. */
export function mayBeMade(context: ContainerContext, event: ContainerEvent): boolean {
  return event.world.awaitedStart === undefined && podReady(context, event);
}

/** Prepared, and an earlier agent has made the container already: it need only be started. */
export function wasMadeBefore(context: ContainerContext, event: ContainerEvent): boolean {
  return ownOutcome(context, event) && podReady(context, event) && event.world.madeBefore !== '';
}

/** containerd's and CRI-O's words for a container that is being started, runs or has ended already, by somebody else's call. */
const NOT_TO_BE_STARTED = /container (\S+ )?is (already in starting|in \w+|not in created) state/;

/** StartContainer was refused, because an earlier agent's call is still under way, or was carried out after the last look. */
export function startedByAnother(context: ContainerContext, event: ContainerEvent): boolean {
  if (event.type !== 'failed' || !ownOutcome(context, event)) return false;
  return behaves(event.world.settings, 'createdAreStarted') && NOT_TO_BE_STARTED.test(event.outcome.error.message);
}

/** StartContainer failed: whether it was carried out all the same is to be looked at. */
export function startInDoubt(context: ContainerContext, event: ContainerEvent): boolean {
  return ownOutcome(context, event) && behaves(event.world.settings, 'failedStartsAreLookedAt');
}

/** A look that began after StartContainer had failed has told what became of the container; an end is one whenever it was seen. */
export function doubtIsOver({ id, doubt }: ContainerContext, { world }: ContainerEvent): boolean {
  const { observed, lookedAt } = world;
  return lookedAt > (doubt?.since ?? 0) || (observed?.id === id && observed.state === 'exited');
}

/** The machine's own look has told: by its answer, or because the runtime holds the container no longer. */
export function lookTold(context: ContainerContext, event: ContainerEvent): boolean {
  return ownOutcome(context, event) && (event.type === 'done' || goneFor(event));
}

function goneFor(event: ContainerEvent): boolean {
  return event.type === 'failed' && event.outcome.error.code === 'NotFound';
}

export function hasPostStart(context: ContainerContext, event: ContainerEvent): boolean {
  return ownOutcome(context, event) && event.world.container.lifecycle?.postStart !== undefined;
}

/** The postStart hook failed: its call failed, its command ended badly, or it cannot be carried out at all. */
export function postStartFailed(context: ContainerContext, event: ContainerEvent): boolean {
  if (event.type === 'failed') return ownOutcome(context, event);
  if (event.type === 'done') {
    return ownOutcome(context, event) && event.outcome.effect === 'cri.ExecSync' && event.outcome.result.exitCode !== 0;
  }
  const handler = event.world.container.lifecycle?.postStart;
  return handler !== undefined && context.op === '' && 'error' in hookAction(handler, event.world, context.id, '', 0);
}

/** A hook's https request met a server that speaks http: it is sent again over http. */
export function hookWantsHttp(context: ContainerContext, event: ContainerEvent): boolean {
  return event.type === 'failed' && ownOutcome(context, event) && wantsHttp(event.outcome);
}

/** The newest container of this name runs, and it is one the machine does not hold as ended. */
export function seenRunning(_context: ContainerContext, { world }: ContainerEvent): boolean {
  return world.observed?.state === 'running';
}

/** The container has ended, or the runtime holds it no longer, or another one of its name runs in its place. */
export function seenEnded(context: ContainerContext, { world }: ContainerEvent): boolean {
  const { observed } = world;
  if (observed === null) return context.id !== '';
  if (observed.state === 'running')
    return behaves(world.settings, 'stopsWhatRuns') && context.id !== '' && observed.id !== context.id;
  return observed.state === 'exited' || observed.state === 'unknown';
}

/** A container that was stopped before it was ever started stays `created`: the runtime confirmed the stop, so it counts as ended. */
export function seenStopped(context: ContainerContext, event: ContainerEvent): boolean {
  if (seenEnded(context, event)) return true;
  return event.world.observed?.state === 'created' && context.op === '' && context.deadline !== null;
}

/** A preStop hook is to be run: there is one, it has not run for this container, and there is time for it. */
export function runsPreStop(context: ContainerContext, event: ContainerEvent): boolean {
  if (event.type !== 'kill') return false;
  return (
    event.world.container.lifecycle?.preStop !== undefined &&
    event.order.graceSeconds > 0 &&
    context.preStopDone !== context.id
  );
}

/** StartContainer has answered, there is a preStop hook, and time for it. */
export function startedThenPreStop(context: ContainerContext, event: ContainerEvent): boolean {
  const { container, at } = event.world;
  const { kill } = context;
  if (!ownOutcome(context, event) || kill === null || container.lifecycle?.preStop === undefined) return false;
  return graceEnd(kill) > at;
}

/** Told to stop while StartContainer is under way: its answer is waited for, within the grace period. */
export function startIsAwaited({ world }: ContainerEvent): boolean {
  return behaves(world.settings, 'stopsAfterStart');
}

/** The order says that others stop first. */
export function mustWaitTurn(context: ContainerContext, event: ContainerEvent): boolean {
  if (event.type === 'kill') return event.order.waitTurn;
  return ownOutcome(context, event) && (context.kill?.waitTurn ?? false);
}

/** The outcome is that of a preStop hook that is not waited for any more. */
export function ofLateHook({ lateHook = '' }: ContainerContext, event: ContainerEvent): boolean {
  return (event.type === 'done' || event.type === 'failed') && lateHook !== '' && event.outcome.key === lateHook;
}

/** The preStop pause ended before the grace period did, and others stop first. */
export function sleepEndsEarly(context: ContainerContext, { world }: ContainerEvent): boolean {
  const kill = context.kill;
  return kill !== null && kill.waitTurn && world.at < graceEnd(kill);
}

/** StopContainer failed in a way that may pass; a container that is gone counts as stopped. */
export function stopFailed(context: ContainerContext, event: ContainerEvent): boolean {
  return event.type === 'failed' && ownOutcome(context, event) && event.outcome.error.code !== 'NotFound';
}

/** While a pull is held back, and before it is made, somebody may have brought the image (kubelet looks first at each sync). */
export function imageIsLookedForAgain({ world }: ContainerEvent): boolean {
  return world.container.imagePullPolicy !== 'Always' && behaves(world.settings, 'imagesAreLookedForAgain');
}

/** The image delay is over: pull again. */
export function imageDelayOver(context: ContainerContext, { world }: ContainerEvent): boolean {
  return context.imageBackOff === null || world.at >= context.imageBackOff.since + context.imageBackOff.delayMs;
}
