import type { PodSnapshot } from '../../../machines/pod/pod-context.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { EvictionMessage } from '../../../machines/eviction/eviction-context.ts';
import { evidenceOf } from '../../../machines/explain/eviction-reasons.ts';
import type { EvictionEvidence } from '../../../machines/explain/eviction-reasons.ts';
import type { PodMessage } from '../../../machines/protocol/messages.ts';
import type { VolumeManagerState } from '../../../machines/volume-manager/volume-manager-state.ts';
import type { AsideHarm } from '../../../machines/supervisor/harm.ts';
import { journalBatches, parseLine } from '../../record/journal/journal-reader.ts';
import { Playback } from '../../record/journal/playback.ts';
import type { Played } from '../../record/journal/played-step.ts';
import type { JournalRecord } from '../../record/journal/records.ts';
import { glanceAt } from '../../record/journal/unparsed-line.ts';
import type { SpecReference } from '../../record/machines/journaled-machine.ts';
import type { EvictionSnapshot } from '../../record/machines/eviction.ts';
import { eviction } from '../../record/machines/eviction.ts';
import type { NodeSnapshot } from '../../record/machines/node.ts';
import { node } from '../../record/machines/node.ts';
import { pods } from '../../record/machines/pods.ts';
import { supervisor } from '../../record/machines/supervisor.ts';
import { volumeManager } from '../../record/machines/volume-manager.ts';
import { NodeTrail } from './node-trail.ts';
import { PodTrail } from './pod-trail.ts';
import { SupervisedTrail } from './supervised-trail.ts';

