import type { FastifyReply, FastifyRequest } from 'fastify';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import { NODE_UID } from '../../../machines/node/node-context.ts';
import type { PodSnapshot } from '../../../machines/pod/pod-context.ts';
import { SocketGroup } from './accept-socket.ts';
import type { Inspector } from './inspector.ts';
import type { Lane } from './inspector-api.ts';
import type { PodEntry } from './pod-entry.ts';
import { visibleSteps } from './pod-entry.ts';
import type { RecordedStep } from './step-reader.ts';
import { recordedStep } from './step-reader.ts';
import type { StatelyEvent } from './stately-events.ts';
import {
  answeredChild,
  childActor,
  childActors,
  childSnapshot,
  laneActor,
  laneSession,
  messageEvent,
  nodeActor,
  nodeSnapshot,
  podActor,
  podSnapshot,
} from './stately-events.ts';
import { messageLane } from './step-words.ts';

const LANES: readonly Lane[] = ['sources', 'supervisor', 'pleg', 'timer', 'cri', 'host', 'network', 'images', 'api'];
/** A client that has so much before it is waited for, so long at most. */
const MAX_AHEAD_BYTES = 1 << 20;
const MAX_WAIT_MS = 15_000;
/** Who is so many steps of a pod behind gets its place as it is now instead. */
const MAX_LAG_STEPS = 5_000;

/** What a client wants to see. */
export interface StatelyWish {
  /** Only this pod: a UID, a name, or `namespace/name`. */
  pod?: string;
  /** So many of the last steps of each pod are told, too. */
  history: number;
}

/** What a client was told of a pod. */
interface Told {
  /** The next step to tell. */
  next: number;
  /** Marks of its children by their session. */
  children: Map<string, string>;
}

/** The inspector's events in the protocol of `@statelyai/inspect`, to each client from where it is: nothing is queued. */
export class StatelyFeed {
  private readonly group = new SocketGroup();
  private readonly inspector: Inspector;

  constructor(inspector: Inspector) {
    this.inspector = inspector;
  }

  /** Clients that listen. */
  get size(): number {
    return this.group.size;
  }

  accept(request: FastifyRequest, reply: FastifyReply, wish: StatelyWish): FastifyReply {
    return this.group.accept(request, reply, (socket) => {
      const client = new StatelyClient(socket, this.inspector, wish);
      const leave = this.inspector.onChange(() => client.pump());
      socket.once('close', leave);
      client.pump();
    });
  }

  close(): void {
    this.group.close();
  }
}

class StatelyClient {
  private readonly socket: WebSocket;
  private readonly inspector: Inspector;
  private readonly wish: StatelyWish;
  private readonly told = new Map<string, Told>();
  private lanesTold = false;
  /** All pods that were there when the client came have been told; those that come now are told from their birth. */
  private caughtUp = false;
  private pumping = false;
  private again = false;

  constructor(socket: WebSocket, inspector: Inspector, wish: StatelyWish) {
    this.socket = socket;
    this.inspector = inspector;
    this.wish = wish;
  }

  /** Tells what the client does not know yet; a call while it is at that makes it look once more. */
  pump(): void {
    this.again = true;
    if (this.pumping) return;
    this.pumping = true;
    void this.tellAll()
      .catch(() => this.socket.terminate())
      .finally(() => (this.pumping = false));
  }

  private async tellAll(): Promise<void> {
    while (this.again && this.open) {
      this.again = false;
      if (!this.lanesTold) for (const lane of LANES) await this.send(laneActor(lane, this.inspector.index.to));
      this.lanesTold = true;
      if (this.wish.pod === undefined || this.wish.pod === NODE_UID) await this.tellNode();
      for (const { uid, name, namespace } of this.inspector.pods()) {
        const { pod } = this.wish;
        const wanted = pod === undefined || pod === uid || pod === name || pod === `${namespace}/${name}`;
        if (wanted && this.open) await this.tellPod(uid);
      }
      this.caughtUp = true;
      for (const uid of this.told.keys()) if (this.inspector.entry(uid) === undefined) this.told.delete(uid);
    }
  }

