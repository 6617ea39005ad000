import type { Logger } from 'pino';
import { judgeDriver, NO_DRIVERS, usableDriver } from '../../../machines/csi/driver-machine.ts';
import type { DriversState } from '../../../machines/csi/driver-machine.ts';
import type { DriverMessage, DriverOrder } from '../../../machines/csi/driver-messages.ts';
import { allocatablePeriodMs } from '../../../machines/csi/driver-rules.ts';
import { markDriver, unmarkDriver, withDriver, withoutDriver } from '../../../machines/csi/node-drivers.ts';
import { ActorletError } from '../../../machines/errors/define.ts';
import { pluginErrors } from '../../../machines/errors/plugin-errors.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import type { Clock } from '../../host/time/clock.ts';
import { SingleMachine } from '../../record/host/single-machine.ts';
import type { JournalSettings } from '../../record/journal/machine-journal.ts';
import { csi } from '../../record/machines/csi.ts';
import type { WithoutTime } from '../../../machines/protocol/without-time.ts';
import type { PluginHandler } from '../plugins/plugin-handler.ts';
import type { CsiApi } from './csi-api.ts';
import type { CsiCallReport, CsiNodeClient } from './node-client.ts';

/** What drivers are kept with. */
export interface CsiDriversOptions {
  /** Null on a standalone node: no driver can be used there, as with kubelet. */
  api: () => CsiApi | null;
  clock: Pick<Clock, 'now'>;
  /** Are drivers asked again how many volumes the node can hold (gate MutableCSINodeAllocatableCount)? */
  refreshes: boolean;
  log: Logger;
  onCall?: (report: CsiCallReport) => void;
  journal?: JournalSettings | undefined;
}

/** A timer for longer would ring at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * The CSI drivers of this node (kubelet: csi.RegistrationHandler, nodeinfomanager): hosts the machine that decides what becomes of one that
 * registers, asks drivers for their node, and writes what they say into the node's object and its CSINode.
 */
export class CsiDrivers implements PluginHandler {
  private readonly options: CsiDriversOptions;
  private readonly machine: SingleMachine<DriversState, DriverMessage, DriverOrder>;
  /** Who waits for the end of a registration, by its turn. */
  private readonly waiting = new Map<number, { resolve: () => void; reject: (error: Error) => void }>();
  /** What is being carried out for each driver: one after the other. */
  private readonly work = new Map<string, Promise<void>>();
  private readonly timers = new Set<NodeJS.Timeout>();
  /** Looks at what a driver says of its node, by its name. */
  private readonly looks = new Map<string, NodeJS.Timeout>();
  /** Whose changes of CSIDrivers are heard. */
  private followed: CsiApi | null = null;
  private readonly ending = new AbortController();

  constructor(options: CsiDriversOptions) {
    this.options = options;
    this.machine = new SingleMachine(csi, NO_DRIVERS, options.journal ?? null);
  }

  get state(): DriversState {
    return this.machine.state;
  }

  stop(): void {
    this.ending.abort();
    for (const timer of [...this.timers, ...this.looks.values()]) clearTimeout(timer);
    this.timers.clear();
    this.looks.clear();
    for (const { reject } of this.waiting.values()) reject(new Error('the agent ends'));
    this.waiting.clear();
    this.machine.close();
  }

  validate(name: string, versions: readonly string[], endpoint: string): void {
    try {
      judgeDriver(this.state, 'ValidatePlugin', name, versions);
    } catch (error) {
      throw new Error(`validation failed for CSI Driver ${name} at endpoint ${endpoint}: ${messageOf(error)}`, {
        cause: error,
      });
    }
  }

