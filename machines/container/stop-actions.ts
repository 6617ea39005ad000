import { graceEnd } from '../values/grace-end.ts';
import type { Decision } from '../machine-step/act.ts';
import { behaves } from '../protocol/behaviour.ts';
import type { ContainerContext, ContainerEvent, ContainerWorld, KillOrder } from './container-context.ts';
import { containerEvent } from './container-events.ts';
import { fallbackEvents, hookAction, hookOverHttp } from './hook-effect.ts';
import { ask } from './asking.ts';
import { nextKey } from './start-effects.ts';

type Out = Decision<ContainerContext>;

/** The least time a container gets to stop, seconds (kubelet minimumGracePeriodInSeconds). */
const MINIMUM_GRACE_SECONDS = 2;
/** Pause before StopContainer is tried again, ms. */
const STOP_RETRY_MS = 1_000;
/** A stopped container that is not seen as ended is looked at again after so long, ms. */
const CONFIRM_MS = 5_000;

/** Takes the order and tells it (event Killing). */
export function killOrdered(context: ContainerContext, event: ContainerEvent): Out {
  if (event.type !== 'kill') return {};
  return {
    patch: { kill: event.order, op: '', deadline: null },
    effects: [
      containerEvent(context, 'Normal', 'Killing', event.order.message || `Stopping container ${context.name}`),
    ],
  };
}

/** Takes the order and tells it, but goes on waiting for StartContainer. */
export function killOrderedLater(context: ContainerContext, event: ContainerEvent): Out {
  if (event.type !== 'kill') return {};
  const { order } = event;
  const ordered = killOrdered(context, event);
  return { ...ordered, patch: { kill: order, deadline: graceEnd(order) } };
}

/** A start that had not made a container yet is given up; its late outcome is dropped. */
export function startGivenUp(): Out {
  return { patch: { op: '', deadline: null } };
}

/** A later order may shorten the grace period, never lengthen it. */
export function graceShortened(context: ContainerContext, event: ContainerEvent): Out {
  if (event.type !== 'kill' || context.kill === null) return {};
  const ends = Math.min(endOfGrace(context), graceEnd(event.order));
  const graceSeconds = Math.max(0, (ends - context.kill.since) / 1000);
  const deadline = context.deadline === null ? null : Math.min(context.deadline, ends);
  return { patch: { kill: { ...context.kill, graceSeconds }, deadline } };
}

function endOfGrace(context: ContainerContext): number {
  return context.kill === null ? 0 : graceEnd(context.kill);
}

/**
 * Seconds that the hook's call may take, 0 = no limit. What has used up the grace period goes on beside the SIGTERM until its
 * container ends (kubelet passes no timeout to ExecSync, and waits for the hook as long as the grace period).
 */
function hookTimeout({ settings, container }: ContainerWorld, left: number): number {
  if (!behaves(settings, 'hooksGoOnToTheEnd')) return left;
  return container.lifecycle?.preStop?.exec === undefined ? left + MINIMUM_GRACE_SECONDS : 0;
}

/** Runs the preStop hook within the grace period. */
export function askPreStop(context: ContainerContext, { world }: ContainerEvent): Out {
  const handler = world.container.lifecycle?.preStop;
  const timeout = hookTimeout(world, context.kill?.graceSeconds ?? 0);
  if (handler === undefined) return { patch: { op: '', deadline: world.at } };
  const hook = hookAction(handler, world, context.id, nextKey(context), timeout);
  const ends = endOfGrace(context);
  if ('effect' in hook) {
    const asked = ask(context, hook.effect);
    return { ...asked, patch: { ...asked.patch, deadline: ends } };
  }
  if ('sleepMs' in hook) return { patch: { op: '', deadline: Math.min(world.at + hook.sleepMs, ends) } };
  return {
    patch: { op: '', deadline: world.at },
    effects: [containerEvent(context, 'Warning', 'FailedPreStopHook', 'PreStopHook failed')],
  };
}

/** The server speaks http: the hook is asked for again that way, within the same grace period. */
export function askPreStopOverHttp(context: ContainerContext, { world }: ContainerEvent): Out {
  const handler = world.container.lifecycle?.preStop;
  const ends = endOfGrace(context);
  const left = hookTimeout(world, Math.max(1, Math.ceil((ends - world.at) / 1000)));
  const effect =
    handler === undefined ? null : hookOverHttp(hookAction(handler, world, context.id, nextKey(context), left));
  if (effect === null) return { patch: { op: '', deadline: world.at } };
  const asked = ask(context, effect);
  return { ...asked, patch: { ...asked.patch, deadline: ends } };
}

