import type { FastifyReply, FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import { SocketGroup } from './accept-socket.ts';
import type { Inspector } from './inspector.ts';
import type { LiveMessage } from './inspector-api.ts';

/** Least time between two batches. */
export const BATCH_MS = 250;
/** A client with so many bytes before it is too slow, and cut off; the page comes back and reads the list anew. */
const MAX_BEHIND_BYTES = 8 << 20;
/** Most pods of one message, so that it is parsed between two frames. */
const PODS_IN_MESSAGE = 500;

/** `/api/live`: what has changed, to every page that is open. */
export class LiveFeed {
  private readonly group = new SocketGroup();
  private readonly inspector: Inspector;
  private readonly leave: () => void;
  private changed = new Set<string>();
  private lost = new Set<string>();
  private nodeChanged = false;
  private machines = new Set<string>();
  private timer: NodeJS.Timeout | undefined;

  constructor(inspector: Inspector) {
    this.inspector = inspector;
    this.leave = inspector.onChange(({ pods, lost, node, machines }) => {
      if (this.group.size === 0) return;
      for (const { uid } of pods) this.changed.add(uid);
      for (const uid of lost) this.lost.add(uid);
      this.nodeChanged ||= node !== null;
      for (const { uid } of machines) this.machines.add(uid);
      this.timer ??= setTimeout(() => this.send(), BATCH_MS);
    });
  }

  /** Pages that listen. */
  get size(): number {
    return this.group.size;
  }

  accept(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    return this.group.accept(request, reply, () => undefined);
  }

  close(): void {
    clearTimeout(this.timer);
    this.leave();
    this.group.close();
  }

  private send(): void {
    this.timer = undefined;
    const { changed, lost } = this;
    this.changed = new Set();
    this.lost = new Set();
    const pods = [...changed].flatMap((uid) => this.inspector.entry(uid)?.line ?? []).filter((pod) => pod.name !== '');
    const messages: LiveMessage[] = [];
    for (let i = 0; i < pods.length; i += PODS_IN_MESSAGE)
      messages.push({ type: 'pods', pods: pods.slice(i, i + PODS_IN_MESSAGE) });
    for (const { uid, steps } of pods) messages.push({ type: 'steps', uid, total: steps });
    const node = this.nodeChanged ? this.inspector.node() : null;
    this.nodeChanged = false;
    if (node !== null) messages.push({ type: 'node', node }, { type: 'steps', uid: node.uid, total: node.steps });
    const machines = this.inspector.machines().filter(({ uid }) => this.machines.has(uid));
    this.machines = new Set();
    if (machines.length > 0) messages.push({ type: 'machines', machines });
    for (const { uid, steps } of machines) messages.push({ type: 'steps', uid, total: steps });
    if (lost.size > 0) messages.push({ type: 'lost', uids: [...lost] });
    const texts = messages.map((message) => JSON.stringify(message));
    for (const client of this.group.clients) sendAll(client, texts);
  }
}

function sendAll(client: WebSocket, texts: readonly string[]): void {
  if (client.bufferedAmount > MAX_BEHIND_BYTES) {
    client.terminate();
    return;
  }
  for (const text of texts) client.send(text);
}
