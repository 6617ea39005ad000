import type { ResourceState } from '../../../machines/resource-managers/admit-resources.ts';
import { appendFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { resolveFeatureGates } from '../../../actors/configure/configuration/feature-gates.ts';
import { loadConfiguration } from '../../../actors/configure/configuration/load-configuration.ts';
import { OrphanRounds } from '../../../actors/host/housekeeping/orphans.ts';
import { lookEach } from '../../../actors/host/time/clock.ts';
import type { Clock } from '../../../actors/host/time/clock.ts';
import { buildNode } from '../../../actors/node/build-node.ts';
import type { NodeParts } from '../../../actors/node/build-node.ts';
import { Cluster } from '../../../actors/node/cluster.ts';
import type { HostLinks, NodeEdges } from '../../../actors/node/edges.ts';
import { pressureOf } from '../../../actors/node/managers.ts';
import { Lifecycle } from '../../../actors/node/lifecycle.ts';
import type { Part } from '../../../actors/node/lifecycle.ts';
import type { NodeGround } from '../../../actors/node/node-ground.ts';
import type { FromShard } from '../../../actors/pods/shard/shard-protocol.ts';
import { parseManifest } from '../../../actors/pods/sources/parse-manifest.ts';
import type { PodStore } from '../../../actors/pods/store/pod-store.ts';
import type { DiskSize } from '../../../actors/runtime/images/image-node.ts';
import type { Metrics } from '../../../actors/record/metrics/metrics-registry.ts';
import type { VolumeManager } from '../../../actors/resources/volumes/volume-manager.ts';
import { draw } from '../../../cri/sim/prng.ts';
import type { Remains } from '../../../machines/housekeeping/orphans-machine.ts';
import type { NodePressure } from '../../../machines/node-object/node-types.ts';
import type { Effect } from '../../../machines/protocol/effects.ts';
import type { DeviceState } from '../../../machines/devices/device-state.ts';
import type { NodeSettings } from '../../../machines/protocol/node-settings.ts';
import type { ObservedPod } from '../../../machines/protocol/observed.ts';
import { trackedPod } from '../../../machines/supervisor/pod-table.ts';
import type { Plan } from '../draw/plan.ts';
import { withClaims } from './claims-api.ts';
import { SimulatedNodeEnd, simulatedObjects } from './cluster-end.ts';
import type { Edges } from './edges.ts';
import { SHUTDOWN_CONFIG } from './logind-edge.ts';
import { FILES_SETTLE_MS, keptContainers, NODE_NAME, resourceRules, STATIC_ORIGIN } from './node-settings.ts';
import { SimulatedShards } from './simulated-shards.ts';
import { evictionConfig } from './node-sizes.ts';
import type { Owner } from './virtual-time.ts';

/** Labels that the policy of the simulated machine has for containers. */
const LABELS = { process: 'system_u:system_r:container_t:s0', file: 'system_u:object_r:container_file_t:s0' };

/** What one life of the agent is made from. */
export interface AgentOptions {
  /** This life of it. */
  owner: Owner;
  edges: Edges;
  plan: Plan;
  settings: NodeSettings;
  journalDir: string;
  /** Where the agent keeps its checkpoints. */
  stateDir: string;
  log: Logger;
  metrics: Metrics;
  mortal: (effect: Effect) => 'before' | 'after' | null;
  /** The agent has died of itself. */
  died: () => void;
  /** Something that must never happen, seen by the agent itself. */
  complain: (problem: string) => void;
}

/** Time between two rounds of housekeeping, ms (kubelet housekeepingPeriod). */
const HOUSEKEEPING_MS = 2_000;
/** After which an image that nobody uses goes, ms: less than most runs last. */
const MAX_IMAGE_AGE_MS = 3_000_000;
/** Size of the file system of the images. */
const DISK_BYTES = 2 ** 30;
const { config: DEFAULTS } = loadConfiguration({ flags: [], cgroupVersion: 2 });

/**
 * One life of the agent: the node as `actors/node/build-node.ts` makes it, over the world's edges. What those leave out:
 * servers, events to the API, objects and tokens.
 */
export class Agent {
  readonly owner: Owner;
  private readonly options: AgentOptions;
  private readonly parts: NodeParts;
  private readonly life: Lifecycle;
  private readonly clock: Clock;
  /** Made while the parts are. */
  private shards!: SimulatedShards;
  private orphans!: OrphanRounds;
  private started = false;

  constructor(options: AgentOptions) {
    this.options = options;
    this.owner = options.owner;
    const { time } = options.edges;
    this.clock = {
      now: () => time.wall(),
      steady: () => time.now,
      looking: () => time.now - time.jumped,
      lookAfter: (ms, look) => {
        const entry = time.after(ms, this.owner, look, true);
        return { cancel: () => time.cancel(entry) };
      },
    };
    this.life = new Lifecycle(options.log);
    this.parts = buildNode(this.ground(), this.edges(), this.life);
  }

  /** Who has which CPUs and memory, as it knows; null where none is given away. */
  get resources(): ResourceState | null {
    return this.parts.admission.resources.state;
  }

  /** It tells of pressure of any kind. */
  get isPressed(): boolean {
    const { memory, disk, pid } = this.pressure;
    return memory || disk || pid;
  }

  /** What it tells that the node is short of. */
  get pressure(): NodePressure {
    return pressureOf(this.parts.managers);
  }

  /** UIDs of the pods whose requests count. */
  get counted(): string[] {
    return this.parts.admission.active();
  }

  /** Who has which devices, as it knows; null where there are no plugins. */
  get devices(): DeviceState | null {
    return this.parts.devices?.state ?? null;
  }

  /** The pod has an actor, or waits for its name. */
  tracks(uid: string): boolean {
    return this.parts.supervisor.tracks(uid);
  }

  /** What workers ask of its volumes. */
  get volumes(): VolumeManager {
    return this.parts.volumes;
  }

  get store(): PodStore {
    return this.parts.store;
  }

  /** Starts as the real node does; the first steps take some virtual time. */
  start(): void {
    const { edges, complain } = this.options;
    edges.tell({ f: 'agent', change: 'started' });
    edges.time.as(this.owner, false, () => {
      void this.life.start().then(
        () => {
          this.started = true;
          this.takeFiles();
        },
        (error: unknown) => complain(`the agent did not start: ${String(error)}`),
      );
    });
  }

  /** When the next regular sync of a pod is due, ms since the start of the simulation: jumps must not leave it out. */
  nextDue(): number {
    return this.parts.resync.nextDue();
  }

  /** Static pods' files have changed. */
  readFiles(): void {
    this.options.edges.time.after(FILES_SETTLE_MS, this.owner, () => this.takeFiles(), false);
  }

  /** Objects that volumes of this pod show have changed. */
  refresh(uid: string): void {
    this.parts.supervisor.tell(uid, { type: 'pod.refresh', at: this.clock.now() });
  }

  /** It is told to end, and says so; to be killed right after, as its workers end when it does. */
  tellEnd(): void {
    if (this.owner.alive) this.parts.nodeState.stop();
  }

  /** `kill -9`. Its journal stays as it is; `torn`: half a line stands at its end. */
  kill(torn: boolean): void {
    const { edges, journalDir } = this.options;
    if (!this.owner.alive) return;
    this.owner.alive = false;
    this.shards.killAll();
    this.parts.supervisor.close();
    this.parts.nodeState.close();
    this.parts.puller.close();
    edges.logind.hangUp(this.owner);
    for (const manager of this.parts.managers) void manager.stop?.();
    this.parts.volumes.stop();
    edges.storage?.hangUp(this.owner);
    this.parts.admission.close();
    void this.parts.devices?.stop();
    void this.parts.claims?.stop();
    this.orphans.close();
    this.parts.cluster?.close();
    edges.runtime.hangUp(this.owner);
    edges.api.hangUp(this.owner);
    edges.tell({ f: 'agent', change: 'crashed' });
    if (!torn) return;
    const last = readdirSync(journalDir)
      .filter((name) => name.startsWith('shard-00-'))
      .sort()
      .at(-1);
    if (last !== undefined) appendFileSync(join(journalDir, last), '{"r":"step","n":9');
  }

  /** A worker thread dies; main notices and starts another. */
  killWorker(shard: number): void {
    if (this.owner.alive) this.shards.kill(shard);
  }

  private ground(): NodeGround {
    const { plan, settings, journalDir, stateDir, log, metrics } = this.options;
    const { node } = plan;
    const bytes = 2 ** 30;
    return {
      config: {
        ...DEFAULTS,
        serializeImagePulls: node.serializePulls,
        registryPullQPS: 0,
        syncFrequency: node.syncFrequencyMs,
        imageMaximumGCAge: MAX_IMAGE_AGE_MS,
        ...evictionConfig(node),
        ...SHUTDOWN_CONFIG,
      },
      featureGates: resolveFeatureGates({ EventedPLEG: node.evented }).gates,
      rootDir: stateDir,
      journals: {
        ...{ dir: journalDir, node: bytes, supervisor: bytes, pulls: bytes, manager: bytes, shard: bytes },
        ...{ admission: bytes, status: bytes, nodeObject: bytes },
      },
      containerGc: keptContainers(plan.seed),
      otherSources: node.standalone === true ? ['file'] : ['file', 'api'],
      ...(node.managers === true && { resources: resourceRules() }),
      ...(node.waitForPluginsMs !== undefined && { waitForPluginsMs: node.waitForPluginsMs }),
      ...{ settings, shards: node.shards, agent: 'simulated', log, metrics },
    };
  }

  private edges(): NodeEdges {
    const { clock, owner } = this;
    const { edges, plan, settings, journalDir, log, metrics, mortal, died } = this.options;
    const { time } = edges;
    const client = edges.api.client(owner);
    const api = plan.node.plugins === true ? withClaims(client, edges) : client;
    return {
      clock,
      cri: edges.runtime.client(owner),
      shards: ({ onMessage, onReplaced }) => {
        this.shards = new SimulatedShards({
          ...{ owner, edges, shards: plan.node.shards, settings, journalDir, log, mortal, died, onReplaced },
          onMessage: (shard, message) => {
            this.witness(message);
            onMessage(shard, message);
          },
        });
        return this.shards;
      },
      images: () => ({ records: null, disk: () => Promise.resolve(imageDisk(plan.seed, time.now)) }),
      userNamespaces: { get: () => Promise.reject(new Error('not simulated')), release: () => undefined },
      ...this.pluginEdges(),
      volumes: (links) => edges.storage?.plugins(owner, clock, log, links) ?? [],
      labelRules:
        plan.node.labels === undefined
          ? undefined
          : { labels: LABELS, allModes: plan.node.labels === 'all', changePolicy: true },
      cluster:
        plan.node.standalone === true
          ? null
          : {
              connect: ({
                onPods,
                lifeOf,
                journalOf,
                runtimeState,
                plegError,
                conditions,
                shutdownErrors,
                volumesInUse,
              }) =>
                new Cluster({
                  ...{ api, limited: api, nodeName: NODE_NAME, log, metrics, clock, onPods, lifeOf },
                  node: new SimulatedNodeEnd({
                    ...{ api, nodes: edges.nodes, time, owner, settings, log },
                    // It costs time, and the moments at which regular looks come: others have none of it.
                    kept: plan.seed % 4 === 0,
                    volumesInUse: edges.storage === null ? null : volumesInUse,
                    links: {
                      ...{ runtimeState, plegError, conditions, shutdownErrors },
                      ...{ journal: journalOf('nodeObject'), clock },
                    },
                  }),
                  objects: edges.storage?.objectsOf(api, simulatedObjects) ?? simulatedObjects,
                  journal: journalOf('status'),
                }),
            },
      usage: () => edges.usage,
      logind: edges.logind.client(owner),
      host: (links) => [this.housekeeping(links)],
      podLogs: edges.host.podLogs(),
      seen: (observed, take) => this.looked(observed, take),
      pages: () => [],
    };
  }

  private pluginEdges(): Pick<NodeEdges, 'devices' | 'claims'> {
    const { owner } = this;
    const { plan, edges } = this.options;
    if (plan.node.plugins !== true) return { devices: null, claims: null };
    const { plugins } = edges;
    return {
      devices: { plugins: (hears) => plugins.devices(owner, hears), checkpoint: plugins.deviceCheckpoint(owner) },
      claims: { drivers: (hears) => plugins.drivers(owner, hears), checkpoint: plugins.claimCheckpoint(owner) },
    };
  }

  private takeFiles(): void {
    if (!this.started) return;
    const pods = this.options.edges.files().flatMap((text) => {
      const { pods: parsed, errors } = parseManifest(text, STATIC_ORIGIN);
      for (const error of errors) this.options.complain(`a manifest of the workload is wrong: ${error.message}`);
      return parsed;
    });
    this.parts.sources.setPods('file', pods);
  }

  private housekeeping({ alive, ready, journal }: HostLinks): Part {
    const { host, time } = this.options.edges;
    const orphans = (this.orphans = new OrphanRounds({ clock: this.clock, alive, ...(journal && { journal }) }));
    const remove = async (what: Remains, owners: Iterable<string>) =>
      orphans.round(what, new Set(owners), async (uid) => {
        await host.remove(what, uid);
        return null;
      });
    const round = (): void => {
      if (!ready() || !host.holdsOthersThan(alive)) return;
      time.busy();
      void remove('cgroup', host.cgroups.values());
      void remove('folder', host.pods.keys());
    };
    return { name: 'housekeeping', phase: 'work', start: () => void lookEach(this.clock, HOUSEKEEPING_MS, round) };
  }

  /** What PLEG saw is told; it can come late, twice or after what it saw later. */
  private looked(observed: ObservedPod, take: (observed: ObservedPod) => void): void {
    const { time, faults, random } = this.options.edges;
    time.busy();
    const fault = faults.strikes('looks');
    if (fault === undefined || fault.how === 'twice') take(observed);
    if (fault === undefined) return;
    const ms = random.between(100, fault.how === 'late' ? 8_000 : 3_000);
    time.after(ms, this.owner, () => take(observed), false);
  }

  /** Tells the rules what a worker said. */
  private witness(message: FromShard): void {
    const { edges, complain } = this.options;
    if (message.t === 'fault') complain(`a machine threw: ${message.message}`);
    if (message.t === 'finished') edges.tell({ f: 'finished', uid: message.uid });
    if (message.t !== 'report') return;
    const { report } = message;
    const tracked = trackedPod(this.parts.supervisor.context.pods, report.uid);
    if (tracked === undefined) return;
    const { uid, pod, source } = tracked;
    edges.tell({ f: 'report', uid, report, pod, source });
  }
}

/** The file system of the images at a moment: mostly there is room, sometimes it is too full, rarely it says nothing sensible. */
function imageDisk(seed: number, at: number): DiskSize {
  const fate = draw(seed, 'image disk', Math.round(at));
  return { capacityBytes: fate < 0.05 ? 0 : DISK_BYTES, availableBytes: fate < 0.6 ? 0 : DISK_BYTES / 2 };
}
