import type { Logger } from 'pino';
import { deviceKey, isStale } from '../../../machines/claims/claim-health.ts';
import type { ToldHealth } from '../../../machines/claims/claim-health.ts';
import { strangers } from '../../../machines/claims/claim-machine.ts';
import type { ClaimMessage, ClaimOrder, ClaimResult } from '../../../machines/claims/claim-messages.ts';
import { NO_CLAIMS, claimsOf } from '../../../machines/claims/claim-state.ts';
import type { ClaimState, KnownClaim } from '../../../machines/claims/claim-state.ts';
import { cdiDevicesOf } from '../../../machines/claims/container-claims.ts';
import { hasClaims } from '../../../machines/claims/pod-claims.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { lookEach } from '../../host/time/clock.ts';
import type { Clock, Timer } from '../../host/time/clock.ts';
import { SingleMachine } from '../../record/host/single-machine.ts';
import type { Attempt } from '../../record/host/single-machine.ts';
import type { JournalSettings } from '../../record/journal/machine-journal.ts';
import { claims } from '../../record/machines/claims.ts';
import type { Metrics } from '../../record/metrics/metrics-registry.ts';
import type { ClaimDrivers, DriverHears } from './claim-drivers.ts';
import { fetchedClaims } from './fetched-claims.ts';
import type { ResourceClaim } from '../../../machines/claims/resource-claim.ts';
import type { WithoutTime } from '../../../machines/protocol/without-time.ts';
import { SliceWiper } from './slice-wiper.ts';

/** How often it is looked whether anything is due, ms. */
const LOOK_MS = 1_000;
/** How often claims of pods that are gone are looked for once all sources have spoken, ms (kubelet: defaultReconcilePeriod). */
const RECONCILE_MS = 60_000;
/** What is told again within this time is no news, ms. */
const SAME_HEALTH_MS = 1_000;
/** The driver that stands for all of them (kubelet: DRAResourceClaimsInUseAnyDriver). */
const ANY_DRIVER = '<any>';

/** What the claims manager works with. */
export interface ClaimManagerOptions {
  drivers: (hears: DriverHears) => ClaimDrivers;
  /** Where it is written down which claims pods use. */
  checkpoint: { read(): Promise<KnownClaim[]>; write(state: ClaimState): Promise<void> };
  /** Where it is written down how devices are (gate ResourceHealthStatus); absent where nobody asks. */
  healthFile?: {
    read(now: { at: number; steady: number }): Promise<ClaimState['health'] | null>;
    write(health: NonNullable<ClaimState['health']>): Promise<void>;
  };
  /** Claims, or the health of their devices, are others. */
  healthChanged?: () => void;
  /** A ResourceClaim as the API has it. Rejects without an API server, too. */
  claim: (namespace: string, name: string) => Promise<ResourceClaim>;
  /** Removes the node's ResourceSlices of a driver, null: of all. Rejects while there is no API server or no node. */
  wipe: (driver: string | null) => Promise<void>;
  /** Pods of which something may still run; null while not all sources have spoken. */
  active: () => string[] | null;
  /** Gate DRAExtendedResource. */
  extended: boolean;
  clock: Clock;
  log: Logger;
  metrics: Pick<Metrics, 'draOperations' | 'draClaims'>;
  /** Absent with `--no-journal`. */
  journal?: JournalSettings | undefined;
}

/**
 * Hosts the machine that has ResourceClaims prepared by their drivers (kubelet: cm/dra): fetches a pod's claims, asks drivers what it
 * orders, and has it written down before they are asked.
 */
export class ClaimManager {
  private readonly options: ClaimManagerOptions;
  private readonly machine: SingleMachine<ClaimState, ClaimMessage, ClaimOrder>;
  private readonly drivers: ClaimDrivers;
  private readonly wiper: SliceWiper;
  /** Who waits for a piece of work: null when it is done, else why it is not. */
  private readonly waiting = new Map<number, (problem: string | null) => void>();
  private looks: Timer | undefined;
  private reconcileAt = 0;

