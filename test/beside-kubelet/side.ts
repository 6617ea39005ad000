import { setTimeout as sleep } from 'node:timers/promises';
import type { Event, Pod } from '../cluster/support/api-objects.ts';
import type { ControlPlane } from '../cluster/support/control-plane.ts';
import type { AgentKind } from '../cluster/support/node-config.ts';
import type { ContainerRecord, SandboxRecord } from '../../cri/sim/records.ts';
import type { SimScript } from '../../cri/sim/script.ts';
import type { Action } from './draw/actions.ts';
import type { DrawnPod } from './draw/pod.ts';
import { SimulatedNode } from './simulated-node.ts';

/** All that was seen of one agent's work. */
export interface Seen {
  /** Texts that differ between the sides by their nature, and what stands for them when both are compared. */
  names: [string, string][];
  /** By pod: the statuses that clients were shown, in their order. */
  statuses: Map<string, NonNullable<Pod['status']>[]>;
  events: Event[];
  sandboxes: SandboxRecord[];
  containers: ContainerRecord[];
  /** By pod: ms from its deletion to its end; one that did not go is missing. */
  goneMs: Map<string, number>;
}

/** One of the two: an agent, its node and its namespace. Both get the same pods, and the same happens to them. */
export class Side {
  readonly #plane: ControlPlane;
  readonly #node: SimulatedNode;
  readonly #name: string;
  readonly #statuses = new Map<string, NonNullable<Pod['status']>[]>();
  readonly #goneMs = new Map<string, number>();
  readonly #uids = new Map<string, string>();
  #unwatch: () => void = () => {};

  private constructor(plane: ControlPlane, node: SimulatedNode, name: string) {
    this.#plane = plane;
    this.#node = node;
    this.#name = name;
  }

  /** Starts the agent on a simulated runtime of its own, and makes its namespace with what drawn pods refer to. */
  static async start(plane: ControlPlane, agent: AgentKind, script: SimScript): Promise<Side> {
    const node = await SimulatedNode.start(plane, `node-${agent}`, agent, script);
    const side = new Side(plane, node, agent);
    try {
      await side.#furnish();
      return side;
    } catch (error) {
      await node.stop();
      throw error;
    }
  }

  get #namespace(): string {
    return `drawn-${this.#name}`;
  }

  #path(kind: string, name = ''): string {
    return `/api/v1/namespaces/${this.#namespace}/${kind}${name === '' ? '' : `/${name}`}`;
  }

  async #furnish(): Promise<void> {
    const { api } = this.#plane;
    const data = { plain: 'a setting', 'dotted.key': 'another' };
    await api.post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: this.#namespace } });
    await api.post(this.#path('configmaps'), {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'settings' },
      data,
    });
    await api.post(this.#path('secrets'), {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'hidden' },
      stringData: data,
    });
    while ((await api.find(this.#path('serviceaccounts', 'default'))) === undefined) await sleep(100);
    const { stop } = api.watch<Pod>(this.#path('pods'), ({ object }) => this.#saw(object));
    this.#unwatch = stop;
  }

  #saw({ metadata, status }: Pod): void {
    if (status === undefined) return;
    const name = metadata?.name ?? '';
    const seen = this.#statuses.get(name) ?? [];
    if (JSON.stringify(seen.at(-1)) !== JSON.stringify(status)) this.#statuses.set(name, [...seen, status]);
  }

  /** Creates a pod on this node; the API server's words when it refuses it. */
  async create(pod: DrawnPod): Promise<string | null> {
    const body = { ...pod, spec: { ...pod.spec, nodeName: this.#node.node.name } };
    try {
      const made = await this.#plane.api.post<Pod>(this.#path('pods'), body);
      this.#uids.set(pod.metadata.name, made.metadata?.uid ?? '');
      return null;
    } catch (error) {
      return String(error);
    }
  }

  /** Something happens to a pod; to one that has no such container or is over, nothing. */
  async act(name: string, action: Action): Promise<void> {
    const { api } = this.#plane;
    const { runtime } = this.#node;
    if (action.kind === 'patch') await api.patch(this.#path('pods', name), action.body, 'strategic-merge');
    else if (action.kind === 'delete') await api.delete(this.#path('pods', name), action.options);
    else if (action.kind === 'resize')
      await api.patch(`${this.#path('pods', name)}/resize`, action.body, 'strategic-merge');
    else if (action.kind === 'ephemeral')
      await api.patch(`${this.#path('pods', name)}/ephemeralcontainers`, action.body, 'strategic-merge');
    else if (action.kind === 'sandbox-dies') {
      for (const { id, metadata, state } of runtime.state.sandboxes.values())
        if (metadata.name === name && state === 0) runtime.exitSandbox(id);
    } else {
      for (const { id, sandbox, metadata, state } of runtime.state.containers.values())
        if (sandbox.metadata.name === name && metadata.name === action.container && state === 1)
          runtime.exitContainer(id, action.code);
    }
  }

  /** The agent is ended and starts again. */
  restart(): Promise<void> {
    return this.#node.node.restart();
  }

  /** Deletes the pods and waits until they are gone, `patienceMs` at most. One that went before took no time. */
  async end(patienceMs: number): Promise<void> {
    const { api } = this.#plane;
    const left = async () =>
      new Set((await api.list<Pod>(this.#path('pods'))).map(({ metadata }) => metadata?.name ?? ''));
    const began = performance.now();
    for (const name of await left()) await api.delete(this.#path('pods', name)).catch(() => undefined);
    for (let there = await left(); ; there = await left()) {
      const took = performance.now() - began;
      for (const name of this.#uids.keys())
        if (!there.has(name) && !this.#goneMs.has(name)) this.#goneMs.set(name, took);
      if (there.size === 0 || took > patienceMs) break;
      await sleep(100);
    }
    this.#unwatch();
  }

  /** What was seen of all of it. */
  async seen(): Promise<Seen> {
    const { node, sandboxes, containers } = this.#node;
    const ids = [
      ...[...sandboxes.keys()].map((id): [string, string] => [id, 'SANDBOX']),
      ...[...containers.values()].map(({ id, metadata }): [string, string] => [id, `CONTAINER(${metadata.name})`]),
      ...[...this.#uids].map(([name, uid]): [string, string] => [uid, `UID(${name})`]),
    ];
    const own: [string, string][] = [
      ...([
        [node.agentRoot, 'ROOT'],
        [node.dir, 'DIR'],
        [node.name, 'NODE'],
        [this.#namespace, 'NAMESPACE'],
        [node.address, 'ADDRESS'],
      ] as [string, string][]),
    ];
    return {
      names: [...ids, ...own],
      statuses: this.#statuses,
      events: await this.#plane.api.list<Event>(this.#path('events')),
      sandboxes: [...sandboxes.values()],
      containers: [...containers.values()],
      goneMs: this.#goneMs,
    };
  }

  /** What the agent logged. */
  logs(): Promise<string> {
    return this.#node.node.agentLogs();
  }

  stop(): Promise<void> {
    this.#unwatch();
    return this.#node.stop();
  }
}
