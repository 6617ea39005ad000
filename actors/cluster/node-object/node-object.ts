import { CSI_PAUSES_MS } from '../../../machines/node-object/object-machine.ts';
import { nodeNamed } from '../../../machines/protocol/recorded-event.ts';
import type { Logger } from 'pino';
import { ActorletError } from '../../../machines/errors/define.ts';
import { nodeObjectErrors } from '../../../machines/errors/node-object-errors.ts';
import { readinessErrors } from '../../../machines/node-object/ready-message.ts';
import type { Node, NodeEvent, NodeObjectConfig } from '../../../machines/node-object/node-types.ts';
import { changesNothing, isQuiet, newObjectState } from '../../../machines/node-object/object-machine.ts';
import type { ObjectState } from '../../../machines/node-object/object-machine.ts';
import type { ObjectMessage, ObjectOrder } from '../../../machines/node-object/object-messages.ts';
import { schedulableEvent } from '../../../machines/node-object/set-node-status.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { spanClock } from '../../host/time/span-clock.ts';
import { SingleMachine } from '../../record/host/single-machine.ts';
import { nodeObject } from '../../record/machines/node-object.ts';
import { ensureCsiNode } from './csi-node.ts';
import { hostIPsOf } from './host-ips.ts';
import { KnownNode } from './known-node.ts';
import { NodeLease } from './node-lease.ts';
import { nodeObjectConfigOf } from './node-object-config.ts';
import type { NodeObjectOptions, TakeObject } from './node-object-options.ts';
import type { NodeCalls } from './node-registration.ts';
import { OwnNode } from './own-node.ts';
import { Registering } from './registering.ts';
import { StatusSync } from './status-sync.ts';

/** Pause between tries for the CSINode once the growing ones are over, ms. */
const CSI_LAST_PAUSE_MS = CSI_PAUSES_MS.at(-1) ?? 0;

/** Who has given no answer for so long is waited for no more, ms. */
const FIRST_WORD_MS = 15_000;

const CGROUP_V1_WARNING =
  'cgroup v1 detected. cgroup v1 support is deprecated and will be removed in a future release. Please migrate to cgroup v2. More information at https://git.k8s.io/enhancements/keps/sig-node/5573-remove-cgroup-v1';

/**
 * The node's object in the API (E2, E5): registers it, keeps its status, lease and CSINode, and knows its latest version. What is
 * written when is decided by `machines/node-object/object-machine.ts`; here facts are gathered, compared, and requests are made.
 */
export class NodeObject {
  private readonly options: NodeObjectOptions;
  private readonly log: Logger;
  private readonly now: () => number;
  /** Of the machines' messages: they measure by them. */
  private readonly at: () => number;
  private readonly config: NodeObjectConfig;
  private readonly random: () => number;
  private readonly known: KnownNode;
  private readonly own: OwnNode;
  private readonly lease: NodeLease;
  private readonly ending = new AbortController();
  private readonly calls: NodeCalls;
  private readonly registration = Promise.withResolvers<undefined>();
  private readonly machine: SingleMachine<ObjectState, ObjectMessage, ObjectOrder>;
  private readonly timers = new Set<NodeJS.Timeout>();
  private readonly registering: Registering;
  private readonly sync: StatusSync;
  /** Why the last request about CSINode failed. */
  private csiProblem: unknown;
  private spoke = false;
  /** By `at`; null before the start. */
  private startedAt: number | null = null;

  constructor(options: NodeObjectOptions) {
    const { settings, config, flags } = options;
    this.options = options;
    this.log = options.log;
    this.now = options.now ?? Date.now;
    this.at = spanClock({ now: this.now, steady: options.steady ?? (() => performance.now()) });
    this.config = nodeObjectConfigOf(settings.nodeName, config, flags);
    this.known = new KnownNode(options, this.config);
    this.random = options.random ?? Math.random;
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
    const { calls, known, log, now, own, random } = this;
    const take: TakeObject = (message) => this.take(message);
    const shared = { calls, known, now, random, take, config: this.config };
    this.registering = new Registering({ ...shared, log, startup: options.startup });
    this.sync = new StatusSync({
      ...{ ...shared, own, took: (node) => this.took(node) },
      idle: () => this.machine.state.syncing === null,
    });
  }

  /** Begins to register, see `whenRegistered`. */
  start(): void {
    this.startedAt = this.at();
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
    this.known.readRuntimeAgain(() => this.changed());
    this.take({ type: 'object.changed' });
  }

  /**
   * The API server has heard of the node as this agent sees it, or could not be told, or gave no answer for long. What is read there
   * before is an earlier agent's.
   */
  hasSpoken(): boolean {
    return this.spoke || (this.startedAt !== null && this.at() - this.startedAt >= FIRST_WORD_MS);
  }

  /** The API server has it as ready as it is, or has no object of it. */
  told(): boolean {
    const { node } = this.own;
    if (node === null || !this.machine.state.registered) return true;
    const shown = node.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
    return shown === (readinessErrors(this.known.now().readiness).length === 0);
  }

