import { bornSnapshot } from '../../../machines/machine-step/step.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { nodeNamed, podObject } from '../../../machines/protocol/recorded-event.ts';
import { configuredGroups, periodOf } from '../../../machines/shutdown/shutdown-groups.ts';
import type { ShutdownGroup, ShutdownPod } from '../../../machines/shutdown/shutdown-groups.ts';
import { isShuttingDown } from '../../../machines/shutdown/shutdown-context.ts';
import type { ShutdownContext, ShutdownMessage, ShutdownOrder } from '../../../machines/shutdown/shutdown-context.ts';
import { shutdownMachine } from '../../../machines/shutdown/shutdown-machine.ts';
import { NODE_SHUTDOWN, NOT_ADMITTED, NOT_READY, TERMINATED_MESSAGE } from '../../../machines/status/shutdown-words.ts';
import { TERMINATED } from '../../../machines/status/node-endings.ts';
import type { Timer } from '../../host/time/clock.ts';
import { SingleMachine } from '../../record/host/single-machine.ts';
import { shutdown } from '../../record/machines/shutdown.ts';
import type { ShutdownSnapshot } from '../../record/machines/shutdown.ts';
import { activePods, hasEnded, isCleanedUp } from '../eviction/active-pods.ts';
import { LogindKeeper } from './logind-keeper.ts';
import type { ShutdownGround } from './shutdown-ground.ts';
import { ShutdownTimesFile } from './shutdown-times.ts';

/** Time between two looks at pods that end, ms. */
const POLL_MS = 100;
/** How long the machine is left alone after a message that it failed at, ms. */
const AFTER_FAILURE_MS = 1_000;
/** The longest wait of a timer, ms. */
const MOST_MS = 2 ** 31 - 1;

/** Hosts the shutdown machine: listens to logind, holds its lock, ends pods, and looks how far they are. */
class Shutdown {
  private readonly ground: ShutdownGround;
  private readonly groups: readonly ShutdownGroup[];
  private readonly host: SingleMachine<ShutdownSnapshot, ShutdownMessage, ShutdownOrder>;
  private readonly keeper: LogindKeeper;
  private readonly times: ShutdownTimesFile;
  private timer: NodeJS.Timeout | undefined;
  private wakesAt: number | null = null;
  private looks: Timer | undefined;
  /** Pods whose statuses the API server is to have; null: nobody waits. */
  private awaited: readonly string[] | null = null;
  private stopped = false;

  constructor(ground: ShutdownGround, groups: readonly ShutdownGroup[]) {
    this.ground = ground;
    this.groups = groups;
    this.times = new ShutdownTimesFile(ground.rootDir);
    const born = bornSnapshot(shutdownMachine, undefined) as ShutdownSnapshot;
    this.host = new SingleMachine(shutdown, born, ground.journal);
    const { now } = ground.clock;
    this.keeper = new LogindKeeper(ground.logind, {
      connected: (delayMs, preparing) =>
        this.take({ type: 'shutdown.connected', at: now(), delayMs, preparing: preparing ? this.holders() : null }),
      raised: (delayMs) => this.take({ type: 'shutdown.raised', at: now(), delayMs }),
      locked: () => this.take({ type: 'shutdown.locked', at: now() }),
      failed: (what, error) => this.take({ type: 'shutdown.failed', at: now(), what, error }),
      lost: (what, why) => this.take({ type: 'shutdown.lost', at: now(), what, why }),
      prepare: (active) =>
        this.take(
          active
            ? { type: 'shutdown.prepare', at: now(), pods: this.holders() }
            : { type: 'shutdown.cancel', at: now() },
        ),
    });
  }

  start(): void {
    const { clock, log, featureGates } = this.ground;
    const keepsTimes = featureGates.enabled('GracefulNodeShutdownBasedOnPodPriority');
    if (keepsTimes) this.tellTimes();
    const groups = [...this.groups];
    log.info(
      { shutdownGracePeriodByPodPriority: groups, periodMs: periodOf(groups) },
      'Creating node shutdown manager',
    );
    this.take({ type: 'shutdown.start', at: clock.now(), settings: { groups, keepsTimes } });
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    this.looks?.cancel();
    this.host.close();
    await this.keeper.close();
  }

  notReady(): string[] {
    return isShuttingDown(this.context) ? [NOT_READY] : [];
  }

  refuses(): { reason: string; message: string } | null {
    return isShuttingDown(this.context) ? NOT_ADMITTED : null;
  }

  private get context(): ShutdownContext {
    return this.host.state.context;
  }

  /** Metrics of the shutdown before this start. */
  private tellTimes(): void {
    const { log, metrics } = this.ground;
    try {
      const { startedAt, endedAt } = this.times.load();
      if (startedAt !== null) metrics.shutdownStart.set(Math.floor(startedAt / 1000));
      if (endedAt !== null) metrics.shutdownEnd.set(Math.floor(endedAt / 1000));
    } catch (err) {
      log.error({ err }, 'Failed to load graceful shutdown state');
    }
  }

  private holders(): ShutdownPod[] {
    const { pods, stateOf } = this.ground;
    return activePods(pods(), stateOf).map((pod): ShutdownPod => {
      const { uid = '', namespace = '', name = '' } = pod.metadata ?? {};
      const graceSeconds = pod.spec?.terminationGracePeriodSeconds;
      const priority = pod.spec?.priority ?? 0;
      return { uid, namespace, name, priority, ...(graceSeconds !== undefined && { graceSeconds }) };
    });
  }

