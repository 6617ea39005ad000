import { RESIZED } from './draw/actions.ts';
import type { Event } from '../cluster/support/api-objects.ts';
import { kindOf, SeenPods } from './seen-pods.ts';
import type { Row } from './seen-pods.ts';
import type { Both } from './run.ts';

/** One thing that the two agents did or told otherwise. */
export interface Difference {
  /** What it is about, without the pod: `container.config.linux.resources`, `words of waiting RunContainerError` ... */
  about: string;
  pod: string;
  kubelet: string;
  actorlet: string;
  /** It does not hang on when either of the two looked: a defect, or a decision that `accepted.ts` has the reason of. */
  certain: boolean;
}

type Say = (about: string, kubelet: unknown, actorlet: unknown, certain: boolean) => void;

/** Events whose words depend on the moment: which pull came first, what was ended by whom. */
const BY_MOMENT = new Set(['Pulled', 'Pulling', 'Killing']);

/** All differences: what the runtime was asked for, what clients were shown, events, and whether pods went. */
export function compare({ kubelet, actorlet, pods }: Both): Difference[] {
  const out: Difference[] = [];
  const [theirs, ours] = [new SeenPods(kubelet), new SeenPods(actorlet)];
  const sayOf = (pod: string): Say => {
    return (about, a, b, certain) => void out.push({ about, pod, kubelet: textOf(a), actorlet: textOf(b), certain });
  };
  const ofAll = sayOf('');
  tell(ofAll, 'node', theirs.node(), ours.node());
  for (const [subject, a, b] of pairs<Set<string>>(theirs.asked(), ours.asked(), new Set()))
    if (a.size > 0 && b.size > 0 && ![...b].some((kind) => a.has(kind)))
      ofAll(`request of ${subject}`, [...a], [...b], true);
  for (const pod of pods) {
    const say = sayOf(pod);
    const both = <T>(look: (seen: SeenPods) => T): [T, T] => [look(theirs), look(ours)];
    requests(say, ...both((seen) => seen.sandboxes(pod)), 'sandbox');
    for (const [name, a, b] of pairs<Row[]>(...both((seen) => seen.containers(pod)), [])) {
      requests(say, a, b, 'container');
      if (a.length !== b.length) say(`containers made: ${kindOf(name)}`, a.length, b.length, false);
    }
    for (const [kind, a, b] of pairs<Set<string>>(...both((seen) => seen.shown(pod)), new Set()))
      onlyOnce(say, `shown ${kind}`, a, b);
    words(say, ...both((seen) => seen.words(pod)));
    events(say, ...both((seen) => seen.events(pod)));
    folders(say, ...both((seen) => seen.folder(pod)));
    const [shownA, shownB] = both((seen) => seen.isShown(pod));
    if (shownA !== shownB) {
      say('shown to clients', shownA, shownB, true);
      continue;
    }
    const [goneA, goneB] = both((seen) => seen.goneMs(pod));
    if ((goneA === undefined) !== (goneB === undefined)) say('gone after its deletion', goneA, goneB, true);
    else if ((goneB ?? 0) > (goneA ?? 0) + 2_500) say('gone after, ms', goneA, goneB, false);
  }
  return out;
}

/**
 * What the runtime was asked to make: the first two of a name, since how many there are hangs on the time. So does which of
 * them are of the image or the CPU that a pod was given later.
 */
function requests(say: Say, kubelet: readonly Row[], actorlet: readonly Row[], what: string): void {
  for (let i = 0; i < Math.min(kubelet.length, actorlet.length, 2); i++)
    if (versionOf(kubelet[i]) === versionOf(actorlet[i])) tell(say, what, kubelet[i], actorlet[i]);
}

interface Config {
  image?: { userSpecifiedImage?: string };
  linux?: { resources?: { cpuShares?: unknown; cpuQuota?: unknown } };
}