  /** Records an event about the node, e.g. `NodeAllocatableEnforced`. */
  record(event: NodeEvent): void {
    // kubelet's reference has no UID, since the object may not be there yet.
    const object = nodeNamed(this.config.nodeName);
    this.options.events.record({ object, at: this.now(), ...event });
  }

  /** Ends all calls; object and lease stay, so that a restart is no outage. */
  async stop(): Promise<void> {
    this.ending.abort();
    for (const timer of this.timers) clearTimeout(timer);
    this.own.stop();
    await Promise.all([this.lease.stop(), this.sync.stop()]);
    this.machine.close();
  }

  /** Closes journals without a word, as a death does. */
  close(): void {
    this.machine.close();
    this.lease.close();
  }

  private take(told: Parameters<TakeObject>[0]): void {
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
      this.sync.wait(this.options.config.nodeStatusUpdateFrequency);
      return;
    }
    this.spoke ||= speaks(message, orders);
    for (const order of orders) this.machine.carriedOut(order, this.log, (its) => this.carryOut(its));
  }

  private carryOut(order: ObjectOrder): void {
    switch (order.type) {
      case 'register.post':
        return void this.registering.post();
      case 'register.adopt':
        return void this.registering.adopt(order.forbidden);
      case 'register.patch':
        return void this.registering.patch();
      case 'register.wait':
        this.log.error(
          { problem: messageOf(this.registering.problem), retryMs: order.ms },
          'Unable to register node with API server',
        );
        return this.after(order.ms, { type: 'register.due' });
      case 'register.done':
        return this.registered(order.made);
      case 'object.watch':
        return void this.known.look().then(() => this.own.start());
      case 'object.present':
        this.registration.resolve(undefined);
        return this.lease.start(order.made);
      case 'csi.make':
        return void this.makeCsiNode(order.fresh);
      case 'csi.wait': {
        // Kubelet exits after the last of the pauses, and begins anew when it is restarted; here it is tried on as seldom.
        const retryMs = order.ms ?? CSI_LAST_PAUSE_MS;
        if (this.csiProblem !== undefined)
          this.log.warn({ problem: messageOf(this.csiProblem), retryMs }, 'CSINode could not be made');
        return this.after(retryMs, { type: 'csi.due' });
      }
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
        setImmediate(() => this.sync.due(true));
        return;
      case 'sync.wait':
        return this.sync.wait(order.ms);
      case 'missing.tell':
        this.log.error({ node: this.config.nodeName }, 'Error getting node: there is no such object');
        return;
      case 'sync.patch':
        return this.sync.patch();
      case 'events.tell':
        for (const event of this.sync.events) this.record(event);
        return;
      case 'sync.reread':
        return this.sync.reread();
      case 'sync.complain':
        this.log.error(
          { problem: messageOf(this.sync.problem), retryMs: order.ms },
          'Error updating node status, will retry',
        );
    }
  }

  private after(ms: number, message: Parameters<TakeObject>[0]): void {
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      this.take(message);
    }, ms);
    this.timers.add(timer);
  }

  private registered(made: boolean): void {
    const done = this.registering.done(made);
    if (done === null) return;
    for (const event of done.events) this.record(event);
    if (made) this.options.startup?.registered();
    this.took(done.node);
    this.own.start();
  }

  private async makeCsiNode(fresh: boolean): Promise<void> {
    const uid = this.own.node?.metadata?.uid;
    let made = false;
    try {
      if (uid !== undefined) {
        await ensureCsiNode(this.calls.api, { name: this.config.nodeName, uid }, fresh, this.ending.signal);
        made = true;
      }
      this.csiProblem = undefined;
    } catch (error) {
      this.csiProblem = error;
    }
    if (this.ending.signal.aborted) return;
    const wasReady = this.known.tellStorage(
      made ? null : `failed to initialize CSINode: ${messageOf(this.csiProblem)}`,
    );
    this.take({ type: 'csi.ended', made });
    if (made && !wasReady) this.changed();
  }

  private seen(node: Node | null): void {
    if (node === null) return;
    this.options.onHostIPs?.(hostIPsOf(node));
    this.options.onNode?.();
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

  /** What the API server has after a call of ours. */
  private took(node: Node): void {
    this.own.took(node);
    const ready = node.status?.conditions?.find((condition) => condition.type === 'Ready');
    if (ready?.status === 'True') this.options.startup?.becameReady();
  }
}

/** Has a first try to tell of the node come to its end with this, whatever that was? */
function speaks({ type }: ObjectMessage, orders: readonly ObjectOrder[]): boolean {
  const told = type === 'sync.patched' || (type === 'sync.due' && !orders.some((order) => order.type === 'sync.patch'));
  return told || orders.some((order) => order.type === 'register.wait' || order.type === 'sync.complain');
}
