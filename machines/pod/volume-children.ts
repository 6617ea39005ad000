import type { Place } from '../machine-step/step.ts';
import { bornPlace, hears, stepPlace } from '../machine-step/step.ts';
import type { Pod } from '../protocol/api-types.ts';
import type { PodMessage } from '../protocol/messages.ts';
import { failedVolume, neededVolumes } from '../volumes/needed-volumes.ts';
import type { VolumeContext, VolumeEvent } from '../volumes/volume-context.ts';
import { volumeMachine } from '../volumes/volume-machine.ts';
import type { Draft } from './draft.ts';
import { openDraft, own } from './draft.ts';
import type { PodContext, Task } from './pod-context.ts';

/** The volume machines of a pod at their start, in the order of the spec. */
export function bornVolumes(pod: Pod): Record<string, Place<VolumeContext>> {
  return Object.fromEntries(
    neededVolumes(pod).map((needed) => [needed.name, bornPlace<VolumeContext>(volumeMachine, needed)]),
  );
}

/**
 * Tells the volume machines what this step has decided. The pod asks for all its volumes with one effect, so what is wanted
 * and what became of it stands in three tasks: `volumes`, `volumes.refresh` (again, beside what runs) and `teardown`.
 * What changed in them from the step's beginning to its end is what happened to the volumes. Called once, at the end of a step.
 */
export function followVolumes(draft: Draft, message: PodMessage): void {
  const { context, before } = draft;
  if (
    context.tasks === before.tasks &&
    context.pod === before.pod &&
    (context.volumesStale === before.volumesStale || !context.volumesStale)
  )
    return;
  const needed = neededVolumes(context.pod);
  if (context.pod !== before.pod) {
    for (const volume of needed)
      if (context.volumes[volume.name] === undefined)
        own(draft, 'volumes')[volume.name] = bornPlace<VolumeContext>(volumeMachine, volume);
  }
  if (needed.length === 0 && Object.keys(context.volumes).length === 0) return;
  followTask(draft, message, 'volumes');
  followTask(draft, message, 'volumes.refresh');
  followTask(draft, message, 'teardown');
  // Not yet served: the runtime is away, or a set-up that is under way began before the change.
  if (context.volumesStale) tellAll(draft, { type: 'changed', at: draft.at });
}

/** The volume machines of a snapshot that was written before there were any: as far as the tasks tell. */
export function volumesOfTasks(context: Omit<PodContext, 'volumes'>): PodContext['volumes'] {
  const draft = openDraft({ ...context, tasks: {}, volumesStale: false, volumes: bornVolumes(context.pod) }, 0);
  draft.context.tasks = context.tasks;
  draft.context.volumesStale = context.volumesStale;
  followVolumes(draft, { type: 'timer', at: 0 });
  return draft.context.volumes;
}

type VolumeTask = 'volumes' | 'volumes.refresh' | 'teardown';

function followTask(draft: Draft, message: PodMessage, name: VolumeTask): void {
  const was = draft.before.tasks[name];
  const is = draft.context.tasks[name];
  if (is === was) return;
  const { at } = draft;
  const goesOn = was?.state === 'running' && is?.state === 'running' && was.key === is.key;
  if (was?.state === 'running' && !goesOn) tellOutcome(draft, name, was, is, message);
  if (is === undefined) {
    if (was?.state !== 'running') tellAll(draft, { type: 'forgotten', at });
  } else if (is.state === 'running') {
    if (!goesOn) tellAll(draft, beginOf(name, is.key, at));
  } else if (is.state === 'failed' && is.key === '') {
    tellRefused(draft, is.error?.message ?? '');
  } else if (was === undefined) {
    // Of a snapshot: it began and ended before.
    tellAll(draft, beginOf(name, is.key, at));
    tellOutcome(draft, name, is, is, message);
  }
}

function beginOf(name: VolumeTask, key: string, at: number): VolumeEvent {
  return name === 'teardown' ? { type: 'tearDown', at, key } : { type: 'setUp', at, key };
}

/** What became of an effect; by the message itself where the task has already begun anew. */
function tellOutcome(draft: Draft, name: VolumeTask, was: Task, is: Task | undefined, message: PodMessage): void {
  const { at, context } = draft;
  const { key } = was;
  const told = message.type === 'effect.failed' && message.key === key ? message.error.message : null;
  const failed = is?.state === 'failed' ? (is.error?.message ?? '') : told;
  if (failed === null) {
    for (const volume of Object.keys(context.volumes))
      tell(draft, volume, { type: 'done', at, key, path: context.volumePaths?.[volume] ?? '' });
    return;
  }
  const failure = {
    type: 'failed' as const,
    at,
    key,
    error: failed,
    retryAt: is?.state === 'failed' ? is.retryAt : null,
  };
  const culprit = name === 'teardown' ? '' : failedVolume(failed);
  if (context.volumes[culprit] === undefined) {
    tellAll(draft, failure);
    return;
  }
  // The failure names the first volume of the spec that failed: those before it are set up, of the others nothing is known.
  let passed = false;
  for (const { name: volume } of neededVolumes(context.pod)) {
    if (volume === culprit) {
      tell(draft, volume, failure);
      passed = true;
    } else tell(draft, volume, passed ? { type: 'undecided', at, key } : { type: 'done', at, key, path: '' });
  }
}

function tellRefused(draft: Draft, error: string): void {
  const { at, context } = draft;
  const culprit = failedVolume(error);
  for (const volume of Object.keys(context.volumes)) {
    if (context.volumes[culprit] === undefined || volume === culprit)
      tell(draft, volume, { type: 'refused', at, error });
  }
}

function tellAll(draft: Draft, event: VolumeEvent): void {
  for (const volume of Object.keys(draft.context.volumes)) tell(draft, volume, event);
}

function tell(draft: Draft, name: string, event: VolumeEvent): void {
  const place = draft.context.volumes[name];
  if (place === undefined || !hears(volumeMachine, place.value, event.type)) return;
  const next = stepPlace(volumeMachine, place, event, draft.effects);
  if (next !== place) own(draft, 'volumes')[name] = next;
}