  constructor(options: ClaimManagerOptions) {
    this.options = options;
    const { clock, log } = options;
    this.machine = new SingleMachine(claims, NO_CLAIMS, options.journal ?? null);
    this.wiper = new SliceWiper({ wipe: options.wipe, clock, log });
    this.drivers = options.drivers({
      told: (driver, is) => {
        if (is.connected) this.wiper.spare(driver);
        this.tell({ type: 'driver.told', steady: clock.steady(), driver, ...is });
      },
      health: (driver, devices) => this.healthTold(driver, devices),
      healthLost: (driver) => this.tell({ type: 'health.lost', driver }),
    });
  }

  get state(): ClaimState {
    return this.machine.state;
  }

  /** Rejects, as kubelet does not start, when the checkpoint cannot be used. */
  async start(): Promise<void> {
    const { clock, checkpoint } = this.options;
    const found = await checkpoint.read();
    if (found.length > 0) this.tell({ type: 'checkpoint.found', claims: found });
    const health = await this.options.healthFile?.read({ at: clock.now(), steady: clock.steady() });
    if (health && Object.keys(health).length > 0) this.tell({ type: 'health.found', health });
    this.looks = lookEach(clock, LOOK_MS, () => this.look());
    await this.drivers.start();
    this.tellInUse();
    // No driver has registered yet: what they said they had nobody can give.
    this.wiper.wipe('');
  }

  async stop(): Promise<void> {
    this.looks?.cancel();
    this.wiper.stop();
    await this.drivers.stop();
    this.machine.close();
  }

  /** Has the pod's claims prepared. Rejects with kubelet's words when one is not. */
  async prepare(pod: Pod): Promise<void> {
    if (!hasClaims(pod)) return;
    const { extended, claim } = this.options;
    const { uid = '', name = '', namespace = '' } = pod.metadata ?? {};
    await this.timed('PrepareResources', 'prepare dynamic resources', async () => {
      const found = await fetchedClaims(pod, extended, claim);
      return this.work({ type: 'pod.prepares', uid, name, namespace, claims: found });
    });
  }

  /** Gives back what the pod has, after its last container has ended. Rejects with kubelet's words when that fails. */
  async unprepare(uid: string): Promise<void> {
    const used = claimsOf(this.state, uid).length > 0 || this.state.work.some(({ pod }) => pod === uid);
    if (!used) return;
    await this.timed('UnprepareResources', 'unprepare dynamic resources', () =>
      this.work({ type: 'pod.unprepares', uid }),
    );
  }

  /** Nothing of the pod is left on the node. */
  gone(uid: string): void {
    this.unprepare(uid).catch((error: unknown) => this.options.log.error({ err: error, podUID: uid }, 'Claims'));
  }

  /** Names of CDI devices of a container. Throws when a claim of its pod was not prepared. */
  cdiDevices(pod: Pod, container: string): string[] {
    const { containers = [], initContainers = [] } = pod.spec ?? {};
    const found = [...initContainers, ...containers].find(({ name }) => name === container);
    return found === undefined ? [] : cdiDevicesOf(this.state, pod, found, this.options.extended);
  }

  private async timed(operation: string, what: string, run: () => Promise<string | null>): Promise<void> {
    const began = performance.now();
    const problem = await run().catch((error: unknown) => messageOf(error));
    const labels = { operation_name: operation, is_error: String(problem !== null) };
    this.options.metrics.draOperations.observe(labels, (performance.now() - began) / 1000);
    if (problem !== null) throw new Error(`${what}: ${problem}`);
  }

  private work(message: WithoutTime<ClaimMessage>): Promise<string | null> {
    const { orders, failure } = this.take(message);
    if (failure !== null) return Promise.resolve(failure.message);
    const done = new Promise<string | null>((resolve) => this.waiting.set(this.state.seq, resolve));
    void this.carryOut(orders);
    return done;
  }

  private look(): void {
    const steady = this.options.clock.steady();
    if (steady >= this.reconcileAt) this.reconcile(steady);
    const due = Object.values(this.state.drivers).some(({ wipeAt }) => wipeAt !== null && wipeAt <= steady);
    if (due) this.tell({ type: 'wipes.due', steady });
    const told = Object.values(this.state.health ?? {}).flatMap((devices) => Object.values(devices));
    if (told.some((one) => isStale(one, steady))) this.tell({ type: 'health.due', steady });
  }

