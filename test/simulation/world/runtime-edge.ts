import type { ServiceError } from '@grpc/grpc-js';
import type { CriClient } from '../../../cri/client/cri-client.ts';
import type { CallOptions } from '../../../cri/client/call.ts';
import { CriError, fromServiceError } from '../../../cri/client/cri-error.ts';
import { deadlineMs } from '../../../cri/client/call.ts';
import { imageRequests, isRepeatable, runtimeRequests } from '../../../cri/client/methods.ts';
import type { ImageMethod, RuntimeMethod } from '../../../cri/client/methods.ts';
import type {
  ContainerEventResponse,
  ListContainersRequest,
  ListPodSandboxRequest,
  MessageFns,
  PullImageRequest,
} from '../../../cri/generated/runtime/v1/api.ts';
import { answerCalls } from '../../../cri/sim/answer-calls.ts';
import type { CallsInProgress } from '../../../cri/sim/answer-calls.ts';
import { factsOf } from '../../../cri/sim/call-facts.ts';
import { buildCore } from '../../../cri/sim/build-core.ts';
import { containerHandlers } from '../../../cri/sim/container-service.ts';
import { execHandlers } from '../../../cri/sim/exec-service.ts';
import { imageHandlers } from '../../../cri/sim/image-service.ts';
import { nodeHandlers } from '../../../cri/sim/node-service.ts';
import { loseAllProcesses, removeSandbox, sandboxDies } from '../../../cri/sim/sandbox-life.ts';
import { sandboxHandlers } from '../../../cri/sim/sandbox-service.ts';
import type { ExecResult, SimPlan } from '../../../cri/sim/script.ts';
import type { ContainerRecord } from '../../../cri/sim/records.ts';
import type { SimCore } from '../../../cri/sim/sim-core.ts';
import { EventFeed } from './event-feed.ts';
import type { Fact } from './facts.ts';
import type { FaultClock } from './fault-clock.ts';
import { hashOf } from './random.ts';
import type { RecordLists } from '../../../cri/sim/record-lists.ts';
import { runtimeLists } from './runtime-lists.ts';
import type { Owner, VirtualTime } from './virtual-time.ts';
import { watchRecords } from './watch-records.ts';

/** What the runtime's edge is made from. */
export interface RuntimeEdgeOptions {
  time: VirtualTime;
  faults: FaultClock;
  seed: number;
  plan: SimPlan;
  timeoutMs: number;
  tell: (fact: Fact) => void;
  /** The answer to a command in a container. */
  exec: (record: ContainerRecord, command: readonly string[]) => ExecResult | undefined;
}

type Method = RuntimeMethod | ImageMethod;
type Service = (
  call: { request: object; on: (event: string, listener: () => void) => void },
  callback: (error: ServiceError | null, answer?: unknown) => void,
) => void;

interface Pending {
  owner: Owner;
  fail: (code: 'Unavailable') => void;
  cancel: () => void;
}

const NO_CALL = undefined as never;

/** Calls that only look. */
const LOOKS: ReadonlySet<string> = new Set<Method>(['status', 'version', 'listPodSandbox', 'listContainers']);
/** As the real client: how long a call is repeated while the runtime is away, and the pause between, ms. */
const RETRY_MS = 1_500;
const PAUSE_MS = 100;
/** When a pull that makes no progress is ended by the runtime (containerd's `image_pull_progress_timeout`), ms. */
const STUCK_PULL_MS = 300_000;

/** The simulated runtime's own logic behind clients of the agent's interface; a wire that can be slow, lost or cut lies between. */
export class RuntimeEdge {
  readonly core: SimCore;
  readonly owner: Owner = { name: 'runtime', alive: true };
  readonly feed: EventFeed;
  /** Ids of all containers that ever were, by pod UID. */
  down = false;
  private readonly options: RuntimeEdgeOptions;
  private readonly services: Record<string, Service>;
  private readonly inProgress: CallsInProgress = new Set();
  private readonly pending = new Set<Pending>();
  private readonly counts = new Map<string, number>();
  private readonly lists: RecordLists;
  private readonly looks: ReturnType<typeof nodeHandlers>;

