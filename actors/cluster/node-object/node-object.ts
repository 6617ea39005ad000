import type { Logger } from 'pino';
import { ActorletError } from '../../../machines/errors/define.ts';
import { nodeObjectErrors } from '../../../machines/errors/node-object-errors.ts';
import { compareNode } from '../../../machines/node-object/compare-node.ts';
import type { ComparedNode } from '../../../machines/node-object/compare-node.ts';
import { readinessErrors } from '../../../machines/node-object/ready-message.ts';
import type { Node, NodeEvent, NodeObjectConfig } from '../../../machines/node-object/node-types.ts';
import { changesNothing, isQuiet, newObjectState } from '../../../machines/node-object/object-machine.ts';
import type { ObjectState } from '../../../machines/node-object/object-machine.ts';
import type { ObjectMessage, ObjectOrder } from '../../../machines/node-object/object-messages.ts';
import { schedulableEvent } from '../../../machines/node-object/set-node-status.ts';
import type { NodeFacts } from '../../../machines/node-object/set-node-status.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { spanClock } from '../../host/time/span-clock.ts';
import { SingleMachine } from '../../record/host/single-machine.ts';
import { nodeObject } from '../../record/machines/node-object.ts';
import { ApiStatusError } from '../api/api-client.ts';
import { ensureCsiNode } from './csi-node.ts';
import { NodeFactsReader } from './node-facts-reader.ts';
import type { NodeFactsSource } from './node-facts-reader.ts';
import { NodeLease } from './node-lease.ts';
import { nodeObjectConfigOf } from './node-object-config.ts';
import type { NodeObjectOptions } from './node-object-options.ts';
import { patchNode, Registration } from './node-registration.ts';
import type { AdoptedNode, NodeCalls } from './node-registration.ts';
import { OwnNode } from './own-node.ts';
import { RuntimeFactsReader } from './runtime-facts.ts';

const CGROUP_V1_WARNING =
  'cgroup v1 detected. cgroup v1 support is deprecated and will be removed in a future release. Please migrate to cgroup v2. More information at https://git.k8s.io/enhancements/keps/sig-node/5573-remove-cgroup-v1';

type WithoutTime<M> = M extends unknown ? Omit<M, 'at'> : never;

/**
 * The node's object in the API (E2, E5): registers it, keeps its status, lease and CSINode, and knows its latest version. What is
 * written when is decided by `machines/node-object/object-machine.ts`; here facts are gathered, compared, and requests are made.
 */
export class NodeObject {
  private readonly options: NodeObjectOptions;
  private readonly log: Logger;
  private readonly now: () => number;
  private readonly steady: () => number;
  /** Of the machines' messages: they measure by them. */
  private readonly at: () => number;
  private readonly config: NodeObjectConfig;
  private readonly facts: NodeFactsSource;
  private readonly random: () => number;
  private readonly runtime: RuntimeFactsReader;
  private readonly own: OwnNode;
  private readonly lease: NodeLease;
  private readonly ending = new AbortController();
  private readonly calls: NodeCalls;
  private readonly registration = Promise.withResolvers<undefined>();
  private readonly machine: SingleMachine<ObjectState, ObjectMessage, ObjectOrder>;
  private readonly timers = new Set<NodeJS.Timeout>();
  private syncTimer: NodeJS.Timeout | undefined;
  private syncing: Promise<void> | undefined;
  /** The try to register that is under way, and what came of it. */
  private trying: { registration: Registration; adopted: AdoptedNode | null; node: Node | null } | null = null;
  /** What was compared last. */
  private compared: ComparedNode | null = null;
  /** Why the last request of each sort failed. */
  private readonly problems: { register?: unknown; sync?: unknown; csi?: unknown } = {};
  private runtimeRead = false;
  private reading = false;

