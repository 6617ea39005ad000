import type { ServiceError } from '@grpc/grpc-js';
import type { CallOptions } from '../client/call.ts';
import { deadlineMs } from '../client/call.ts';
import type { CriClient } from '../client/cri-client.ts';
import { CriError, fromServiceError } from '../client/cri-error.ts';
import { imageRequests, runtimeRequests } from '../client/methods.ts';
import type { ImageMethod, RuntimeMethod } from '../client/methods.ts';
import type {
  ContainerEventResponse,
  ListContainersRequest,
  ListPodSandboxRequest,
  MessageFns,
} from '../generated/runtime/v1/api.ts';
import { answerCalls } from './answer-calls.ts';
import type { CallsInProgress } from './answer-calls.ts';
import { buildCore } from './build-core.ts';
import type { CoreParts } from './build-core.ts';
import { containerHandlers } from './container-service.ts';
import { execHandlers } from './exec-service.ts';
import { imageHandlers } from './image-service.ts';
import { nodeHandlers } from './node-service.ts';
import { RecordLists } from './record-lists.ts';
import { loseAllProcesses } from './sandbox-life.ts';
import { sandboxHandlers } from './sandbox-service.ts';
import { faultSchema } from './script.ts';
import type { SimPlan } from './script.ts';
import type { SimCore } from './sim-core.ts';
import { statsHandlers } from './stats-service.ts';
import type { Timer } from './sim-time.ts';

type Method = RuntimeMethod | ImageMethod;
type Service = (
  call: { request: object; on: (event: string, listener: () => void) => void },
  callback: (error: ServiceError | null, answer?: unknown) => void,
) => void;
type Requests = Readonly<Record<string, MessageFns<object>>>;

/** What {@link InProcessRuntime} is made from. */
export interface InProcessOptions extends CoreParts {
  plan: SimPlan;
  seed: number;
  /** The base of all deadlines, ms (`runtimeRequestTimeout`). */
  timeoutMs: number;
}

const NO_EVENTS = 'this runtime tells events to nobody';

/**
 * The simulated runtime for an agent in the same process: no socket, no protobuf. What it answers must not be changed by
 * whoever asked. Containers outlive the agent that made them.
 */
export class InProcessRuntime {
  readonly core: SimCore;
  /** The way to it; `close` ends the calls that are under way. */
  readonly client: CriClient;
  private readonly timeoutMs: number;
  private readonly services: Record<string, Service>;
  private readonly looks: ReturnType<typeof nodeHandlers>;
  private readonly lists: RecordLists;
  private readonly inProgress: CallsInProgress = new Set();
  /** Calls of clients that wait for an answer. */
  private readonly pending = new Set<() => void>();
  private down = false;

  constructor({ plan, seed, timeoutMs, ...parts }: InProcessOptions) {
    this.core = buildCore(plan, seed, parts);
    const { core, inProgress } = this;
    this.timeoutMs = timeoutMs;
    this.looks = nodeHandlers(core);
    this.lists = new RecordLists(core);
    const runtime = {
      ...sandboxHandlers(core),
      ...containerHandlers(core),
      ...execHandlers(core),
      ...statsHandlers(core),
      ...this.looks,
    };
    this.services = {
      ...answerCalls(core, runtime, inProgress),
      ...answerCalls(core, imageHandlers(core), inProgress),
    } as unknown as Record<string, Service>;
    this.client = this.makeClient();
  }

  private makeClient(): CriClient {
    const calls = (requests: object): Record<string, unknown> => {
      const made: Record<string, unknown> = {};
      for (const [method, codec] of Object.entries(requests as Requests))
        made[method] = (partial: object, options?: CallOptions) =>
          this.call(method as Method, codec.fromPartial(partial), options);
      return made;
    };
    return {
      runtime: calls(runtimeRequests),
      image: calls(imageRequests),
      containerEvents: (): AsyncIterable<ContainerEventResponse> => {
        throw new CriError('GetContainerEvents', 'Unimplemented', NO_EVENTS);
      },
      waitReady: () => this.call('version', { version: 'v1' }),
      close: () => this.hangUp(),
    } as unknown as CriClient;
  }

  /** The runtime does not answer any more, or does again: what comes meanwhile waits for its deadline. */
  setHanging(hanging: boolean): void {
    if (hanging) this.core.faults.addLive(faultSchema.parse({ match: {}, hang: 'forever' }));
    else {
      this.core.faults.dropLive('hang');
      this.core.hangs.release();
    }
  }

  /** It is gone (calls fail with Unavailable), or there again. */
  setDown(down: boolean): void {
    this.down = down;
    if (down) this.hangUp();
  }

  /** The machine was switched off: no process has survived. */
  loseAll(): void {
    loseAllProcesses(this.core);
  }

  /** Ends all timers, for good. */
  stop(): void {
    this.hangUp();
    this.core.timers.stop();
    this.core.logs.closeAll();
  }

  private hangUp(): void {
    for (const fail of [...this.pending]) fail();
    for (const call of [...this.inProgress]) call.abort();
  }

  private call(method: Method, request: object, options: CallOptions = {}): Promise<unknown> {
    const rpc = method.charAt(0).toUpperCase() + method.slice(1);
    if (this.down) {
      const problem = 'connection error: desc = "transport: Error while dialing: connect: no such file or directory"';
      return Promise.reject(new CriError(rpc, 'Unavailable', problem, { notSent: true }));
    }
    const look = this.core.faults.idle ? this.look(method, request) : undefined;
    if (look !== undefined) return Promise.resolve(look);
    return new Promise((resolve, reject) => {
      const cancels: (() => void)[] = [];
      const { signal } = options;
      let timer: Timer | undefined;
      const settle = (how: () => void): void => {
        if (!this.pending.delete(gone)) return;
        timer?.cancel();
        signal?.removeEventListener('abort', aborted);
        how();
      };
      const refuse = (error: CriError): void => settle(() => reject(error));
      const cancel = (): void => {
        for (const each of cancels) each();
      };
      const gone = (): void => refuse(new CriError(rpc, 'Unavailable', 'error reading from server: EOF'));
      const aborted = (): void => {
        cancel();
        refuse(new CriError(rpc, 'Canceled', 'context canceled'));
      };
      this.pending.add(gone);
      if (signal?.aborted === true) return aborted();
      signal?.addEventListener('abort', aborted, { once: true });
      const limit = options.timeoutMs ?? deadlineMs(method, request, this.timeoutMs);
      if (limit !== Infinity)
        timer = this.core.time.after(limit, () => {
          cancel();
          refuse(new CriError(rpc, 'DeadlineExceeded', 'context deadline exceeded'));
        });
      const answered = (error: ServiceError | null, answer?: unknown): void => {
        if (error !== null) refuse(fromServiceError(rpc, error));
        else settle(() => resolve(this.plain(method, request, answer)));
      };
      this.services[method]?.({ request, on: (_event, listener) => cancels.push(listener) }, answered);
    });
  }

  /** The lists of services are bytes, which nobody here wants. */
  private plain(method: Method, request: object, answer: unknown): unknown {
    return method === 'listContainers' || method === 'listPodSandbox' ? this.look(method, request) : answer;
  }

  /** The answer to a call that only looks, and that PLEG and others make each second. */
  private look(method: Method, request: object): unknown {
    switch (method) {
      case 'listContainers':
        return this.lists.containers((request as ListContainersRequest).filter);
      case 'listPodSandbox':
        return this.lists.sandboxes((request as ListPodSandboxRequest).filter);
      case 'status':
        return this.looks.status(request as never, undefined as never);
      default:
        return undefined;
    }
  }
}
