import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import type { About, LiveMessage, ResourcesMoment } from '../../../../actors/inspect/inspector/inspector-api.ts';
import { SECURITY_HEADERS } from '../../../../actors/inspect/inspector/inspector-guard.ts';
import type { PressureReport } from '../../../../machines/pressure/pressure-report.ts';
import { chartOf } from '../../../../machines/charts/chart-of.ts';
import { NODE_MACHINES } from '../../../../machines/charts/node-machines.ts';
import { fakeOverview } from './fake-overview.ts';
import type { GeneratedPod } from './generated-pods.ts';

/** Serves the page and the inspector's contract from generated pods, with the real one's security headers. */
export class FakeInspector {
  readonly pods = new Map<string, GeneratedPod>();
  /** The node itself, when there is a log of it. */
  node: GeneratedPod | null = null;
  /** What is told of pressure. */
  pressure: PressureReport | null = null;
  /** And of what is given away. */
  resources: ResourcesMoment | null = null;
  /** Other machines that there is one of, by UID. */
  readonly machines = new Map<string, GeneratedPod>();
  /** Paths that were asked for. */
  readonly asked: string[] = [];
  /** The newest moment; the page's clock, which draws on to now, does not get there. */
  end = Date.now() + 86_400_000;
  readonly #page: ReadonlyMap<string, Buffer>;
  readonly #server = createServer();
  readonly #sockets = new WebSocketServer({ noServer: true });
  #port = 0;

  constructor(page: ReadonlyMap<string, Buffer>, pods: readonly GeneratedPod[]) {
    this.#page = page;
    for (const pod of pods) this.pods.set(pod.line.uid, pod);
    this.#server.on('request', (request, response) => {
      const url = new URL(request.url ?? '/', 'http://localhost');
      this.asked.push(`${url.pathname}${url.search}`);
      const file = this.#page.get(url.pathname === '/' ? 'index.html' : url.pathname.slice(1));
      const found = file === undefined ? this.#answer(url) : undefined;
      const type = url.pathname.endsWith('.js')
        ? 'text/javascript'
        : url.pathname.endsWith('.css')
          ? 'text/css'
          : file === undefined
            ? 'application/json'
            : 'text/html; charset=utf-8';
      const status = file !== undefined || found !== undefined ? 200 : 404;
      response.writeHead(status, { ...SECURITY_HEADERS, 'content-type': type });
      response.end(file ?? JSON.stringify(found ?? { error: 'there is no such thing' }));
    });
    this.#server.on('upgrade', (request, socket, head) => {
      this.#sockets.handleUpgrade(request, socket, head, () => undefined);
    });
  }

  /** Listens on a free port, or again on the one that it had. */
  async start(): Promise<string> {
    await new Promise<void>((done) => this.#server.listen(this.#port, '127.0.0.1', done));
    this.#port = (this.#server.address() as AddressInfo).port;
    return `http://127.0.0.1:${String(this.#port)}/`;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets.clients) socket.terminate();
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  /** Pages that listen now. */
  get listeners(): number {
    return this.#sockets.clients.size;
  }

  tell(message: LiveMessage): void {
    for (const socket of this.#sockets.clients as Set<WebSocket>) socket.send(JSON.stringify(message));
  }

  /** Puts another pod in the place of one with the same uid, and tells of it as the real one does. */
  replace(pod: GeneratedPod): void {
    this.pods.set(pod.line.uid, pod);
    this.tell({ type: 'pods', pods: [pod.line] });
    this.tell({ type: 'steps', uid: pod.line.uid, total: pod.line.steps });
  }

  #answer(url: URL): unknown {
    const [, api, what, uid, steps, index] = url.pathname.split('/');
    if (api !== 'api') return undefined;
    if (what === 'about') return about();
    if (what === 'node') return { node: this.node?.line ?? null };
    if (what === 'machines') return [...this.machines.values()].map(({ line }) => line);
    if (what === 'overview') {
      const at = url.searchParams.get('at');
      const moment = at === null ? null : Number(at);
      const machines = [...this.machines.values()];
      const { pressure, resources } = this;
      return fakeOverview([...this.pods.values()], this.node, this.end, moment, machines, pressure, resources);
    }
    if (what !== 'pods') return undefined;
    if (uid === undefined) return [...this.pods.values()].map((pod) => pod.line);
    const named = decodeURIComponent(uid);
    const pod = named === this.node?.line.uid ? this.node : (this.machines.get(named) ?? this.pods.get(named));
    if (pod === undefined) return undefined;
    const total = pod.line.steps;
    if (steps === 'explain') return explain(pod, Number(url.searchParams.get('index')));
    if (index !== undefined) return Number(index) < total ? pod.detail(Number(index)) : undefined;
    const from = Number(url.searchParams.get('from') ?? 0);
    const end = Math.min(total, from + Math.min(2000, Number(url.searchParams.get('limit') ?? 2000)));
    const lines = [];
    for (let i = from; i < end; i++) lines.push(pod.step(i));
    return { uid, total, first: 0, steps: lines };
  }
}

function about(): About {
  return {
    mode: 'live',
    nodeName: 'node-a',
    version: '0.1.0',
    from: Date.parse('2026-03-01T09:00:00Z'),
    to: Date.now(),
    charts: Object.values(NODE_MACHINES).map((machine) => chartOf(machine)),
    damages: [],
  };
}

function explain({ line, step }: GeneratedPod, index: number): unknown {
  const { at, after, summary } = step(index);
  return {
    pod: { namespace: line.namespace, name: line.name, uid: line.uid },
    state: after,
    since: at,
    sinceAtLeast: false,
    now: at,
    gone: false,
    summary: `in ${after} after ${summary}`,
    causes: [
      { at, kind: 'container', text: summary },
      { at: line.startedAt, kind: 'source', text: 'the spec came from the API server' },
    ],
  };
}