  /** The node's steps are few: from its place of before the wished ones on. */
  private async tellNode(): Promise<void> {
    const { index } = this.inspector;
    const entry = index.entry(NODE_UID);
    if (entry === undefined) return;
    const total = visibleSteps(entry);
    let told = this.told.get(NODE_UID);
    if (told === undefined || total - told.next > MAX_LAG_STEPS) {
      const from = Math.max(entry.steps.first, total - this.wish.history - 1);
      const snapshot = await this.inspector.replay.nodeAfter(entry, Math.min(from, total - 1));
      if (snapshot === null) return;
      await this.send(nodeActor(entry.line.name, entry.steps.row(from)?.at ?? index.to, snapshot));
      told = { next: Math.min(total, from + 1), children: new Map() };
      this.told.set(NODE_UID, told);
    }
    for (; told.next < total && this.open; told.next++) {
      const row = entry.steps.row(told.next);
      const snapshot = await this.inspector.replay.nodeAfter(entry, told.next);
      const recorded = this.recorded(entry, told.next);
      if (row === undefined || snapshot === null || recorded === null) continue;
      const { message } = recorded;
      const step = { index: told.next, at: row.at };
      const sourceId = laneSession(messageLane(message, 'node'));
      await this.send(messageEvent(NODE_UID, { sessionId: NODE_UID, sourceId }, step, message));
      await this.send(nodeSnapshot(step, message, snapshot));
    }
  }

  private async tellPod(uid: string): Promise<void> {
    const entry = this.inspector.entry(uid);
    if (entry === undefined) return;
    const total = visibleSteps(entry);
    let told = this.told.get(uid);
    if (told !== undefined && told.next >= total) return;
    if (told === undefined || total - told.next > MAX_LAG_STEPS) {
      const born = told === undefined && this.caughtUp;
      // Of pods that had ended before it came a running agent's client hears only when it asks for them.
      const ended = told === undefined && !born && entry.line.gone;
      if (ended && this.inspector.source.mode === 'live' && this.wish.pod === undefined) return;
      told = await this.introduce(entry, total, born);
      if (told === undefined) return;
      this.told.set(uid, told);
    }
    for (; told.next < total && this.open; told.next++) await this.tellStep(entry, told, told.next);
  }

  private async introduce(entry: PodEntry, total: number, born: boolean): Promise<Told | undefined> {
    const { uid, namespace, name } = entry.line;
    const { replay } = this.inspector;
    const history = born ? MAX_LAG_STEPS - 1 : this.wish.history;
    const from = Math.max(entry.steps.first, total - history - 1);
    const snapshot = from < total ? await replay.podAfter(entry, from) : await replay.newestPod(entry);
    if (snapshot === null) return undefined;
    const at = entry.steps.row(from)?.at ?? this.inspector.index.to;
    await this.send(podActor(uid, `${namespace}/${name}`, at, snapshot));
    const told: Told = { next: born ? from : Math.min(total, from + 1), children: new Map() };
    await this.tellChildren(uid, told, { index: from, at }, { type: 'pod.start' }, snapshot);
    return told;
  }

  private async tellStep(entry: PodEntry, told: Told, index: number): Promise<void> {
    const row = entry.steps.row(index);
    const snapshot = row === undefined ? null : await this.inspector.replay.podAfter(entry, index);
    const recorded = row === undefined ? null : this.recorded(entry, index);
    if (row === undefined || snapshot === null || recorded === null) return;
    const { uid, source } = entry.line;
    const { message } = recorded;
    const step = { index, at: row.at };
    const sourceId = laneSession(messageLane(message, source));
    await this.send(messageEvent(uid, { sessionId: uid, sourceId }, step, message));
    await this.send(podSnapshot(uid, step, message, snapshot));
    const child = answeredChild(uid, message);
    if (child !== null && told.children.has(child))
      await this.send(messageEvent(uid, { sessionId: child, sourceId: uid }, step, message));
    await this.tellChildren(uid, told, step, message, snapshot);
  }

  private async tellChildren(
    uid: string,
    told: Told,
    step: { index: number; at: number },
    message: Record<string, unknown>,
    snapshot: PodSnapshot,
  ): Promise<void> {
    for (const child of childActors(uid, snapshot)) {
      const mark = told.children.get(child.sessionId);
      if (mark === undefined) await this.send(childActor(uid, child, step.at));
      else if (mark !== child.mark) await this.send(childSnapshot(uid, step, message, child));
      told.children.set(child.sessionId, child.mark);
    }
  }

  private recorded(entry: PodEntry, index: number): RecordedStep | null {
    const row = entry.steps.row(index);
    const reading = this.inspector.index.store.reading();
    try {
      return row === undefined ? null : recordedStep(reading, row);
    } finally {
      reading.close();
    }
  }

  private get open(): boolean {
    return this.socket.readyState === this.socket.OPEN;
  }

  private async send(event: StatelyEvent): Promise<void> {
    if (!this.open) return;
    this.socket.send(JSON.stringify(event));
    for (let waited = 0; this.open && this.socket.bufferedAmount > MAX_AHEAD_BYTES; waited += 20) {
      if (waited > MAX_WAIT_MS) {
        this.socket.terminate();
        return;
      }
      await sleep(20);
    }
  }
}