  /** A driver may say the same as often as it likes; the machine hears it often enough for it to hold. */
  private healthTold(driver: string, devices: ToldHealth[]): void {
    const { clock } = this.options;
    const known = this.state.health?.[driver] ?? {};
    const steady = clock.steady();
    const same = devices.every((one) => {
      const before = known[deviceKey(one)];
      const fresh = before !== undefined && before.until - steady > before.timeoutMs - SAME_HEALTH_MS;
      return fresh && before.health === one.health && before.timeoutMs === one.timeoutMs;
    });
    if (!same || !(driver in (this.state.health ?? {}))) this.tell({ type: 'health.told', steady, driver, devices });
  }

  private reconcile(steady: number): void {
    const uids = this.options.active();
    if (uids === null) return;
    this.reconcileAt = steady + RECONCILE_MS;
    if (strangers(this.state, uids).length > 0) this.tell({ type: 'pods.active', uids });
  }

  private take(message: WithoutTime<ClaimMessage>): Attempt<ClaimOrder> {
    const { claims: before, health } = this.state;
    const { clock, log, healthChanged } = this.options;
    const attempt = this.machine.attempt({ ...message, at: clock.now() }, log);
    this.tellInUse();
    if (this.state.claims !== before || this.state.health !== health) healthChanged?.();
    return attempt;
  }

  private tell(message: WithoutTime<ClaimMessage>): void {
    const { orders, failure } = this.take(message);
    void this.carryOut(orders);
    if (failure === null) return;
    // What a driver said that the machine cannot take in is no answer: the work has failed, and its pod tries again.
    if (message.type === 'driver.answered')
      this.tell({ type: 'work.broke', work: message.work, message: failure.message });
    else if (message.type === 'work.broke') this.settle(message.work, '', failure.message);
  }

  private async carryOut(orders: readonly ClaimOrder[]): Promise<void> {
    const unwritten = new Map<number, string>();
    for (const order of orders) {
      if (order.type === 'slices.wipe') {
        this.wiper.wipe(order.driver);
        continue;
      }
      if (order.type === 'health.write') {
        void this.options.healthFile?.write(this.state.health ?? {});
        continue;
      }
      const problem = unwritten.get(order.work);
      switch (order.type) {
        case 'checkpoint.write':
          await this.options.checkpoint
            .write(this.state)
            .catch((error: unknown) => unwritten.set(order.work, messageOf(error)));
          break;
        case 'work.done':
          this.settle(order.work, order.pod, problem ? `checkpoint ResourceClaim state: ${problem}` : null);
          break;
        case 'work.failed':
          this.settle(order.work, order.pod, order.message);
          break;
        default:
          if (problem === undefined) void this.ask(order);
          else
            this.tell({ type: 'work.broke', work: order.work, message: `checkpoint ResourceClaim cache: ${problem}` });
      }
    }
  }

  private async ask(order: Extract<ClaimOrder, { type: 'driver.prepare' | 'driver.unprepare' }>): Promise<void> {
    const { type, work, driver, claims: asked } = order;
    const call =
      type === 'driver.prepare' ? this.drivers.prepare(driver, asked) : this.drivers.unprepare(driver, asked);
    this.tell(
      await call.then(
        (results: ClaimResult[]) => ({ type: 'driver.answered' as const, work, results }),
        (error: unknown) => ({ type: 'work.broke' as const, work, message: messageOf(error) }),
      ),
    );
  }

  private settle(work: number, podUID: string, problem: string | null): void {
    const waiter = this.waiting.get(work);
    this.waiting.delete(work);
    waiter?.(problem);
    if (waiter === undefined && problem !== null)
      this.options.log.info({ podUID, err: problem }, 'Unpreparing pod resources in reconcile loop failed, will retry');
  }

  private tellInUse(): void {
    const counts = new Map([[ANY_DRIVER, 0]]);
    for (const { prepared, drivers } of Object.values(this.state.claims))
      if (prepared)
        for (const driver of [ANY_DRIVER, ...Object.keys(drivers)]) counts.set(driver, (counts.get(driver) ?? 0) + 1);
    const { draClaims } = this.options.metrics;
    draClaims.reset();
    for (const [driver, count] of counts) draClaims.set({ driver_name: driver }, count);
  }
}