  constructor(options: RuntimeEdgeOptions) {
    this.options = options;
    const { time, seed, plan } = options;
    this.core = time.as(this.owner, false, () => buildCore(plan, seed));
    const { core } = this;
    // No log is written: nobody reads one here.
    Object.assign(core.logs, { create: () => undefined, write: () => undefined, close: () => undefined });
    Object.assign(core.exec, { next: options.exec });
    this.feed = new EventFeed(core, options);
    this.lists = runtimeLists(core);
    this.looks = nodeHandlers(core);
    watchRecords(core, (fact) => {
      time.busy();
      options.tell(fact);
    });
    const runtime = {
      ...sandboxHandlers(core),
      ...containerHandlers(core),
      ...execHandlers(core),
      ...this.looks,
    };
    this.services = {
      ...answerCalls(core, runtime, this.inProgress),
      ...answerCalls(core, imageHandlers(core), this.inProgress),
    } as unknown as Record<string, Service>;
  }

  /** A client whose answers come to `owner`, as long as he lives. */
  client(owner: Owner): CriClient {
    const calls = (requests: object): Record<string, unknown> =>
      Object.fromEntries(
        Object.entries(requests).map(([method, codec]) => [
          method,
          (partial: object, options?: CallOptions) =>
            this.call(owner, method as Method, (codec as MessageFns<object>).fromPartial(partial), options),
        ]),
      );
    return {
      runtime: calls(runtimeRequests),
      image: calls(imageRequests),
      containerEvents: (signal?: AbortSignal): AsyncIterable<ContainerEventResponse> =>
        this.feed.listen(owner, signal, () => this.down),
      waitReady: () => Promise.reject(new Error('not simulated')),
      close: () => undefined,
    } as unknown as CriClient;
  }

  /** The runtime goes away for so long. Containers live on unless `keepContainers` is false. */
  restart(downMs: number, keepContainers: boolean): void {
    const { time } = this.options;
    if (this.down) return;
    this.down = true;
    time.busy();
    this.feed.cut();
    for (const call of [...this.inProgress]) call.abort();
    for (const pending of [...this.pending]) pending.fail('Unavailable');
    if (!keepContainers) loseAllProcesses(this.core);
    time.after(downMs, this.owner, () => (this.down = false), false);
  }

  /** All calls of somebody who died are cut. */
  hangUp(owner: Owner): void {
    for (const pending of [...this.pending]) {
      if (pending.owner !== owner) continue;
      this.pending.delete(pending);
      pending.cancel();
    }
  }

  /** A running container of that pod ends by itself. */
  kill(uid: string, container: string, code: number, reason: string): boolean {
    for (const record of this.core.containers.byId.values()) {
      if (record.metadata.name !== container || record.sandbox.metadata.uid !== uid || record.state !== 1) continue;
      this.core.processes.exit(record, code, reason);
      return true;
    }
    return false;
  }

  /** The pod's sandbox dies with its containers. */
  killSandbox(uid: string): boolean {
    for (const record of this.core.sandboxes.byId.values()) {
      if (record.metadata.uid !== uid || record.state !== 0) continue;
      sandboxDies(this.core, record, true);
      return true;
    }
    return false;
  }

  /** The pod's newest sandbox is removed with all that is in it. */
  removeSandbox(uid: string): void {
    const record = [...this.core.sandboxes.byId.values()].findLast(({ metadata }) => metadata.uid === uid);
    if (record !== undefined) removeSandbox(this.core, record);
  }

