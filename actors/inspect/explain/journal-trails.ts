import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { PodMessage } from '../../../machines/protocol/messages.ts';
import type { NodeSettings } from '../../../machines/protocol/node-settings.ts';
import { journalBatches, parseLine } from '../../record/journal/journal-reader.ts';
import type { JournalRecord } from '../../record/journal/records.ts';
import type { SpecReference } from '../../record/journal/spec-book.ts';
import { NodeTrail } from './node-trail.ts';
import { PodTrail } from './pod-trail.ts';
import { SupervisedTrail } from './supervised-trail.ts';

/** What the journals say of some pods. */
export interface Trails {
  pods: Map<string, PodTrail>;
  supervised: SupervisedTrail;
  /** The node; nothing without its log. */
  node: NodeTrail;
  /** Newest time in the journals, whoever's, up to the asked moment; 0 = none. */
  newest: number;
}

/** Damaged lines and files are passed over: what stands around them still explains. */
const PASS_OVER = () => undefined;

/** Names of a pod as its specs tell them. */
export interface NamedPod {
  uid: string;
  namespace: string;
  name: string;
  nodeName: string;
}

/** All pods in the journals whose spec holds `text`, a name or a UID; later specs last. */
export async function podsNamed(files: readonly string[], text: string): Promise<NamedPod[]> {
  const found = new Map<string, NamedPod>();
  for await (const { lines } of journalBatches(files, PASS_OVER)) {
    for (const line of lines) {
      if (!line.startsWith('{"r":"spec"') || !line.includes(text)) continue;
      const record = parsed(line);
      if (record?.r !== 'spec') continue;
      const { metadata, spec } = record.pod as Pod;
      const { uid = '', namespace = '', name = '' } = metadata ?? {};
      found.delete(uid);
      found.set(uid, { uid, namespace, name, nodeName: spec?.nodeName ?? '' });
    }
  }
  return [...found.values()];
}

/** Steps the machines of the pods `uids` through the journals, up to `until` (ms since the epoch). Lines of others are not parsed. */
export async function readTrails(
  files: readonly string[],
  uids: ReadonlySet<string>,
  until = Number.POSITIVE_INFINITY,
): Promise<Trails> {
  const reader = new TrailReader(uids, until);
  for await (const { lines } of journalBatches(files, PASS_OVER)) for (const line of lines) reader.take(line);
  return reader.trails;
}

class TrailReader {
  readonly trails: Trails = { pods: new Map(), supervised: new SupervisedTrail(), node: new NodeTrail(), newest: 0 };
  readonly #uids: ReadonlySet<string>;
  readonly #until: number;
  readonly #specs = new Map<string, Pod>();
  #wanted: RegExp;
  #settings: NodeSettings | null = null;
  #segmentAt = 0;
  /** Time of the supervisor's message under way; false when it is after the asked moment. */
  #supervisorAt: number | false = 0;

  constructor(uids: ReadonlySet<string>, until: number) {
    this.#uids = uids;
    this.#until = until;
    this.#wanted = wantedBy(uids, []);
  }

