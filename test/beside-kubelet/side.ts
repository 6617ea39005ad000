import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Event, Node, Pod } from '../cluster/support/api-objects.ts';
import type { ControlPlane } from '../cluster/support/control-plane.ts';
import type { AgentKind } from '../cluster/support/node-config.ts';
import type { ContainerRecord, SandboxRecord } from '../../cri/sim/records.ts';
import type { SimScript } from '../../cri/sim/script.ts';
import type { Action } from './draw/actions.ts';
import type { DrawnPod } from './draw/pod.ts';
import { PROBED_PORT, PROBED_TLS_PORT } from './draw/probes.ts';
import { furnish } from './furniture.ts';
import { knownName, NODE, ownName } from './pod-names.ts';
import { readPodFolder } from './pod-folder.ts';
import type { PodFolder } from './pod-folder.ts';
import { ProbedServer } from './probed-server.ts';
import { SideDevices } from './side-devices.ts';
import { SimulatedNode } from './simulated-node.ts';

/** All that was seen of one agent's work. */
export interface Seen {
  nodeName: string;
  /** Texts that differ between the sides by their nature, and what stands for them when both are compared. */
  names: [string, string][];
  /** By pod: the statuses that clients were shown, in their order. */
  statuses: Map<string, NonNullable<Pod['status']>[]>;
  events: Event[];
  sandboxes: SandboxRecord[];
  containers: ContainerRecord[];
  /** By pod: ms from its deletion to its end; one that did not go is missing. */
  goneMs: Map<string, number>;
  /** The node object, and the folders of pods that ran then, at the last look. */
  node: Node | undefined;
  folders: Map<string, PodFolder>;
  /** By path: the kinds of requests that network probes and hooks came with. */
  asked: ReadonlyMap<string, ReadonlySet<string>>;
}

/** One of the two: an agent, its node and its namespace. Both get the same pods, and the same happens to them. */
export class Side {
  readonly #plane: ControlPlane;
  readonly #node: SimulatedNode;
  readonly #name: string;
  readonly #statuses = new Map<string, NonNullable<Pod['status']>[]>();
  readonly #goneMs = new Map<string, number>();
  /** Pods by UID: a static pod whose manifest changed has had several. */
  readonly #uids = new Map<string, string>();
  readonly #folders = new Map<string, PodFolder>();
  #object: Node | undefined;
  readonly #probed: ProbedServer;
  readonly #devices: SideDevices;
  #unwatch: () => void = () => {};

  private constructor(plane: ControlPlane, node: SimulatedNode, probed: ProbedServer, name: string) {
    this.#plane = plane;
    this.#node = node;
    this.#probed = probed;
    this.#name = name;
    this.#devices = new SideDevices(plane.api, this.#namespace, node.node.agentRoot);
  }

  /** Starts the agent on a simulated runtime of its own, and makes its namespace with what drawn pods refer to. */
  static async start(plane: ControlPlane, agent: AgentKind, script: SimScript): Promise<Side> {
    const node = await SimulatedNode.start(plane, `node-${agent}`, agent, script);
    let side: Side | undefined;
    try {
      const probed = await ProbedServer.start(await plane.pki.issue('probed', 'probed', 'probed'));
      side = new Side(plane, node, probed, agent);
      await side.#begin();
      return side;
    } catch (error) {
      await (side ?? node).stop();
      throw error;
    }
  }