  private call(owner: Owner, method: Method, request: object, options: CallOptions = {}): Promise<unknown> {
    const { time, faults, timeoutMs } = this.options;
    const rpc = method.charAt(0).toUpperCase() + method.slice(1);
    if (!LOOKS.has(method) && !(method === 'execSync' && time.quiet)) time.busy();
    const fault = faults.strikes('cri', ({ rpcs }) => rpcs.includes('*') || rpcs.includes(rpc));
    const limit = options.timeoutMs ?? deadlineMs(method, request, timeoutMs);
    const pulls = method === 'pullImage' ? rightOf(request as PullImageRequest) : null;
    const tellPull = (change: 'asked' | 'answered'): void => {
      if (pulls !== null) this.options.tell({ f: 'pull', change, by: owner, right: pulls });
    };
    tellPull('asked');
    return new Promise((resolve, reject) => {
      let settled = false;
      const cancels: (() => void)[] = [];
      const settle = (action: () => void): void => {
        if (settled) return;
        settled = true;
        this.pending.delete(pending);
        time.cancel(late);
        options.signal?.removeEventListener('abort', aborted);
        tellPull('answered');
        action();
      };
      const refuse = (error: Error): void => settle(() => reject(error));
      const cancel = (): void => cancels.forEach((each) => each());
      const pending: Pending = {
        owner,
        cancel,
        fail: (code) => {
          this.pending.delete(pending);
          time.after(1, owner, () => refuse(new CriError(rpc, code, 'error reading from server: EOF')));
        },
      };
      const aborted = (): void => {
        cancel();
        refuse(new CriError(rpc, 'Canceled', 'context canceled'));
      };
      // A look is answered at once, unless a fault holds it back.
      const late =
        limit === Infinity || (fault === undefined && LOOKS.has(method))
          ? undefined
          : time.after(limit, owner, () => {
              cancel();
              refuse(new CriError(rpc, 'DeadlineExceeded', 'context deadline exceeded'));
            });
      if (options.signal?.aborted === true) return aborted();
      options.signal?.addEventListener('abort', aborted, { once: true });
      this.pending.add(pending);
      if (fault?.how === 'hang') {
        // The agent gives a pull no deadline; the runtime does.
        if (method === 'pullImage')
          time.after(STUCK_PULL_MS, owner, () => refuse(new CriError(rpc, 'Canceled', 'context canceled')));
        return;
      }
      // A call that takes long sees the runtime as it is at its beginning, or at its end.
      const slowBy = fault?.how === 'slow' ? this.latency(rpc, 'slow', 20_000) : 0;
      const slowThere = slowBy % 2 === 1;
      const answered = (error: ServiceError | null, answer: unknown): void => {
        const back = this.latency(rpc, 'back') + (slowThere ? 0 : slowBy);
        time.after(back, owner, () => {
          if (fault?.how === 'lost') refuse(new CriError(rpc, 'Unavailable', 'error reading from server: EOF'));
          else if (error !== null) refuse(fromServiceError(rpc, error));
          else settle(() => resolve(answer));
        });
      };
      const send = (tries: number): void => {
        if (settled) return;
        if (this.down) {
          const retry = options.retryMs ?? RETRY_MS;
          if (tries * PAUSE_MS < retry) time.after(PAUSE_MS, owner, () => send(tries + 1));
          else refuse(new CriError(rpc, 'Unavailable', 'connection error: desc = "transport: connect: no such file"'));
          return;
        }
        if (fault?.how === 'fail') {
          time.after(1, owner, () => refuse(new CriError(rpc, 'Unknown', 'a fault of the simulation')));
          return;
        }
        this.act(method, rpc, request, cancels, answered);
        if (fault?.how === 'twice' && isRepeatable(method))
          time.after(this.latency(rpc, 'again', 3_000), this.owner, () => {
            if (!this.down) this.act(method, rpc, request, [], () => undefined);
          });
      };
      time.after(this.latency(rpc, 'to') + (slowThere ? slowBy : 0), this.owner, () => send(0));
    });
  }

  private act(
    method: Method,
    rpc: string,
    request: object,
    cancels: (() => void)[],
    answered: (error: ServiceError | null, answer?: unknown) => void,
  ): void {
    const { core } = this;
    const look = this.look(method, request);
    if (look !== undefined) return answered(null, look);
    if (!LOOKS.has(method)) {
      const {
        containerId = '',
        podSandboxId = '',
        config,
      } = request as {
        containerId?: string;
        podSandboxId?: string;
        config?: { metadata?: { uid?: string } };
      };
      const container = core.containers.find(containerId);
      const sandbox = container?.sandbox ?? core.sandboxes.find(podSandboxId);
      const uid = sandbox?.metadata.uid ?? config?.metadata?.uid ?? '';
      this.options.tell({ f: 'call', rpc, uid, request, container, sandbox });
    }
    this.services[method]?.({ request, on: (_event, listener) => cancels.push(listener) }, answered);
  }

  /** Small times differ from call to call, but not with the calls of others: each draws by its own count. */
  private latency(rpc: string, what: string, most = 8): number {
    if (this.options.time.ticking) return 1;
    const key = `${rpc}/${what}`;
    const count = (this.counts.get(key) ?? 0) + 1;
    this.counts.set(key, count);
    return 1 + (hashOf(key, this.options.seed ^ (count * 2654435761)) % most);
  }

  /** The answer to a call that only looks: without the way through promises that calls of the runtime take. */
  private look(method: Method, request: object): unknown {
    switch (method) {
      case 'listContainers':
        return this.lists.containers((request as ListContainersRequest).filter);
      case 'listPodSandbox':
        return this.lists.sandboxes((request as ListPodSandboxRequest).filter);
      case 'status':
        return this.looks.status(request as never, NO_CALL);
      default:
        return undefined;
    }
  }
}

/** What a pull is made with. */
function rightOf({ image, auth }: PullImageRequest): string {
  return JSON.stringify([image?.image, image?.runtimeHandler, auth?.username, auth?.password]);
}

/** Who a call is about, for those who look on. */
export const callFacts = factsOf;
