import type { Draft } from './draft.ts';
import { own } from './draft.ts';

/**
 * The node's clock was set back by `byMs` (`clock.steppedBack`): what was to happen "in ten seconds" still happens in ten
 * seconds, and what began a minute ago began a minute ago. Kubelet has this from Go's monotonic clock; a machine has
 * only the times of its messages, so those that lie in what is the future now are moved. A pod's `startTime` stays, as
 * kubelet's does.
 */
export function followClock(draft: Draft, byMs: number): void {
  const { context, at } = draft;
  /** A moment that has been: it cannot lie ahead. */
  const past = (time: number) => (time > at ? Math.min(at, time - byMs) : time);
  /** A moment that is to come. One that was set since the step (and before this message) is right as it is. */
  const coming = (time: number | null) => (time !== null && time > at + byMs - SLACK_MS ? time - byMs : time);

  const { termination, resize, observed } = context;
  if (termination !== null) context.termination = { ...termination, since: past(termination.since) };
  if (resize !== undefined) context.resize = { ...resize, since: past(resize.since) };
  if (observed !== null) context.observed = { ...observed, at: past(observed.at) };
  for (const [id, time] of Object.entries(context.fresh)) own(draft, 'fresh')[id] = past(time);
  for (const [name, task] of Object.entries(context.tasks)) {
    if (task.state === 'failed') own(draft, 'tasks')[name] = { ...task, retryAt: coming(task.retryAt) ?? 0 };
  }
  for (const [name, place] of Object.entries(context.containers)) {
    const { backOff, imageBackOff, kill, deadline, doubt } = place.context;
    own(draft, 'containers')[name] = {
      ...place,
      context: {
        ...place.context,
        deadline: coming(deadline),
        backOff: backOff === null ? null : { ...backOff, since: past(backOff.since) },
        imageBackOff: imageBackOff === null ? null : { ...imageBackOff, since: past(imageBackOff.since) },
        kill: kill === null ? null : { ...kill, since: past(kill.since) },
        ...(doubt && { doubt: { ...doubt, since: past(doubt.since) } }),
      },
    };
  }
  for (const [key, place] of Object.entries(context.probes)) {
    const { askedAt, deadline, countsFrom } = place.context;
    own(draft, 'probes')[key] = {
      ...place,
      context: {
        ...place.context,
        askedAt: past(askedAt),
        deadline: coming(deadline),
        ...(countsFrom !== undefined && { countsFrom: coming(countsFrom) }),
      },
    };
  }
  if (context.pullTurns !== undefined)
    context.pullTurns = Object.fromEntries(
      Object.entries(context.pullTurns).map(([key, told]) => [
        key,
        { ...told, since: past(told.since), begunAt: past(told.begunAt) },
      ]),
    );
  if (context.imageVolumes === undefined) return;
  context.imageVolumes = Object.fromEntries(
    Object.entries(context.imageVolumes).map(([name, volume]) => [
      name,
      volume.backOff === null
        ? volume
        : { ...volume, backOff: { ...volume.backOff, since: past(volume.backOff.since) } },
    ]),
  );
}

/** A deadline of before the step may have been due for so long when the step was noticed, ms. */
const SLACK_MS = 5_000;