  get #namespace(): string {
    return `drawn-${this.#name}`;
  }

  #path(kind: string, name = ''): string {
    return `/api/v1/namespaces/${this.#namespace}/${kind}${name === '' ? '' : `/${name}`}`;
  }

  async #begin(): Promise<void> {
    const { node } = this.#node;
    const { api } = this.#plane;
    await furnish(api, { namespace: this.#namespace, node: node.name, dir: node.dir });
    const { stop } = api.watch<Pod>(this.#path('pods'), ({ object }) => this.#saw(object));
    this.#unwatch = stop;
    await this.#devices.start(async () => (await node.object())?.status?.capacity ?? {});
  }

  #saw({ metadata, status }: Pod): void {
    if (status === undefined) return;
    const name = this.#known(metadata?.name ?? '');
    const hash = metadata?.annotations?.['kubernetes.io/config.hash'];
    // An agent knows a static pod by this, not by its mirror's UID.
    if (hash !== undefined) this.#uids.set(hash, name);
    const seen = this.#statuses.get(name) ?? [];
    if (JSON.stringify(seen.at(-1)) !== JSON.stringify(status)) this.#statuses.set(name, [...seen, status]);
  }

  #known(name: string): string {
    return knownName(name, this.#node.node.name);
  }

  #own(known: string): string {
    return ownName(known, this.#node.node.name);
  }

  /** A drawn pod as it is on this side. */
  #here(pod: DrawnPod, more: object): DrawnPod {
    const { port, tlsPort } = this.#probed;
    const text = JSON.stringify({ ...pod, spec: { ...pod.spec, ...more } })
      .replaceAll(`"${PROBED_PORT}"`, String(port))
      .replaceAll(`"${PROBED_TLS_PORT}"`, String(tlsPort));
    return JSON.parse(text) as DrawnPod;
  }

  /** Creates a pod on this node; the API server's words when it refuses it. */
  async create(pod: DrawnPod): Promise<string | null> {
    try {
      const body = this.#here(pod, { nodeName: this.#node.node.name });
      const made = await this.#plane.api.post<Pod>(this.#path('pods'), body);
      this.#uids.set(made.metadata?.uid ?? '', pod.metadata.name);
      return null;
    } catch (error) {
      return String(error);
    }
  }

  /** Device plugins and drivers are started anew. */
  renewDevices(): Promise<void> {
    return this.#devices.renew(1_000);
  }

  /** Puts the manifest of a static pod in place. */
  async put(pod: DrawnPod): Promise<void> {
    const { metadata, ...rest } = this.#here(pod, {});
    const manifest = { ...rest, metadata: { ...metadata, namespace: this.#namespace } };
    await this.#node.node.writeManifest(`${metadata.name}.json`, manifest);
  }

  async #putAgain(pod: DrawnPod, afterMs: number): Promise<void> {
    await this.#node.node.removeManifest(`${pod.metadata.name}.json`);
    await sleep(afterMs);
    await this.put(pod);
  }

  /** Something happens to a pod; to one that has no such container or is over, nothing. */
  async act(known: string, action: Action): Promise<void> {
    const { api } = this.#plane;
    const name = this.#own(known);
    const { runtime } = this.#node;
    if (action.kind === 'patch') await api.patch(this.#path('pods', name), action.body, 'strategic-merge');
    else if (action.kind === 'manifest') await this.put(action.pod);
    else if (action.kind === 'away') await this.#putAgain(action.pod, action.ms);
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

  /** The runtime refuses all calls for so long, and then its network is not ready for as long. */
  async outage(ms: number): Promise<void> {
    const { runtime } = this.#node;
    runtime.fail({ fail: { code: 'Unavailable', message: 'the runtime is being updated' } });
    await sleep(ms);
    runtime.clearFailures();
    runtime.setReady('NetworkReady', { reason: 'NetworkPluginNotReady', message: 'cni plugin not initialized' });
    await sleep(ms);
    runtime.setReady('NetworkReady', undefined);
  }

  /** The agent is ended and starts again. */
  restart(): Promise<void> {
    return this.#node.node.restart();
  }

  /** Keeps what the node object tells, and what is on the disk for pods that run. */
  async look(): Promise<void> {
    const { node } = this.#node;
    this.#object = await node.object();
    for (const [uid, name] of this.#uids)
      if (this.#statuses.get(name)?.at(-1)?.phase === 'Running')
        this.#folders.set(name, await readPodFolder(join(node.agentRoot, 'pods', uid)));
  }

  /** Deletes the pods and waits until they are gone, `patienceMs` at most. One that went before took no time. */
  async end(patienceMs: number): Promise<void> {
    const { api } = this.#plane;
    const left = async () =>
      new Set((await api.list<Pod>(this.#path('pods'))).map(({ metadata }) => this.#known(metadata?.name ?? '')));
    const began = performance.now();
    await this.#node.removeManifests();
    for (const name of await left()) await api.delete(this.#path('pods', this.#own(name))).catch(() => undefined);
    for (let there = await left(); ; there = await left()) {
      const took = performance.now() - began;
      for (const name of this.#uids.values())
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
      ...[...this.#uids].map(([uid, name]): [string, string] => [uid, `UID(${name})`]),
    ];
    const own: [string, string][] = [
      ...([
        [node.agentRoot, 'ROOT'],
        [node.dir, 'DIR'],
        [node.name, NODE],
        [this.#namespace, 'NAMESPACE'],
        [node.address, 'ADDRESS'],
      ] as [string, string][]),
    ];
    return {
      nodeName: node.name,
      names: [...ids, ...own, ...this.#devices.names],
      statuses: this.#statuses,
      events: await this.#plane.api.list<Event>(this.#path('events')),
      sandboxes: [...sandboxes.values()],
      containers: [...containers.values()],
      goneMs: this.#goneMs,
      node: this.#object,
      folders: this.#folders,
      asked: this.#probed.asked,
    };
  }

  /** What the agent logged. */
  logs(): Promise<string> {
    return this.#node.node.agentLogs();
  }

  async stop(): Promise<void> {
    this.#unwatch();
    this.#devices.stop();
    await this.#node.stop();
    await this.#probed.stop();
  }
}