/** Which of the pod's versions a container was made of: its image, and whether it has the CPU of the resize that is drawn. */
function versionOf(row: Row | undefined): string {
  const { image, linux } = (row as { config?: Config } | undefined)?.config ?? {};
  const { cpuShares, cpuQuota } = linux?.resources ?? {};
  const isResized = String(cpuShares) === RESIZED.cpuShares || String(cpuQuota) === RESIZED.cpuQuota;
  return `${image?.userSpecifiedImage ?? ''} ${String(isResized)}`;
}

/** A reason that both have shown is explained in the same words. */
function words(say: Say, kubelet: Map<string, Set<string>>, actorlet: Map<string, Set<string>>): void {
  for (const [reason, theirs] of kubelet) {
    const ours = actorlet.get(reason);
    if (ours !== undefined && ![...ours].some((text) => theirs.has(text)))
      say(`words of ${reason}`, [...theirs], [...ours], true);
  }
}

/** Events of one reason about one thing, told by both, have a text in common; those that one alone told stand apart. */
function events(say: Say, kubelet: readonly Event[], actorlet: readonly Event[]): void {
  const [theirs, ours] = [textsOf(kubelet), textsOf(actorlet)];
  for (const [subject, a, b] of pairs<Set<string>>(theirs, ours, new Set())) {
    if (a.size === 0 || b.size === 0) onlyOnce(say, `event ${subject}`, a, b);
    else if (![...b].some((text) => a.has(text)) && !BY_MOMENT.has(subject.split(' ')[1] ?? ''))
      say(`words of event ${subject}`, [...a], [...b], true);
  }
}

/** What is on the disk for a pod that ran on both sides at the look. */
function folders(
  say: Say,
  kubelet: Record<string, string> | undefined,
  actorlet: Record<string, string> | undefined,
): void {
  if (kubelet === undefined || actorlet === undefined) return;
  for (const path of new Set([...Object.keys(kubelet), ...Object.keys(actorlet)]))
    if (kubelet[path] !== actorlet[path]) say(`on disk: ${kindOf(path)}`, kubelet[path], actorlet[path], true);
}

function textsOf(list: readonly Event[]): Map<string, Set<string>> {
  const out = new Map<string, Set<string>>();
  for (const { type, reason, involvedObject, message } of list) {
    const path = (involvedObject?.fieldPath ?? '').replace(/\{.*/, '');
    // Probes of a container tell of themselves, each in its words.
    const probe =
      reason === 'Unhealthy' || reason === 'ProbeWarning' ? (/^\w+ probe \w+/.exec(message ?? '')?.[0] ?? '') : '';
    const subject = [type, reason, path, probe].filter((word) => word !== undefined && word !== '').join(' ');
    out.set(subject, (out.get(subject) ?? new Set()).add(message ?? ''));
  }
  return out;
}

function pairs<T>(a: Map<string, T>, b: Map<string, T>, none: T): [string, T, T][] {
  return [...new Set([...a.keys(), ...b.keys()])].map((key) => [key, a.get(key) ?? none, b.get(key) ?? none]);
}

/** Tells what only one of two sets has. */
function onlyOnce(say: Say, about: string, kubelet: Set<string>, actorlet: Set<string>): void {
  for (const text of kubelet) if (!actorlet.has(text)) say(about, text, undefined, false);
  for (const text of actorlet) if (!kubelet.has(text)) say(about, undefined, text, false);
}

/** Tells each place in which two values differ; places in lists count as one. */
function tell(say: Say, about: string, kubelet: unknown, actorlet: unknown): void {
  if (textOf(kubelet) === textOf(actorlet)) return;
  if (!isTree(kubelet) || !isTree(actorlet) || Array.isArray(kubelet) !== Array.isArray(actorlet))
    return say(about, kubelet, actorlet, true);
  for (const key of new Set([...Object.keys(kubelet), ...Object.keys(actorlet)]))
    tell(say, `${about}.${Array.isArray(kubelet) ? '*' : key}`, kubelet[key], actorlet[key]);
}

function isTree(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function textOf(value: unknown): string {
  const sorted = (_key: string, part: unknown) =>
    isTree(part) && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part;
  return value === undefined ? '' : JSON.stringify(value, sorted);
}