/** The hook says that it failed. */
function hookFailed(event: ContainerEvent): boolean {
  if (event.type === 'failed') return true;
  return event.type === 'done' && event.outcome.effect === 'cri.ExecSync' && event.outcome.result.exitCode !== 0;
}

export function preStopDone(context: ContainerContext, event: ContainerEvent): Out {
  if (hookFailed(event)) return preStopFailed(context);
  return { patch: { op: '', deadline: null, preStopDone: context.id }, effects: fallbackOf(event) };
}

function fallbackOf(event: ContainerEvent) {
  if (event.type !== 'done') return [];
  return fallbackEvents(event.outcome, event.world.container.lifecycle?.preStop, event.world);
}

export function preStopFailed(context: ContainerContext): Out {
  return {
    patch: { op: '', deadline: null, preStopDone: context.id },
    effects: [containerEvent(context, 'Warning', 'FailedPreStopHook', 'PreStopHook failed')],
  };
}

/** The hook is not waited for any more; what becomes of it is still told. */
function hookLeft({ op }: ContainerContext, { world }: ContainerEvent): Partial<ContainerContext> {
  return op !== '' && behaves(world.settings, 'hooksGoOnToTheEnd') ? { lateHook: op } : {};
}

/** A pause of the hook is over, or the grace period is. */
export function preStopTimeOver(context: ContainerContext, event: ContainerEvent): Out {
  return { patch: { ...hookLeft(context, event), op: '', deadline: null, preStopDone: context.id } };
}

/** The container has ended while its hook ran. */
export function endedInHook(context: ContainerContext, event: ContainerEvent): Out {
  return { patch: { ...ended(context, event).patch, ...hookLeft(context, event) } };
}

/** A hook that was left has ended: mostly because its container has, and then badly (kubelet tells that whenever it comes). */
export function lateHookOver(context: ContainerContext, event: ContainerEvent): Out {
  const failed = hookFailed(event);
  return {
    patch: { lateHook: '' },
    effects: failed ? (preStopFailed(context).effects ?? []) : fallbackOf(event),
  };
}

/**
 * Waits for its turn, for what the hook has left of the grace period. Kubelet counts whole seconds of the hook, and the wait
 * begins when the hook has ended.
 */
export function awaitTurn(context: ContainerContext, { world }: ContainerEvent): Out {
  const { kill } = context;
  if (kill === null || !behaves(world.settings, 'hooksGoOnToTheEnd'))
    return { patch: { op: '', deadline: endOfGrace(context) } };
  const left = { ...kill, since: world.at, graceSeconds: secondsLeft(kill, world.at) };
  return { patch: { op: '', kill: left, deadline: graceEnd(left) } };
}

/** What is left of an order's grace period, after whole seconds (kubelet counts no parts of them). */
function secondsLeft({ since, graceSeconds }: KillOrder, at: number): number {
  return Math.max(0, graceSeconds - Math.floor((at - since) / 1000));
}

/** StopContainer with what is left of the grace period, at least two seconds. */
export function askStop(context: ContainerContext, { world }: ContainerEvent): Out {
  const { kill } = context;
  const left = kill === null ? 0 : secondsLeft(kill, world.at);
  const timeoutSeconds = Math.max(MINIMUM_GRACE_SECONDS, Math.ceil(left));
  return ask(context, {
    type: 'cri.StopContainer',
    key: nextKey(context),
    params: { containerId: context.id, timeoutSeconds },
  });
}

/** The runtime says that it is stopped; a fresh look tells how it ended. */
export function stopped(context: ContainerContext, { world }: ContainerEvent): Out {
  return {
    patch: { op: '', deadline: world.at + CONFIRM_MS },
    effects: [{ type: 'cri.ContainerStatus', key: `inspect/${context.id}`, params: { containerId: context.id } }],
  };
}

export function stopWillBeRetried(_context: ContainerContext, { world }: ContainerEvent): Out {
  return { patch: { op: '', deadline: world.at + STOP_RETRY_MS } };
}

/** The container has ended (or is gone); what ended is remembered until the next start. */
export function ended(context: ContainerContext, { world }: ContainerEvent): Out {
  const seen = world.observed;
  return {
    patch: {
      op: '',
      deadline: null,
      kill: null,
      // Kubelet restarts it within the same sync, before it looks at the back-off.
      ...(context.kill?.reason === 'resize' && { backOff: null }),
      id: seen?.id ?? context.id,
      attempt: seen?.restartCount ?? context.attempt,
    },
  };
}
