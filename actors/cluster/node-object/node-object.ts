import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { nodeMetadataHasChanged, nodePatch, nodeStatusHasChanged } from '../../../machines/node-object/node-patch.ts';
import type { Node, NodeEvent, NodeObjectConfig } from '../../../machines/node-object/node-types.ts';
import { schedulableEvent, setNodeStatus } from '../../../machines/node-object/set-node-status.ts';
import type { NodeFacts } from '../../../machines/node-object/set-node-status.ts';
import { ApiStatusError } from '../api/api-client.ts';
import { BackOff, problemOf } from './back-off.ts';
import { ensureCsiNode } from './csi-node.ts';
import { NodeFactsReader } from './node-facts-reader.ts';
import { NodeLease } from './node-lease.ts';
import { nodeObjectConfigOf } from './node-object-config.ts';
import type { NodeObjectOptions } from './node-object-options.ts';
import { callNode, registerNode } from './node-registration.ts';
import type { NodeCalls } from './node-registration.ts';
import { OwnNode } from './own-node.ts';
import { RuntimeFactsReader } from './runtime-facts.ts';

/** Status updates are spread by up to this share of their period. */
const JITTER = 0.04;
/** Pauses between tries to make the CSINode, ms: 30 ms, eight times longer each. */
const CSI_PAUSES_MS = [30, 240, 1_920, 15_360, 122_880];
const CGROUP_V1_WARNING =
  'cgroup v1 detected. cgroup v1 support is deprecated and will be removed in a future release. Please migrate to cgroup v2. More information at https://git.k8s.io/enhancements/keps/sig-node/5573-remove-cgroup-v1';

/**
 * The node's object in the API (E2, E5): registers it, keeps its status, lease and CSINode, and knows its latest
 * version. An object that is deleted by hand is not made anew before the next start, as with kubelet.
 */
export class NodeObject {
  private readonly options: NodeObjectOptions;
  private readonly log: Logger;
  private readonly now: () => number;
  private readonly config: NodeObjectConfig;
  private readonly facts: NodeFactsReader;
  private readonly runtime: RuntimeFactsReader;
  private readonly own: OwnNode;
  private readonly lease: NodeLease;
  private readonly ending = new AbortController();
  private readonly calls: NodeCalls;
  private readonly backOff = new BackOff();
  private readonly registration = Promise.withResolvers<undefined>();
  private registered = false;
  private timer: NodeJS.Timeout | undefined;
  private syncing: Promise<void> | undefined;
  private again = false;
  private waiting = false;
  private reportedAt = 0;
  private reportDelay = 0;
  private unschedulable = false;
  private runtimeRead = false;
  private reading = false;
  private podCIDRs = '';
  private missing = false;
  private failing = false;

  constructor(options: NodeObjectOptions) {
    const { settings, config, flags } = options;
    this.options = options;
    this.log = options.log;
    this.now = options.now ?? Date.now;
    this.config = nodeObjectConfigOf(settings.nodeName, config, flags);
    const given = { hostname: settings.nodeName, given: flags.nodeIPs };
    const externalCloudProvider = this.config.externalCloudProvider;
    this.facts = new NodeFactsReader(flags.rootDir, { ...given, externalCloudProvider }, options.log);
    this.runtime = new RuntimeFactsReader(options.cri, options.log, settings.runtimeName);
    // Heartbeats wait for nobody: no rate limit of other calls delays them.
    const api = options.api.limited(0, 0);
    const durationSeconds = config.nodeLeaseDurationSeconds;
    const timeoutMs = Math.min(config.nodeStatusUpdateFrequency, durationSeconds * 1000);
    this.calls = { api, signal: this.ending.signal, timeoutMs };
    this.own = new OwnNode({
      calls: this.calls,
      nodeName: settings.nodeName,
      log: options.log,
      onChange: (node) => this.seen(node),
    });
    this.lease = new NodeLease({
      api,
      nodeName: settings.nodeName,
      nodeUid: () => this.own.node?.metadata?.uid,
      durationSeconds,
      log: options.log,
      now: this.now,
    });
  }

  /** Begins to register, see `whenRegistered`. */
  start(): void {
    this.record({ type: 'Normal', reason: 'Starting', message: 'Starting kubelet.' });
    if (this.options.settings.cgroupVersion === 1) {
      this.record({ type: 'Warning', reason: 'CgroupV1', message: CGROUP_V1_WARNING });
    }
    if (this.options.config.registerNode) void this.register();
    else void this.look().then(() => this.own.start());
  }