  private take(message: ShutdownMessage): void {
    if (this.stopped) return;
    const failure = this.host.handle(message, this.ground.log, (order) => this.carryOut(order, message.at));
    // A deadline that the machine cannot take in would be due again at once.
    this.wake(failure === null ? 0 : AFTER_FAILURE_MS);
    this.lookSoon();
  }

  /**
   * Calls the machine when it wants to be: nobody else tells when time is over. What was waited for is over even when
   * somebody has set the clock back meanwhile.
   */
  private wake(leastMs: number): void {
    const { deadline } = this.context;
    if (deadline === this.wakesAt) return;
    clearTimeout(this.timer);
    this.wakesAt = deadline;
    if (deadline === null || this.stopped) return;
    const { now } = this.ground.clock;
    const ring = (): void => {
      this.wakesAt = null;
      this.take({ type: 'timer', at: Math.max(now(), deadline) });
    };
    this.timer = setTimeout(ring, Math.min(MOST_MS, Math.max(leastMs, deadline - now())));
    this.timer.unref();
  }

  private lookSoon(): void {
    if (this.looks !== undefined || this.stopped) return;
    if (!this.context.focus.startsWith('shuttingDown.')) return;
    this.looks = this.ground.clock.lookAfter(POLL_MS, () => {
      this.looks = undefined;
      this.look();
      this.lookSoon();
    });
  }

  /** How far are the pods that end, and does the API server know? */
  private look(): void {
    const { clock, stateOf, told } = this.ground;
    for (const { uid, killBy } of this.context.run?.ending ?? []) {
      const state = stateOf(uid);
      if (isCleanedUp(state)) this.take({ type: 'shutdown.cleaned', at: clock.now(), uid });
      else if (killBy !== null && hasEnded(state ?? '')) this.take({ type: 'shutdown.ended', at: clock.now(), uid });
    }
    const { awaited } = this;
    if (awaited !== null && this.context.focus === 'shuttingDown.telling' && told(awaited))
      this.take({ type: 'shutdown.told', at: clock.now() });
  }

  private carryOut(order: ShutdownOrder, at: number): void {
    const { events, log, settings, tell, changed } = this.ground;
    switch (order.type) {
      case 'status.post':
        changed();
        break;
      case 'node.event': {
        const object = nodeNamed(settings.nodeName);
        events.record({ object, at, type: 'Normal', reason: NODE_SHUTDOWN, message: order.message });
        break;
      }
      case 'logind.connect':
        void this.keeper.connect();
        break;
      case 'logind.raise':
        void this.keeper.raise(order.delayMs);
        break;
      case 'lock.take':
        void this.keeper.lock();
        break;
      case 'lock.release':
        this.awaited = null;
        void this.keeper.release();
        break;
      case 'statuses.await':
        this.awaited = order.uids;
        break;
      case 'pod.end': {
        const { uid, graceSeconds } = order;
        log.info(
          { pod: `${order.namespace}/${order.name}`, podUID: uid, gracePeriod: graceSeconds },
          'Shutdown manager killing pod with gracePeriod',
        );
        const end = { reason: TERMINATED, message: TERMINATED_MESSAGE, gracePeriodSeconds: graceSeconds };
        tell(uid, { type: 'pod.terminate', at, order: { ...end, disruption: true } });
        break;
      }
      case 'pod.late': {
        const { uid, namespace, name } = order;
        const object = podObject({ metadata: { namespace, name, uid } });
        const message = 'Container runtime did not kill the pod within specified grace period.';
        events.record({ object, at, type: 'Warning', reason: 'ExceededGracePeriod', message });
        log.info({ pod: `${namespace}/${name}`, podUID: uid }, 'Shutdown manager failed killing pod');
        break;
      }
      case 'times.keep':
        this.keepTimes(order.startedAt, order.endedAt);
        break;
      case 'log':
        log[order.level](order.about, order.text);
        break;
    }
  }

  private keepTimes(startedAt: number, endedAt: number | null): void {
    const { log, metrics } = this.ground;
    metrics.shutdownStart.set(Math.floor(startedAt / 1000));
    metrics.shutdownEnd.set(endedAt === null ? 0 : Math.floor(endedAt / 1000));
    try {
      this.times.store({ startedAt, endedAt });
    } catch (err) {
      log.error({ err }, 'Failed to store graceful shutdown state');
    }
  }
}

/**
 * Graceful node shutdown (kubelet's pkg/kubelet/nodeshutdown): holds the machine up while pods end group by group. Does nothing
 * when no time is configured, or gate GracefulNodeShutdown is off.
 */
export function shutdownManager(ground: ShutdownGround) {
  const { config, featureGates } = ground;
  const groups = configuredGroups(config, featureGates.enabled('GracefulNodeShutdownBasedOnPodPriority'));
  if (!featureGates.enabled('GracefulNodeShutdown') || groups.length === 0) return { name: 'shutdown' };
  const manager = new Shutdown(ground, groups);
  return {
    name: 'shutdown',
    start: () => manager.start(),
    stop: () => manager.stop(),
    notReady: () => manager.notReady(),
    refuses: (_pod: Pod) => manager.refuses(),
  };
}
