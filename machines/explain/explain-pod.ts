import type { PodContext } from '../pod/pod-context.ts';
import { CONFIG_FIRST_SEEN } from '../sources/annotations.ts';
import type { Cause, Explanation } from './explanation.ts';
import { POD_REASONS } from './pod-reasons.ts';
import { quotaCauses } from './quota-reasons.ts';
import type { ExplainInput, Reason, View } from './view.ts';
import { viewOf } from './view.ts';
import { volumeCauses } from './volume-reasons.ts';
import { short } from './words.ts';
import { moment, span } from '../values/spoken-time.ts';

/**
 * Why a pod is in its state, as the chain of causes: what it waits for, what failed how often, why that is, and where its
 * definition came from. Pure: the same context, history and time give the same words.
 */
export function explainPod(input: ExplainInput): Explanation {
  const { context, history, now } = input;
  const view = viewOf(input);
  const reason = withoutLooks(view, POD_REASONS[context.focus](view));
  const origin = originOf(context, input.place ?? '', history.startedAt);
  const gone = history.finishedAt > 0;
  const changed: Cause[] =
    history.updatedAt === 0 ? [] : [{ at: history.updatedAt, text: 'its definition was told anew', kind: 'source' }];
  const causes = [...reason.causes, ...circumstances(view, reason), ...changed, origin];
  const { namespace = '', name = '', uid = context.uid } = context.pod.metadata ?? {};
  return {
    pod: { namespace, name, uid },
    state: context.focus,
    since: history.state.at,
    sinceAtLeast: history.fromSnapshot && history.before.length === 0,
    now,
    gone,
    summary: summaryOf(view, reason, origin, gone),
    causes: causes.map((cause) => ({ ...cause, at: Math.min(cause.at, now) })),
    ...(reason.next !== undefined && !gone && { next: reason.next }),
  };
}

/** While the runtime does not say what it holds of the pod, that is the nearest cause: all else is how it was before. */
function withoutLooks({ context: { unseen, finished } }: View, reason: Reason): Reason {
  if (unseen === undefined || finished) return reason;
  const text = `the container runtime fails to say what it holds of the pod: ${short(unseen.why)}`;
  return { ...reason, causes: [{ at: unseen.since, text, kind: 'runtime' }, ...reason.causes] };
}

/** What stands in the way beside the nearest cause. */
function circumstances(view: View, reason: Reason): Cause[] {
  const { context, history, specs } = view;
  const out: Cause[] = [];
  const { termination, focus } = context;
  if (!context.runtimeReady && focus !== 'syncing.waitingForRuntime' && !context.finished)
    out.push({
      at: history.runtime.at,
      text: 'the container runtime does not answer or is not ready',
      kind: 'runtime',
    });
  out.push(...quotaCauses(view));
  // Of volumes that are waited for the nearest cause speaks.
  out.push(...volumeCauses(view, (state) => state === 'mounted.remountFailed' && focus !== 'syncing.mountingVolumes'));
  const active = context.pod.spec?.activeDeadlineSeconds;
  if (active !== undefined && termination === null && context.startedAt !== 0)
    out.push({
      at: 0,
      text: `its activeDeadlineSeconds ends at ${moment(context.startedAt + active * 1000)}`,
      kind: 'termination',
    });
  if (history.faults.count > 0)
    out.push({
      at: history.faults.at,
      text: `its machine threw on ${history.faults.count} messages (a fault of the agent)`,
      kind: 'agent',
    });
  if (context.adopted.length > 0 && specs.length > 0 && reason.causes.every((c) => c.kind !== 'admission'))
    out.push({ at: history.startedAt, text: 'what ran was taken over from an earlier agent', kind: 'agent' });
  return out;
}

function originOf({ source, pod, startedAt }: PodContext, place: string, started: number): Cause {
  const seen = Date.parse(pod.metadata?.annotations?.[CONFIG_FIRST_SEEN] ?? '');
  const at = Number.isNaN(seen) ? startedAt || started : seen;
  switch (source) {
    case 'file':
      return { at, text: `spec came from ${place === '' ? 'a manifest file' : `file ${place}`}`, kind: 'source' };
    case 'http':
      return { at, text: `spec came from ${placeOfHttp(place)}`, kind: 'source' };
    case 'api':
      return { at, text: 'spec came from the API server', kind: 'source' };
    case 'orphan':
      return { at, text: 'no source names it: the runtime held it', kind: 'source' };
  }
}

/** A source that the embedding program brought along speaks as `http`, and has a name instead of a URL. */
function placeOfHttp(place: string): string {
  if (place === '') return 'a manifest URL';
  return place.includes('://') ? `URL ${place}` : `the source ${place}`;
}

function summaryOf(view: View, reason: Reason, origin: Cause, gone: boolean): string {
  const { context, history, now } = view;
  const since = span(now - history.state.at);
  const atLeast = history.fromSnapshot && history.before.length === 0 ? 'at least ' : '';
  const head = gone
    ? `gone since ${span(now - history.finishedAt)}`
    : `${verbOf(context.focus)} ${context.focus} since ${atLeast}${since}`;
  // Of a pod that is gone it counts why, not that.
  const first = gone ? (reason.causes[1] ?? reason.causes[0]) : reason.causes[0];
  const next = reason.next;
  return [
    `${head}${first === undefined ? '' : `: ${first.text}`}`,
    ...(next === undefined || gone ? [] : [nextText(next.what, next.at, now)]),
    `${origin.text} at ${moment(origin.at)}`,
  ].join('; ');
}

/** `next try in 12 s, triggered by timer`: the time stands before the comma. */
export function nextText(what: string, at: number, now: number): string {
  const [first = '', ...rest] = what.split(', ');
  const when = at <= now ? 'now' : `in ${span(at - now)}`;
  return [`${first} ${when}`, ...rest].join(', ');
}

function verbOf(focus: string): string {
  if (focus === 'syncing.running' || focus === 'terminated.kept') return 'is in';
  return focus.startsWith('terminat') ? 'ending in' : 'waiting in';
}