/** What the journals say of some pods. */
export interface Trails {
  pods: Map<string, PodTrail>;
  supervised: SupervisedTrail;
  /** The node; nothing without its log. */
  node: NodeTrail;
  /** Why the node evicted them, by UID. */
  evicted: Map<string, EvictionEvidence>;
  /** The volumes that the main thread sets up; null without their log. */
  volumes: VolumeManagerState | null;
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
      if (glanceAt(line).sort !== 'spec' || !line.includes(text)) continue;
      const pod = podOfSpec(line);
      if (pod === null) continue;
      const { metadata, spec } = pod;
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
  readonly trails: Trails = {
    pods: new Map(),
    supervised: new SupervisedTrail(),
    node: new NodeTrail(),
    evicted: new Map(),
    volumes: null,
    newest: 0,
  };
  readonly #uids: ReadonlySet<string>;
  readonly #until: number;
  readonly #specs = new Map<string, Pod>();
  readonly #playback = new Playback({
    follows: (machine, key) =>
      machine === node ||
      machine === eviction ||
      machine === volumeManager ||
      (machine === pods && this.#uids.has(key)),
    outcomes: false,
  });
  #wanted: RegExp;
  #segmentAt = 0;
  /** Time of the supervisor's message under way; false when it is after the asked moment. */
  #supervisorAt: number | false = 0;

  constructor(uids: ReadonlySet<string>, until: number) {
    this.#uids = uids;
    this.#until = until;
    this.#wanted = wantedBy(uids, []);
  }

  take(line: string): void {
    const { sort, machine, at } = glanceAt(line);
    if (at > this.trails.newest && at <= this.#until) this.trails.newest = at;
    if (machine === supervisor && sort === 'msg') this.#supervisorAt = at <= this.#until ? at : false;
    const ofNode = machine === node || machine === eviction || machine === volumeManager;
    if (sort !== 'spec' && machine !== pods && machine !== supervisor && !ofNode) return;
    // Of the node all is of interest, of the others what names a pod.
    const known = ofNode || (machine === pods && sort === 'segment') || line.includes('"sourcesReady"');
    if (!known && !this.#wanted.test(line)) return;
    if (machine !== supervisor && (sort === 'step' || sort === 'fault')) return;
    try {
      this.#record(parseLine({ file: '', line: 0, text: line }));
    } catch {
      // What stands around a damaged line still explains.
    }
  }

  #record(record: JournalRecord): void {
    switch (record.t) {
      case 'segment':
        if (record.machine === pods) this.#segmentAt = record.at;
        if (record.machine === supervisor || (record.machine !== pods && record.at > this.#until)) break;
        this.#playback.begin(record);
        if (record.machine === volumeManager) this.#sawVolumes(this.#playback.stateOf(volumeManager, ''));
        if (record.machine === node) this.#sawNode(this.#playback.stateOf(node, ''), record.at);
        break;
      case 'spec':
        if (!this.#uids.has(record.pod.metadata?.uid ?? '')) break;
        this.#playback.begin(record);
        this.#specs.set(record.id, record.pod);
        this.#wanted = wantedBy(this.#uids, this.#specs.keys());
        break;
      case 'snap': {
        if (record.machine === supervisor) this.#supervisorSnap(record.row['t'] as Record<string, unknown>);
        const { key } = record;
        if (record.machine !== pods || !this.#uids.has(key) || this.#segmentAt > this.#until) break;
        this.#playback.begin(record);
        const state = this.#playback.stateOf(pods, key) as PodSnapshot | undefined;
        if (state !== undefined) this.#trail(key).restore(state, this.#segmentAt);
        break;
      }
      case 'msg':
        this.#message(record);
        break;
      case 'step':
        if (record.machine === supervisor && this.#supervisorAt !== false)
          this.#orders(record.outputs, this.#supervisorAt);
        break;
      default:
    }
  }

  #message(record: Extract<JournalRecord, { t: 'msg' }>): void {
    const { machine, key, raw } = record;
    if (raw.at > this.#until) return;
    if (machine === supervisor) {
      this.#supervisorMessage(raw as unknown as Record<string, unknown>, raw.at);
      return;
    }
    if (machine === pods && !this.#uids.has(key)) return;
    const step = this.#playback.message(record);
    if (step === null) return;
    if (machine === node) this.#sawNode(step.after, raw.at);
    else if (machine === volumeManager) this.#sawVolumes(step.after);
    else if (machine === eviction) this.#sawEviction(step as Played<EvictionSnapshot, unknown>, step.message);
    else this.#trail(key).saw(step.message as PodMessage, step as Played<PodSnapshot, unknown>);
  }

  #sawNode(state: unknown, at: number): void {
    if (state !== undefined) this.trails.node.saw((state as NodeSnapshot).context, at);
  }

  #sawVolumes(state: unknown): void {
    if (state !== undefined) this.trails.volumes = state as VolumeManagerState;
  }

  #sawEviction({ before, after }: Played<EvictionSnapshot, unknown>, message: unknown): void {
    for (const evidence of evidenceOf(before.context, after.context, message as EvictionMessage))
      this.trails.evicted.set(evidence.uid, evidence);
  }

  #trail(uid: string): PodTrail {
    const known = this.trails.pods.get(uid) ?? new PodTrail();
    this.trails.pods.set(uid, known);
    return known;
  }

  #supervisorSnap(tracked: Record<string, unknown>): void {
    const pod = this.#specs.get((tracked['pod'] as SpecReference).$spec);
    if (pod === undefined) return;
    const { supervised } = this.trails;
    supervised.named(pod, String(tracked['source']), '', this.#segmentAt);
    if (tracked['phase'] === 'aside') supervised.putAside(String(tracked['uid']), tracked['harm'] as AsideHarm);
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
    for (const order of orders as { type: string; uid: string; harm?: AsideHarm }[]) {
      if (!this.#uids.has(order.uid)) continue;
      if (order.type === 'start') this.trails.supervised.started(order.uid);
      if (order.type === 'aside' && order.harm !== undefined) this.trails.supervised.putAside(order.uid, order.harm);
      if (order.type === 'forget') this.trails.supervised.forgotten(order.uid, at);
    }
  }
}

/** A line may be about a pod only when it names its UID or one of its specs. */
function wantedBy(uids: Iterable<string>, specs: Iterable<string>): RegExp {
  const texts = [...uids, ...specs].map((text) => text.replace(/[^\w-]/g, '\\$&'));
  // eslint-disable-next-line no-restricted-syntax -- texts as they stand, without a quantifier
  return texts.length === 0 ? /(?!)/ : new RegExp(texts.join('|'));
}

function podOfSpec(text: string): Pod | null {
  try {
    const record = parseLine({ file: '', line: 0, text });
    return record.t === 'spec' ? record.pod : null;
  } catch {
    return null;
  }
}
