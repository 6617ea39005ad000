import type { Logger } from 'pino';
import type { CriClient } from '../../../cri/client/cri-client.ts';
import { ContainerState } from '../../../cri/generated/runtime/v1/api.ts';
import type {
  ContainerGcContext,
  ContainerGcMessage,
  ContainerGcOrder,
  ContainerGcPolicy,
  Fate,
} from '../../../machines/container-gc/container-gc-context.ts';
import { containerGcMachine } from '../../../machines/container-gc/container-gc-machine.ts';
import { removal } from '../../../machines/container-gc/container-gc-step.ts';
import type { Look } from '../../../machines/container-gc/container-gc-step.ts';
import { bornSnapshot } from '../../../machines/machine-step/step.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { nodeNamed } from '../../../machines/protocol/recorded-event.ts';
import type { RecordedEvent } from '../../../machines/protocol/recorded-event.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { idOfLogLink, uidOfLogFolder } from '../../host/logs/pod-logs.ts';
import type { PodLogs } from '../../host/logs/pod-logs.ts';
import type { Clock, Timer } from '../../host/time/clock.ts';
import { lookEach } from '../../host/time/clock.ts';
import { SingleMachine } from '../../record/host/single-machine.ts';
import type { JournalSettings } from '../../record/journal/machine-journal.ts';
import { containerGc } from '../../record/machines/container-gc.ts';
import type { ContainerGcSnapshot } from '../../record/machines/container-gc.ts';
import { passSpan } from '../../record/tracing/pass-span.ts';
import type { Spans } from '../../record/tracing/spans.ts';
import { fateOf, isEndedByNode } from './pod-fate.ts';
import { removeContainer } from './remove-container.ts';
import { deadContainers, listedSandboxes, uidOf } from './seen-containers.ts';
import type { KnownPods } from './seen-containers.ts';

/** Time between two passes, ms (kubelet ContainerGCPeriod). */
const PERIOD_MS = 60_000;

/** What the collector of containers is made from. */
export interface ContainerGcOptions {
  policy: ContainerGcPolicy;
  settings: { nodeName: string };
  cri: Pick<CriClient, 'runtime'>;
  clock: Clock;
  log: Logger;
  events: { record: (event: RecordedEvent) => void };
  journal: JournalSettings | null;
  /** With their newest status. */
  pods: () => readonly Pod[];
  stateOf: (uid: string) => string | null;
  sourcesReady: () => boolean;
  /** The API server, if there is one, knows the newest status of this pod. */
  heardOf: (uid: string) => boolean;
  podLogs: PodLogs;
  /** Absent where nothing is traced. */
  spans?: Spans;
}

/** Hosts the collector of containers: looks at the runtime and the folders of logs, and removes what it says. */
export class ContainerGcManager {
  readonly name = 'container GC';
  private readonly options: ContainerGcOptions;
  private readonly machine: SingleMachine<ContainerGcSnapshot, ContainerGcMessage, ContainerGcOrder>;
  private timer: Timer | undefined;
  private stopped = false;
  /** Passes follow each other. */
  private last: Promise<unknown> = Promise.resolve();

  constructor(options: ContainerGcOptions) {
    this.options = options;
    const born = bornSnapshot(containerGcMachine, undefined) as ContainerGcSnapshot;
    this.machine = new SingleMachine(containerGc, born, options.journal);
  }

  start(): void {
    const { clock, policy } = this.options;
    this.take({ type: 'gc.start', at: clock.now(), policy });
    const begin = (): void => void this.pass(false);
    this.timer = lookEach(clock, PERIOD_MS, begin);
    begin();
  }

  stop(): void {
    this.stopped = true;
    this.timer?.cancel();
    this.machine.close();
  }

  /** What it gives back when the node runs short: all containers of pods that have ended (kubelet DeleteAllUnusedContainers). */
  readonly reclaim = {
    containers: async (): Promise<void> => {
      this.options.log.info('Attempting to delete unused containers');
      const problem = await this.pass(true);
      if (problem !== null) throw new Error(problem);
    },
  };

  /** One pass, after those that are under way; what it failed at, null when it did not. Never rejects. */
  private pass(all: boolean): Promise<string | null> {
    const pass = this.last
      .then(() => this.traced(all))
      .catch((error: unknown) => {
        // The machine itself failed, and keeps its state; passes go on.
        this.options.log.error({ err: error }, 'A pass of container garbage collection failed');
        return messageOf(error);
      });
    this.last = pass;
    return pass;
  }

  /** A pass with the calls of the runtime in its span, one for a node that runs short too. */
  private async traced(all: boolean): Promise<string | null> {
    const { spans } = this.options;
    if (spans === undefined) return this.collect(all);
    const span = passSpan(spans, 'containers');
    try {
      return await span.within(() => this.collect(all));
    } finally {
      span.end();
    }
  }

  private async collect(all: boolean): Promise<string | null> {
    for (const look of [() => this.containers(all), () => this.sandboxes(all), () => this.logs()]) {
      try {
        await this.see(await look());
      } catch (error) {
        this.take({ type: 'gc.failed', at: this.options.clock.now(), problem: messageOf(error) });
      }
    }
    const { problems, failure: before } = this.context;
    if (problems.length > 0 || before !== null) this.take({ type: 'pass.ended', at: this.options.clock.now() });
    const { failure } = this.context;
    // Once it went wrong, it is worth saying that it went well.
    if (failure === null)
      this.options.log.info({ v: before === null ? 4 : 1 }, 'Container garbage collection succeeded');
    return this.stopped ? 'the agent ends' : failure;
  }

  private get context(): ContainerGcContext {
    return this.machine.state.context;
  }