  /** The latest version of the own object; null before it is known and after it is deleted. Not to be changed. */
  node(): Node | null {
    return this.own.node;
  }

  /** Resolves when the object is there; never when the agent stops before. */
  async whenRegistered(): Promise<void> {
    await this.registration.promise;
  }

  /** Runtime, network or PLEG changed: the status is patched at once. */
  changed(): void {
    if (this.ending.signal.aborted || !this.registered) return;
    this.readRuntimeAgain();
    if (this.syncing !== undefined) {
      this.again = true;
      return;
    }
    // Changes of one turn become one patch.
    if (this.waiting) return;
    this.waiting = true;
    setImmediate(() => {
      this.waiting = false;
      this.sync();
    });
  }

  /** Records an event about the node, e.g. `NodeAllocatableEnforced`. */
  record(event: NodeEvent): void {
    // kubelet's reference has no UID, since the object may not be there yet.
    const object = { apiVersion: 'v1', kind: 'Node', namespace: '', name: this.config.nodeName, uid: '' } as const;
    this.options.events.record({ object, at: this.now(), ...event });
  }

  /** Ends all calls; object and lease stay, so that a restart is no outage. */
  async stop(): Promise<void> {
    this.ending.abort();
    clearTimeout(this.timer);
    this.own.stop();
    await Promise.all([this.lease.stop(), this.syncing]);
  }

  /** A runtime that came back tells its version beside the status update: that one is not to wait for it. */
  private readRuntimeAgain(): void {
    if (!this.options.runtimeState().runtimeReady) {
      this.runtimeRead = false;
      return;
    }
    if (this.runtimeRead || this.reading) return;
    this.reading = true;
    void this.runtime.readRuntime().then((read) => {
      this.reading = false;
      this.runtimeRead = read;
      if (read) this.changed();
    });
  }

