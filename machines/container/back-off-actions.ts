import { goDuration } from '../values/go-duration.ts';
import type { Effect } from '../protocol/effects.ts';
import type { Out } from './asking.ts';
import type { ContainerContext, ContainerEvent, ContainerWorld } from './container-context.ts';
import { containerEvent, podText } from './container-events.ts';
import { backOffUntil } from './container-guards.ts';

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