  registered(name: string, endpoint: string, versions: readonly string[]): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      this.waiting.set(this.state.turns + 1, { resolve, reject });
      this.take({ type: 'driver.came', name, endpoint, versions: [...versions] });
    });
  }

  deregistered(name: string, endpoint: string): void {
    this.take({ type: 'driver.went', name, endpoint });
  }

  /**
   * A client of a registered driver for one operation; the caller closes it.
   * @throws Error in kubelet's words when there is none of that name
   */
  async client(name: string, signal?: AbortSignal, timeoutMs?: number, migrated?: true): Promise<CsiNodeClient> {
    if (name === '') throw new Error('driver name is empty');
    const entry = usableDriver(this.state, name);
    if (entry === null) throw new Error(`driver name ${name} not found in the list of registered CSI drivers`);
    return this.open(name, entry.endpoint, signal, { timeoutMs, migrated });
  }

  /** Is the node's room for volumes of a driver asked for again while it runs? */
  get refreshes(): boolean {
    return this.options.refreshes;
  }

  /** Asks a driver at once how many volumes the node can hold: it held fewer than it said. */
  askAgain(name: string): void {
    this.take({ type: 'driver.stale', name });
  }

  private take(message: WithoutTime<DriverMessage>): void {
    if (this.ending.signal.aborted) return;
    const { turns } = this.state;
    const whole = { ...message, at: this.options.clock.now() };
    const failure = this.machine.handle(whole, this.options.log, (order) => this.carryOut(order));
    if (failure === null) return;
    if (message.type === 'driver.came') this.settle(turns + 1, (waiter) => waiter.reject(failure));
    if (!('turn' in message)) return;
    const { name, turn } = message;
    // What the machine cannot take in has failed: the driver is taken out again, and may register anew.
    if (message.type !== 'driver.failed')
      return this.take({ type: 'driver.failed', name, turn, problem: failure.message });
    const { cameIn } = this.state.drivers[name] ?? { cameIn: turn };
    this.settle(cameIn, (waiter) => waiter.reject(failure));
  }

  private carryOut(order: DriverOrder): void {
    const { name, turn } = order;
    const { log } = this.options;
    switch (order.type) {
      case 'driver.taken':
        log.info({ driver: name }, 'CSI driver registered');
        this.settle(turn, (waiter) => waiter.resolve());
        return this.lookSoon(name);
      case 'driver.refused':
        return this.settle(turn, (waiter) => waiter.reject(new Error(order.problem)));
      case 'driver.left': {
        const params = { driver: name, problem: order.problem };
        log.error({ err: new ActorletError(pluginErrors.csiNodeUnwritten, params) }, 'CSI driver');
        return;
      }
      case 'driver.wait': {
        const timer = setTimeout(() => {
          this.timers.delete(timer);
          this.take({ type: 'driver.due', name, turn });
        }, order.ms);
        this.timers.add(timer);
        return;
      }
      default:
        this.queue(name, turn, () => this.perform(order));
    }
  }

  private async perform(
    order: Exclude<DriverOrder, { type: 'driver.taken' | 'driver.refused' | 'driver.left' | 'driver.wait' }>,
  ): Promise<WithoutTime<DriverMessage>> {
    const { name, turn } = order;
    if (order.type === 'driver.ask') {
      const client = await this.open(name, order.endpoint, this.ending.signal);
      try {
        return { type: 'driver.told', name, turn, info: await client.info() };
      } finally {
        client.close();
      }
    }
    const api = this.options.api();
    if (api === null) throw new Error('error getting kube client');
    if (order.type === 'csiNode.list')
      await api.changeDrivers((drivers) => withDriver(drivers, name, order.info), true);
    else if (order.type === 'csiNode.unlist') await api.changeDrivers((drivers) => withoutDriver(drivers, name), false);
    else {
      const marks = await api.nodeMarks();
      const change = order.type === 'node.mark' ? markDriver(marks, name, order.info) : unmarkDriver(marks, name);
      if (change !== null) await api.patchMarks(change);
    }
    return { type: 'driver.written', name, turn };
  }

  private queue(name: string, turn: number, perform: () => Promise<WithoutTime<DriverMessage>>): void {
    const before = this.work.get(name) ?? Promise.resolve();
    const mine = before.then(async () => {
      let message: WithoutTime<DriverMessage>;
      try {
        message = await perform();
      } catch (error) {
        message = { type: 'driver.failed', name, turn, problem: messageOf(error) };
      }
      this.take(message);
    });
    this.work.set(name, mine);
    void mine.finally(() => {
      if (this.work.get(name) === mine) this.work.delete(name);
    });
  }

  private async open(
    name: string,
    endpoint: string,
    signal?: AbortSignal,
    { timeoutMs, migrated }: { timeoutMs?: number | undefined; migrated?: true | undefined } = {},
  ): Promise<CsiNodeClient> {
    // The contract takes memory: a node without CSI drivers never has it.
    const { CsiNodeClient: Client } = await import('./node-client.ts');
    const { onCall } = this.options;
    return new Client({
      ...{ driver: name, endpoint },
      ...(signal !== undefined && { signal }),
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(migrated && { migrated }),
      ...(onCall !== undefined && { onCall }),
    });
  }

  private settle(turn: number, how: (waiter: { resolve: () => void; reject: (error: Error) => void }) => void): void {
    const waiter = this.waiting.get(turn);
    this.waiting.delete(turn);
    if (waiter !== undefined) how(waiter);
  }

  private lookSoon(name: string): void {
    // A CSIDriver may be anything that the API server sends.
    this.lookAgain(name).catch((error: unknown) => {
      this.options.log.warn({ driver: name, err: messageOf(error) }, 'CSI driver is not asked again for its node');
    });
  }

  /** Asks the driver for its node again from time to time, when its CSIDriver says so. */
  private async lookAgain(name: string): Promise<void> {
    clearTimeout(this.looks.get(name));
    this.looks.delete(name);
    const api = this.options.api();
    if (!this.options.refreshes || api === null || usableDriver(this.state, name) === null) return;
    if (this.followed !== api) {
      this.followed = api;
      api.driversChange((changed) => this.lookSoon(changed));
    }
    const driver = await api.driver(name).catch(() => null);
    const ms = Math.min(allocatablePeriodMs(driver), LONGEST_TIMER_MS);
    if (ms === 0 || this.ending.signal.aborted || this.looks.has(name)) return;
    this.looks.set(
      name,
      setTimeout(() => {
        this.take({ type: 'driver.stale', name });
        this.lookSoon(name);
      }, ms).unref(),
    );
  }
}