  take(line: string): void {
    const kind = /^\{"r":"([a-z.]+)"/.exec(line)?.[1];
    const at = kind?.endsWith('msg') === true || kind?.endsWith('segment') === true ? timeOf(line) : 0;
    if (at > this.trails.newest && at <= this.#until) this.trails.newest = at;
    if (kind === 'sup.msg') this.#supervisorAt = at <= this.#until ? at : false;
    if (kind === 'node.segment' || kind === 'node.msg') {
      const record = at <= this.#until ? parsed(line) : null;
      if (record !== null) this.trails.node.take(record);
      return;
    }
    if (kind !== 'segment' && !line.includes('"sourcesReady"') && !this.#wanted.test(line)) return;
    if (kind === 'step' || kind === 'fault') return;
    const record = parsed(line);
    if (record !== null) this.#record(record);
  }

  #record(record: JournalRecord): void {
    switch (record.r) {
      case 'segment':
        this.#settings = record.settings as unknown as NodeSettings;
        this.#segmentAt = record.at;
        break;
      case 'spec': {
        const pod = record.pod as Pod;
        if (!this.#uids.has(pod.metadata?.uid ?? '')) break;
        this.#specs.set(record.id, pod);
        this.#wanted = wantedBy(this.#uids, this.#specs.keys());
        break;
      }
      case 'snap': {
        const pod = this.#specs.get(record.spec);
        if (
          !this.#uids.has(record.uid) ||
          pod === undefined ||
          this.#settings === null ||
          this.#segmentAt > this.#until
        )
          break;
        this.#trail(record.uid).restore(record.value, record.context, pod, this.#settings, this.#segmentAt);
        break;
      }
      case 'msg': {
        if (!this.#uids.has(record.uid) || record.m.at > this.#until) break;
        const message = this.#withPod(record.m);
        if (message !== null) this.#trail(record.uid).take(message, this.#settings);
        break;
      }
      case 'sup.snap':
        this.#supervisorSnap(record.t);
        break;
      case 'sup.msg':
        if (this.#supervisorAt !== false) this.#supervisorMessage(record.m, record.m.at);
        break;
      case 'sup.step':
        if (this.#supervisorAt !== false) this.#orders(record.o, this.#supervisorAt);
        break;
      default:
    }
  }

  #trail(uid: string): PodTrail {
    const known = this.trails.pods.get(uid) ?? new PodTrail();
    this.trails.pods.set(uid, known);
    return known;
  }

  #withPod(raw: Record<string, unknown>): PodMessage | null {
    const reference = raw['pod'] as SpecReference | undefined;
    if (reference === undefined) return raw as unknown as PodMessage;
    const pod = this.#specs.get(reference.$spec);
    return pod === undefined ? null : ({ ...raw, pod } as unknown as PodMessage);
  }

  #supervisorSnap(tracked: Record<string, unknown>): void {
    const pod = this.#specs.get((tracked['pod'] as SpecReference).$spec);
    if (pod === undefined) return;
    const { supervised } = this.trails;
    supervised.named(pod, String(tracked['source']), '', this.#segmentAt);
    if (tracked['phase'] === 'started') supervised.started(String(tracked['uid']));
  }

  #supervisorMessage(message: Record<string, unknown>, at: number): void {
    if (message['type'] === 'sourcesReady') this.trails.supervised.sourcesReady();
    if (message['type'] !== 'config') return;
    const update = message['update'] as {
      op: string;
      source: string;
      pods: SpecReference[];
      places?: Record<string, string>;
    };
    for (const { $spec } of update.pods) {
      const pod = this.#specs.get($spec);
      if (pod !== undefined && update.op !== 'REMOVE')
        this.trails.supervised.named(pod, update.source, update.places?.[pod.metadata?.uid ?? ''] ?? '', at);
    }
  }

  #orders(orders: readonly unknown[], at: number): void {
    for (const order of orders as { type: string; uid: string }[]) {
      if (!this.#uids.has(order.uid)) continue;
      if (order.type === 'start') this.trails.supervised.started(order.uid);
      if (order.type === 'forget') this.trails.supervised.forgotten(order.uid, at);
    }
  }
}

/** A line may be about a pod only when it names its UID or one of its specs. */
function wantedBy(uids: Iterable<string>, specs: Iterable<string>): RegExp {
  const texts = [...uids, ...specs].map((text) => text.replace(/[^\w-]/g, '\\$&'));
  return texts.length === 0 ? /(?!)/ : new RegExp(texts.join('|'));
}

/** A message's time is its first `at`; it stands near the start of its line. */
function timeOf(line: string): number {
  return Number(/"at":(\d+)/.exec(line.slice(0, 200))?.[1] ?? 0);
}

function parsed(text: string): JournalRecord | null {
  try {
    return parseLine({ file: '', line: 0, text });
  } catch {
    return null;
  }
}