  private async containers(all: boolean): Promise<Look> {
    const { cri, clock, sourcesReady } = this.options;
    const { containers } = await cri.runtime.listContainers({});
    const dead = deadContainers(containers, this.known(all));
    return { type: 'containers.listed', at: clock.now(), all, ready: sourcesReady(), dead };
  }

  private async sandboxes(all: boolean): Promise<Look> {
    const { cri, clock } = this.options;
    const sandboxes = await listedSandboxes(cri, () => this.known());
    return { type: 'sandboxes.listed', at: clock.now(), all, sandboxes };
  }

  private async logs(): Promise<Look> {
    const { cri, clock, podLogs, sourcesReady } = this.options;
    const [names, links] = [await podLogs.folders(), await podLogs.deadLinks()];
    const { containers } = await cri.runtime.listContainers({});
    const states = new Map(containers.map(({ id, state }) => [id, state]));
    const held = new Set(containers.map(uidOf));
    const { fate } = this.known();
    // What the runtime still holds of a pod is removed first, by whoever ends it.
    const becomes = (uid: string): Fate => (held.has(uid) ? 'lives' : fate(uid));
    const ended = (id: string): boolean =>
      (states.get(id) ?? ContainerState.CONTAINER_EXITED) === ContainerState.CONTAINER_EXITED;
    return {
      ...{ type: 'logs.listed', at: clock.now(), ready: sourcesReady() },
      folders: names.map((name) => ({ name, fate: becomes(uidOfLogFolder(name)) })),
      links: links.map((name) => ({ name, ended: ended(idOfLogLink(name)) })),
    };
  }

  /** What is known of pods at this moment. `all`: the node runs short, and waits for nobody. */
  private known(all = false): KnownPods {
    const { pods, stateOf, sourcesReady, heardOf } = this.options;
    const ready = sourcesReady();
    const byUid = new Map(pods().map((pod) => [pod.metadata?.uid ?? '', pod]));
    const pod = (uid: string): Pod | undefined => byUid.get(uid);
    const owes = (uid: string): boolean => !all && stateOf(uid) !== null && !isEndedByNode(pod(uid)) && !heardOf(uid);
    return { pod, fate: (uid) => fateOf(stateOf(uid), pod(uid), ready), owes };
  }

  /** A look of which nothing follows is told to nobody: there is one each minute. */
  private async see(look: Look): Promise<void> {
    if (this.stopped || removal(this.context, look) === null) return;
    const lived = livingIn(look);
    // A pass takes its time, and an API server's list may lag behind its watch: a pod can come that was taken for gone.
    const came = (uid: string): boolean => !lived.has(uid) && this.lives(uid);
    for (const order of this.take(look)) await this.remove(order, came);
    this.take({ type: 'gc.removed', at: this.options.clock.now() });
  }

  private take(message: ContainerGcMessage): ContainerGcOrder[] {
    if (this.stopped) return [];
    const orders = this.machine.take(message);
    for (const order of orders) if (order.type === 'event.Record') this.tellFailure(order.message, message.at);
    return orders;
  }

  private tellFailure(message: string, at: number): void {
    const { log, events, settings } = this.options;
    const { nodeName: name } = settings;
    log.error({ problem: message }, 'Container garbage collection failed');
    const object = nodeNamed(name);
    events.record({ object, at, type: 'Warning', reason: 'ContainerGCFailed', message });
  }

  private lives(uid: string): boolean {
    const { stateOf, sourcesReady } = this.options;
    return fateOf(stateOf(uid), undefined, sourcesReady()) === 'lives';
  }

  /** @param came the pod lives, and was taken for one that does not */
  private async remove(order: ContainerGcOrder, came: (uid: string) => boolean): Promise<void> {
    const { cri, podLogs } = this.options;
    switch (order.type) {
      case 'containers.Remove':
        for (const doomed of order.containers) {
          if (came(doomed.uid)) continue;
          await this.tried({ containerID: doomed.id, podUID: doomed.uid }, 'container', async () => {
            await removeContainer(cri, podLogs, doomed);
          });
        }
        break;
      case 'sandboxes.Remove':
        for (const { id: podSandboxId, uid } of order.sandboxes) {
          if (came(uid)) continue;
          await this.tried({ sandboxID: podSandboxId, podUID: uid }, 'sandbox', async () => {
            await cri.runtime.stopPodSandbox({ podSandboxId });
            await cri.runtime.removePodSandbox({ podSandboxId });
          });
        }
        break;
      case 'logs.Remove':
        for (const name of order.folders) {
          if (came(uidOfLogFolder(name))) continue;
          await this.tried({ path: name }, 'pod logs directory', () => podLogs.removeFolder(name));
        }
        for (const name of order.links)
          await this.tried({ path: name }, 'container log dead symlink', () => podLogs.removeLink(name));
        break;
      case 'event.Record':
        break;
    }
  }

  /** What cannot be removed holds up nothing else, and is tried again in the next pass. */
  private async tried(about: object, what: string, remove: () => Promise<void>): Promise<void> {
    if (this.stopped) return;
    const { log } = this.options;
    try {
      await remove();
      log.info({ ...about, v: 4 }, `Removed ${what}`);
    } catch (err) {
      log.error({ ...about, err }, `Failed to remove ${what}`);
    }
  }
}

/** UIDs of the pods of which a look says that they live. */
function livingIn(look: Look): ReadonlySet<string> {
  const living = judgedIn(look).filter(({ fate }) => fate === 'lives');
  return new Set(living.map(({ uid }) => uid));
}

function judgedIn(look: Look): readonly { uid: string; fate: Fate }[] {
  if (look.type === 'containers.listed') return look.dead;
  if (look.type === 'sandboxes.listed') return look.sandboxes;
  return look.folders.map(({ name, fate }) => ({ uid: uidOfLogFolder(name), fate }));
}