  constructor(options: NodeObjectOptions) {
    const { settings, config, flags } = options;
    this.options = options;
    this.log = options.log;
    this.now = options.now ?? Date.now;
    this.steady = options.steady ?? (() => performance.now());
    this.at = spanClock({ now: this.now, steady: this.steady });
    this.config = nodeObjectConfigOf(settings.nodeName, config, flags);
    const given = { hostname: settings.nodeName, given: flags.nodeIPs };
    const externalCloudProvider = this.config.externalCloudProvider;
    this.facts = options.facts ?? new NodeFactsReader(flags.rootDir, { ...given, externalCloudProvider }, options.log);
    this.random = options.random ?? Math.random;
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
      random: this.random,
    });
    this.lease = new NodeLease({
      api,
      nodeName: settings.nodeName,
      nodeUid: () => this.own.node?.metadata?.uid,
      durationSeconds,
      log: options.log,
      now: this.now,
      journal: options.journal,
      random: this.random,
    });
    const { nodeStatusUpdateFrequency, nodeStatusReportFrequency } = config;
    const born = newObjectState(nodeStatusUpdateFrequency, nodeStatusReportFrequency);
    this.machine = new SingleMachine(nodeObject, born, options.journal ?? null);
  }

  /** Begins to register, see `whenRegistered`. */
  start(): void {
    this.record({ type: 'Normal', reason: 'Starting', message: 'Starting kubelet.' });
    if (this.options.settings.cgroupVersion === 1) {
      this.record({ type: 'Warning', reason: 'CgroupV1', message: CGROUP_V1_WARNING });
    }
    this.take({ type: 'object.start', registers: this.options.config.registerNode });
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
    if (this.ending.signal.aborted || !this.machine.state.registered) return;
    this.readRuntimeAgain();
    this.take({ type: 'object.changed' });
  }

  /** The API server has it as ready as it is, or has no object of it. */
  told(): boolean {
    const { node } = this.own;
    if (node === null || !this.machine.state.registered) return true;
    const shown = node.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
    return shown === (readinessErrors(this.known().readiness).length === 0);
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
    clearTimeout(this.syncTimer);
    for (const timer of this.timers) clearTimeout(timer);
    this.own.stop();
    await Promise.all([this.lease.stop(), this.syncing]);
    this.machine.close();
  }

  /** Closes journals without a word, as a death does. */
  close(): void {
    this.machine.close();
    this.lease.close();
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

  private take(told: WithoutTime<ObjectMessage>): void {
    if (this.ending.signal.aborted) return;
    const message = { ...told, at: this.at() } as ObjectMessage;
    const { state } = this.machine;
    if (changesNothing(state, message)) return;
    let orders: ObjectOrder[];
    try {
      const quiet = message.type === 'sync.due' && isQuiet(state, message);
      orders = quiet ? this.machine.takeUnrecorded(message) : this.machine.take(message);
    } catch (error) {
      const params = { machine: 'node-object', problem: messageOf(error) };
      const err = new ActorletError(nodeObjectErrors.stepFailed, params, { cause: error });
      this.log.error({ err }, 'The node object machine failed');
      // A node that tells nothing any more is given up by the node controller.
      this.waitToSync(this.options.config.nodeStatusUpdateFrequency);
      return;
    }
    for (const order of orders) this.carryOut(order);
  }

  private carryOut(order: ObjectOrder): void {
    switch (order.type) {
      case 'register.post':
        return void this.post();
      case 'register.adopt':
        return void this.adopt(order.forbidden);
      case 'register.patch':
        return void this.patchAdopted();
      case 'register.wait':
        this.log.error(
          { problem: messageOf(this.problems.register), retryMs: order.ms },
          'Unable to register node with API server',
        );
        return this.after(order.ms, { type: 'register.due' });
      case 'register.done':
        return this.registered(order.made);
      case 'object.watch':
        return void this.look().then(() => this.own.start());
      case 'object.present':
        this.registration.resolve(undefined);
        return this.lease.start(order.made);
      case 'csi.make':
        return void this.makeCsiNode(order.fresh);
      case 'csi.wait':
        if (this.problems.csi !== undefined)
          this.log.warn({ problem: messageOf(this.problems.csi), retryMs: order.ms }, 'CSINode could not be made');
        if (order.ms !== null) this.after(order.ms, { type: 'csi.due' });
        return;
      case 'schedulable.tell': {
        const event = schedulableEvent(this.config.nodeName, order.was, order.unschedulable);
        if (event !== undefined) this.record(event);
        return;
      }
      case 'cidrs.tell':
        return void this.tellPodCIDR(order.cidrs);
      case 'lease.retry':
        return this.lease.retryNow();
      case 'object.change':
        return this.changed();
      case 'sync.soon':
        setImmediate(() => this.syncDue(true));
        return;
      case 'sync.wait':
        return this.waitToSync(order.ms);
      case 'missing.tell':
        this.log.error({ node: this.config.nodeName }, 'Error getting node: there is no such object');
        return;
      case 'sync.patch':
        clearTimeout(this.syncTimer);
        this.syncing = this.patch();
        return;
      case 'events.tell':
        for (const event of this.compared?.events ?? []) this.record(event);
        return;
      case 'sync.reread':
        this.syncing = this.reread();
        return;
      case 'sync.complain':
        this.log.error(
          { problem: messageOf(this.problems.sync), retryMs: order.ms },
          'Error updating node status, will retry',
        );
    }
  }

  private after(ms: number, message: WithoutTime<ObjectMessage>): void {
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      this.take(message);
    }, ms);
    this.timers.add(timer);
  }

  private async post(): Promise<void> {
    await this.look();
    if (this.ending.signal.aborted) return;
    this.options.startup?.attempted();
    let came: Extract<ObjectMessage, { type: 'register.posted' }>['came'] = 'made';
    try {
      const registration = new Registration(this.calls, this.config, this.known(), this.now());
      this.trying = { registration, adopted: null, node: null };
      this.trying.node = await registration.post();
    } catch (error) {
      this.problems.register = error;
      came = 'failed';
      if (error instanceof ApiStatusError && error.reason === 'AlreadyExists') came = 'exists';
      else if (error instanceof ApiStatusError && error.status === 403) came = 'forbidden';
    }
    this.take({ type: 'register.posted', came, chance: this.random() });
  }

  private async adopt(forbidden: boolean): Promise<void> {
    const { trying } = this;
    if (trying === null) return;
    if (forbidden)
      this.log.error({ err: this.problems.register }, 'Unable to register node with API server, reason is forbidden');
    try {
      trying.adopted = await trying.registration.adopt();
      this.log.info({ node: this.config.nodeName }, 'Node was previously registered');
      trying.node = trying.adopted.existing;
    } catch (error) {
      this.problems.register = error;
      return this.take({ type: 'register.failed' });
    }
    this.take({ type: 'register.found', patch: trying.adopted.found, chance: this.random() });
  }

  private async patchAdopted(): Promise<void> {
    const { trying } = this;
    if (trying === null) return;
    try {
      trying.node = await patchNode(this.calls, this.config.nodeName, trying.adopted?.patch);
    } catch (error) {
      this.problems.register = error;
      return this.take({ type: 'register.failed' });
    }
    this.take({ type: 'register.patched', chance: this.random() });
  }

  private registered(made: boolean): void {
    const { trying } = this;
    this.trying = null;
    if (trying?.node == null) return;
    this.log.info({ node: this.config.nodeName, created: made }, 'Successfully registered node');
    for (const event of (trying.adopted ?? trying.registration).events) this.record(event);
    if (made) this.options.startup?.registered();
    this.took(trying.node);
    this.own.start();
  }

  private async makeCsiNode(fresh: boolean): Promise<void> {
    const uid = this.own.node?.metadata?.uid;
    let made = false;
    this.problems.csi = undefined;
    try {
      if (uid !== undefined) {
        await ensureCsiNode(this.calls.api, { name: this.config.nodeName, uid }, fresh, this.ending.signal);
        made = true;
      }
    } catch (error) {
      this.problems.csi = error;
    }
    this.take({ type: 'csi.ended', made });
  }

  private seen(node: Node | null): void {
    if (node === null) return;
    const ready = node.status?.conditions?.find((condition) => condition.type === 'Ready')?.status ?? null;
    const cidrs = (node.spec?.podCIDRs ?? []).join(',');
    this.take({ type: 'object.seen', unschedulable: node.spec?.unschedulable === true, ready, cidrs });
  }

  private async tellPodCIDR(podCidr: string): Promise<void> {
    try {
      await this.options.cri.runtime.updateRuntimeConfig({ runtimeConfig: { networkConfig: { podCidr } } });
    } catch (error) {
      this.log.error({ err: error, podCidr }, 'Error updating pod CIDR');
      this.take({ type: 'cidrs.refused' });
    }
  }

  private waitToSync(ms: number): void {
    clearTimeout(this.syncTimer);
    this.syncTimer = setTimeout(() => void this.look().then(() => this.syncDue(false)), ms);
  }

  /** Compares the object with what is known now. While a patch is under way it is left alone. */
  private syncDue(soon: boolean): void {
    if (this.ending.signal.aborted) return;
    const before = this.own.node;
    const idle = this.machine.state.syncing === null;
    try {
      if (idle) this.compared = before && compareNode(before, this.config, this.known(), this.now());
    } catch (error) {
      this.problems.sync = error;
      return this.take({ type: 'sync.failed', status: 0 });
    }
    const found = before === null ? null : (this.compared?.finding ?? null);
    if (!idle && !soon) return;
    this.take({ type: 'sync.due', soon, found, chance: this.random() });
  }

  private async patch(): Promise<void> {
    try {
      this.took(await patchNode(this.calls, this.config.nodeName, this.compared?.patch));
    } catch (error) {
      this.problems.sync = error;
      return this.take({ type: 'sync.failed', status: error instanceof ApiStatusError ? error.status : 0 });
    }
    this.take({ type: 'sync.patched', chance: this.random(), spread: this.random() });
  }

  private async reread(): Promise<void> {
    try {
      await this.own.read();
    } catch (error) {
      this.problems.sync = error;
    }
    this.take({ type: 'sync.reread' });
  }

  /** What the API server has after a call of ours. */
  private took(node: Node): void {
    this.own.took(node);
    const ready = node.status?.conditions?.find((condition) => condition.type === 'Ready');
    if (ready?.status === 'True') this.options.startup?.becameReady();
  }

  /** Looks at machine, addresses and runtime anew; takes two seconds at most and never rejects. */
  private async look(): Promise<void> {
    const at = this.steady();
    await Promise.all([this.facts.read(at), this.lookAtRuntime(at)]);
  }

  private async lookAtRuntime(at: number): Promise<void> {
    if (!this.runtimeRead) this.runtimeRead = await this.runtime.readRuntime();
    if (this.runtimeRead) await this.runtime.readImages(at);
    // A runtime that comes back may be another version.
    if (!this.options.runtimeState().runtimeReady) this.runtimeRead = false;
  }

  private known(): NodeFacts {
    const { runtimeState, plegError, shutdownErrors, pressure, conditions, devices, volumesInUse } = this.options;
    return {
      ...(devices && { devices: devices() }),
      ...(volumesInUse && { volumesInUse: volumesInUse() }),
      machine: this.facts.machine,
      runtime: this.runtime.facts,
      addresses: this.facts.addresses,
      readiness: { runtime: runtimeState(), plegError: plegError(), shutdownErrors: shutdownErrors?.() ?? [] },
      pressure: pressure?.() ?? { memory: false, disk: false, pid: false },
      managed: conditions?.() ?? [],
    };
  }
}