  private async register(): Promise<void> {
    const { signal } = this.ending;
    const backOff = new BackOff();
    while (!signal.aborted) {
      try {
        await this.look();
        const facts = this.known();
        this.options.startup?.attempted();
        const { node, created, events } = await registerNode(this.calls, this.config, facts, this.now(), this.log);
        this.log.info({ node: this.config.nodeName, created }, 'Successfully registered node');
        for (const event of events) this.record(event);
        this.reported();
        if (created) this.options.startup?.registered();
        this.took(node);
        this.own.start();
        this.begin(created);
        return;
      } catch (error) {
        if (signal.aborted) return;
        const retryMs = backOff.next();
        this.log.error({ problem: problemOf(error), retryMs }, 'Unable to register node with API server');
        await sleep(retryMs, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  /** The object is there for the first time: heartbeats begin. */
  private begin(created: boolean): void {
    if (this.registered) return;
    this.registered = true;
    this.registration.resolve(undefined);
    this.lease.start(created);
    void this.makeCsiNode(created);
    // Facts may have changed while the object was made, and with registerNode=false it has no status yet.
    this.changed();
  }

  private async makeCsiNode(fresh: boolean): Promise<void> {
    const { signal } = this.ending;
    for (const pause of [...CSI_PAUSES_MS, null]) {
      const uid = this.own.node?.metadata?.uid;
      try {
        if (uid !== undefined) {
          await ensureCsiNode(this.calls.api, { name: this.config.nodeName, uid }, fresh, signal);
          return;
        }
      } catch (error) {
        if (signal.aborted) return;
        this.log.warn({ problem: problemOf(error), retryMs: pause }, 'CSINode could not be made');
      }
      if (pause !== null) await sleep(pause, undefined, { signal }).catch(() => undefined);
    }
  }

  private seen(node: Node | null): void {
    if (node === null) return;
    this.missing = false;
    const unschedulable = node.spec?.unschedulable === true;
    const event = schedulableEvent(this.config.nodeName, this.unschedulable, unschedulable);
    this.unschedulable = unschedulable;
    if (event !== undefined) this.record(event);
    const cidrs = (node.spec?.podCIDRs ?? []).join(',');
    if (cidrs !== '' && cidrs !== this.podCIDRs) void this.tellPodCIDR(cidrs);
    if (!this.options.config.registerNode) this.begin(false);
    // The server answers again: what waits for the end of a pause may go.
    this.lease.hurry();
    if (this.failing) this.changed();
    // The node controller gave the node up, or somebody made the object anew: say at once that the node is there.
    const ready = node.status?.conditions?.find((condition) => condition.type === 'Ready');
    if (ready === undefined || ready.status === 'Unknown') this.changed();
  }

  private async tellPodCIDR(podCidr: string): Promise<void> {
    this.podCIDRs = podCidr;
    try {
      await this.options.cri.runtime.updateRuntimeConfig({ runtimeConfig: { networkConfig: { podCidr } } });
    } catch (error) {
      this.podCIDRs = '';
      this.log.error({ err: error, podCidr }, 'Error updating pod CIDR');
    }
  }

  private sync(): void {
    if (this.ending.signal.aborted || this.syncing !== undefined) return;
    clearTimeout(this.timer);
    const period = this.options.config.nodeStatusUpdateFrequency;
    this.syncing = this.update().then(
      () => {
        this.backOff.reset();
        this.failing = false;
        this.rest(period * (1 + Math.random() * JITTER));
      },
      (error: unknown) => {
        if (this.ending.signal.aborted) return;
        const retryMs = Math.min(this.backOff.next(), period);
        this.failing = true;
        this.log.error({ problem: problemOf(error), retryMs }, 'Error updating node status, will retry');
        this.rest(retryMs);
      },
    );
  }

  private rest(ms: number): void {
    this.syncing = undefined;
    if (this.ending.signal.aborted) return;
    this.timer = setTimeout(() => void this.look().then(() => this.sync()), ms);
    if (this.again) {
      this.again = false;
      this.changed();
    }
  }

  /** Patches what changed, or the heartbeats when the last report is too old. */
  private async update(): Promise<void> {
    const facts = this.known();
    const before = this.own.node;
    if (before === null) {
      if (!this.missing) this.log.error({ node: this.config.nodeName }, 'Error getting node: there is no such object');
      this.missing = true;
      return;
    }
    const now = this.now();
    const { node, events } = setNodeStatus(before, this.config, facts, now);
    const changed =
      nodeStatusHasChanged(before.status ?? {}, node.status ?? {}) || nodeMetadataHasChanged(before, node);
    // A report in the future is one of before the clock was set back.
    const age = now < this.reportedAt ? Infinity : now - this.reportedAt;
    const expired = age >= this.options.config.nodeStatusReportFrequency + this.reportDelay;
    if (!changed && !expired) return;
    const patch = nodePatch(before, node);
    if (patch !== undefined) await this.patch(patch);
    for (const event of events) this.record(event);
    // Reports without a change keep their spread; a change draws a new one (kubelet's calculateDelay).
    this.reported(changed);
  }

  private async patch(body: unknown): Promise<void> {
    const name = this.config.nodeName;
    try {
      this.took(await callNode(this.calls, { method: 'PATCH', name, subresource: 'status', body }));
    } catch (error) {
      // The patch may have been made from an old version: the next try begins with the newest.
      if (error instanceof ApiStatusError && error.status >= 400 && error.status < 500 && error.status !== 429) {
        await this.own.read();
      }
      throw error;
    }
  }

  /** What the API server has after a call of ours. */
  private took(node: Node): void {
    this.own.took(node);
    const ready = node.status?.conditions?.find((condition) => condition.type === 'Ready');
    if (ready?.status === 'True') this.options.startup?.becameReady();
  }

  private reported(changed = true): void {
    this.reportedAt = this.now();
    this.reportDelay = changed ? this.options.config.nodeStatusReportFrequency * (Math.random() - 0.5) : 0;
  }

  /** Looks at machine, addresses and runtime anew; takes two seconds at most and never rejects. */
  private async look(): Promise<void> {
    const now = this.now();
    await Promise.all([this.facts.read(now), this.lookAtRuntime(now)]);
  }

  private async lookAtRuntime(now: number): Promise<void> {
    if (!this.runtimeRead) this.runtimeRead = await this.runtime.readRuntime();
    if (this.runtimeRead) await this.runtime.readImages(now);
    // A runtime that comes back may be another version.
    if (!this.options.runtimeState().runtimeReady) this.runtimeRead = false;
  }

  private known(): NodeFacts {
    const { runtimeState, plegError, shutdownErrors, pressure, conditions } = this.options;
    return {
      machine: this.facts.machine,
      runtime: this.runtime.facts,
      addresses: this.facts.addresses,
      readiness: { runtime: runtimeState(), plegError: plegError(), shutdownErrors: shutdownErrors?.() ?? [] },
      pressure: pressure?.() ?? { memory: false, disk: false, pid: false },
      managed: conditions?.() ?? [],
    };
  }
}
