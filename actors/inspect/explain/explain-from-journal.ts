import { ActorletError } from '../../../machines/errors/define.ts';
import { journalErrors } from '../../../machines/errors/journal-errors.ts';
import { explainErrors } from '../../../machines/errors/explain-errors.ts';
import { explainAside } from '../../../machines/explain/explain-aside.ts';
import { explainPod } from '../../../machines/explain/explain-pod.ts';
import { explainSupervised } from '../../../machines/explain/explain-supervision.ts';
import type { Explanation } from '../../../machines/explain/explanation.ts';
import { explainMachine } from '../../../machines/explain/machine-reasons.ts';
import { explainNode } from '../../../machines/explain/node-reasons.ts';
import { volumeWaits } from '../../../machines/volume-manager/volume-words.ts';
import { moment } from '../../../machines/values/spoken-time.ts';
import { NODE_UID } from '../../../machines/node/node-context.ts';
import { journalFiles } from '../../record/journal/journal-reader.ts';
import { SINGLES } from '../../record/machines/registry.ts';
import { podsNamed, readTrails } from './journal-trails.ts';
import type { NamedPod, Trails } from './journal-trails.ts';
import { placeOfMachine } from './machine-place.ts';

/** What is to be explained. */
export interface ExplainQuestion {
  /** `NAMESPACE/NAME`, `NAME` (of a static pod also without the node's name at its end) or UID; `@node` for the node itself, `@admission` and the like for a machine of it. */
  pod: string;
  /** Journal files or folders. */
  journals: readonly string[];
  /** The moment, ms since the epoch; undefined = the newest. */
  at?: number;
  /** The clock, ms since the epoch. */
  now: number;
}

/** A journal whose newest record is younger than this is one of a running agent: the clock goes on, ms. */
const LIVE_MS = 120_000;

/**
 * Explains a pod from journals. They are on disk before a message is handled, so those of a running agent are as good as
 * asking it. Throws JRN001, JRN009, EXP001, EXP002 or EXP004.
 */
export async function explainFromJournal(question: ExplainQuestion): Promise<Explanation> {
  try {
    return await explained(question);
  } catch (error) {
    if (error instanceof ActorletError) throw error;
    const params = { pod: question.pod, problem: String(error) };
    throw new ActorletError(journalErrors.unusable, params, { cause: error });
  }
}

async function explained(question: ExplainQuestion): Promise<Explanation> {
  const { pod, journals, at, now } = question;
  const files = await journalFiles([...journals]);
  const journal = journals.join(', ');
  if (pod === NODE_UID) return explainTheNode(files, question, journal);
  const machine = SINGLES.get(pod);
  if (machine !== undefined) {
    const { place, newest: last } = await placeOfMachine(files, pod, machine, at);
    if (place === null) throw new ActorletError(explainErrors.unknownPod, { pod, journal });
    return explainMachine(place, at ?? (now - last < LIVE_MS ? now : last));
  }
  const chosen = chosenPods(await podsNamed(files, textOf(pod)), pod, journal);
  // A pod that was asked for by its UID may wait for another of its name.
  const [first] = chosen;
  const rivals = first?.uid === pod ? (await podsNamed(files, first.name)).filter((p) => sameName(p, first)) : [];
  const trails = await readTrails(files, new Set([...chosen, ...rivals].map(({ uid }) => uid)), at);
  const moved = at ?? (now - trails.newest < LIVE_MS ? now : trails.newest);
  const answer = newest(chosen, trails, moved);
  if (answer === null)
    throw new ActorletError(explainErrors.tooEarly, { pod, journal, time: moment(at ?? trails.newest) });
  return answer;
}

async function explainTheNode(
  files: readonly string[],
  question: ExplainQuestion,
  journal: string,
): Promise<Explanation> {
  const { at, now } = question;
  const { node, newest: last } = await readTrails(files, new Set(), at);
  if (node.place === null) throw new ActorletError(explainErrors.unknownPod, { pod: NODE_UID, journal });
  return explainNode(node.place, at ?? (now - last < LIVE_MS ? now : last));
}

function sameName(a: NamedPod, b: NamedPod): boolean {
  return a.namespace === b.namespace && a.name === b.name;
}

/** What of the question stands in a spec: a UID, or a name without its namespace. */
function textOf(pod: string): string {
  return pod.slice(pod.indexOf('/') + 1);
}

/** The pods that are meant: one name may have been used by several, one after the other. */
function chosenPods(found: readonly NamedPod[], asked: string, journal: string): NamedPod[] {
  const byUid = found.filter(({ uid }) => uid === asked);
  const slash = asked.indexOf('/');
  const namespace = slash < 0 ? null : asked.slice(0, slash);
  const name = textOf(asked);
  const inNamespace = found.filter((pod) => namespace === null || pod.namespace === namespace);
  const byName = inNamespace.filter((pod) => pod.name === name);
  const byShortName = inNamespace.filter((pod) => pod.name === `${name}-${pod.nodeName.toLowerCase()}`);
  const chosen = [byUid, byName, byShortName].find((list) => list.length > 0);
  if (chosen === undefined) throw new ActorletError(explainErrors.unknownPod, { pod: asked, journal });
  const full = new Set(chosen.map((pod) => `${pod.namespace}/${pod.name}`));
  if (full.size > 1) throw new ActorletError(explainErrors.severalPods, { pod: asked, found: [...full].join(', ') });
  return chosen;
}

/** Of several pods of one name that counts which was named last; one that waits for its predecessor is told with it. */
function newest(chosen: readonly NamedPod[], trails: Trails, now: number): Explanation | null {
  const all = chosen.flatMap(({ uid }) => {
    const aside = trails.supervised.asideOf(uid);
    const whole = (explanation: Explanation): Explanation =>
      aside === undefined ? explanation : explainAside(explanation, aside);
    const place = trails.pods.get(uid)?.place ?? null;
    if (place !== null) {
      const node = trails.node.place;
      const evicted = trails.evicted.get(uid);
      const known = {
        ...{ now, place: trails.supervised.placeOf(uid) },
        ...(node !== null && { node }),
        ...(evicted !== undefined && { evicted }),
        ...(trails.volumes !== null && { volumeWaits: volumeWaits(trails.volumes, uid) }),
      };
      const explanation = explainPod({ ...place, ...known });
      return [{ began: place.history.startedAt, explanation: whole(explanation) }];
    }
    const known = trails.supervised.of(uid);
    return known === null ? [] : [{ began: known.since, explanation: whole(explainSupervised(known, now)) }];
  });
  return all.sort((a, b) => b.began - a.began)[0]?.explanation ?? null;
}
