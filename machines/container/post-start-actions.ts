import { behaves } from '../protocol/behaviour.ts';
import { ask } from './asking.ts';
import type { Out } from './asking.ts';
import type { ContainerContext, ContainerEvent, ContainerWorld } from './container-context.ts';
import { containerEvent } from './container-events.ts';
import { fallbackEvents, hookAction, hookOverHttp } from './hook-effect.ts';
import { postStartFailure } from './hook-failure.ts';
import { nextKey } from './start-effects.ts';

export function askPostStart(context: ContainerContext, { world }: ContainerEvent): Out {
  const handler = world.container.lifecycle?.postStart;
  if (handler === undefined) return { patch: { deadline: world.at } };
  const hook = hookAction(handler, world, context.id, nextKey(context), 0);
  if ('effect' in hook) return ask(context, hook.effect);
  return { patch: { op: '', deadline: world.at + ('sleepMs' in hook ? hook.sleepMs : 0) } };
}

/** The server speaks http: the hook is asked for again that way. */
export function askPostStartOverHttp(context: ContainerContext, { world }: ContainerEvent): Out {
  const handler = world.container.lifecycle?.postStart;
  const effect =
    handler === undefined ? null : hookOverHttp(hookAction(handler, world, context.id, nextKey(context), 0));
  return effect === null ? { patch: { op: '', deadline: world.at } } : ask(context, effect);
}

export function postStartDone(context: ContainerContext, event: ContainerEvent): Out {
  const { world } = event;
  return {
    patch: { op: '', deadline: null, waiting: null, postStartDone: context.id },
    effects: event.type === 'done' ? fallbackEvents(event.outcome, world.container.lifecycle?.postStart, world) : [],
  };
}

/** Grace of a container whose postStart hook failed, seconds. */
export function hookKillGrace(world: ContainerWorld): number {
  return world.pod.metadata?.deletionGracePeriodSeconds ?? world.pod.spec?.terminationGracePeriodSeconds ?? 2;
}

/** A failed postStart hook kills its container (kubelet reason PostStartHookError, event FailedPostStartHook). */
export function postStartFailed(context: ContainerContext, event: ContainerEvent): Out {
  const { world } = event;
  const graceSeconds = hookKillGrace(world);
  const told = behaves(world.settings, 'failuresInKubeletsWords');
  const message = told ? postStartFailure(event) : 'PostStartHook failed';
  return {
    patch: {
      op: '',
      deadline: null,
      waiting: { reason: 'PostStartHookError', message },
      kill: { reason: 'postStartHook', message: 'FailedPostStartHook', graceSeconds, since: world.at, waitTurn: false },
    },
    effects: [
      containerEvent(context, 'Warning', 'FailedPostStartHook', 'PostStartHook failed'),
      containerEvent(context, 'Normal', 'Killing', 'FailedPostStartHook'),
    ],
  };
}
