import type { Logger } from 'pino';
import { ActorletError } from '../../../machines/errors/define.ts';
import { statusErrors } from '../../../machines/errors/status-errors.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { isPartOf, neededPatch, printOf } from '../../../machines/status-manager/comparison.ts';
import type { StatusMessage, StatusOrder } from '../../../machines/status-manager/status-messages.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import type { ApiClient } from '../api/api-client.ts';
import type { ApiPod, ApiPods } from './api-pods.ts';
import { deletePod, isGone, patchStatus } from './pod-requests.ts';
import { askedWaitMs, isServerTrouble } from './server-pause.ts';
import type { Compared, ToldPods } from './told-pods.ts';

/** Time that requests under way have to end when the agent stops, ms. */
const STOP_MS = 1_000;

/** What {@link StatusRequests} works with. */
export interface StatusRequestsOptions {
  api: ApiClient;
  log: Logger;
  /** Ms since the epoch. */
  now: () => number;
  /** Of the machine's messages. */
  at: () => number;
  apiPods: ApiPods;
  told: ToldPods;
  /** What became of a request. */
  tell: (message: StatusMessage) => void;
  /** A request for the pod is over, whatever became of it. */
  over: (uid: string) => void;
  /** Hears what the API server has of a pod after each patch. */
  onPatched?: (answer: Pod) => void;
  /** Hears of each failed request besides the log. */
  onError?: (error: ActorletError) => void;
}

type RequestOrder = Extract<StatusOrder, { type: 'status.patch' | 'pod.delete' }>;

/** A request that is under way. */
interface Request {
  uid: string;
  does: 'patch' | 'delete';
  api: ApiPod;
  /** Why it failed, once it did. */
  error?: unknown;
}

/** The requests that the status manager's machine has ordered: patches of statuses, and the last DELETE of a pod (kubelet: syncPod). */
export class StatusRequests {
  private readonly options: StatusRequestsOptions;
  private readonly requests = new Map<number, Request>();
  private readonly stopping = new AbortController();
  private readonly running = new Set<Promise<void>>();

  constructor(options: StatusRequestsOptions) {
    this.options = options;
  }

  /** Begins what was ordered, by what the pod's status was found to lack; nothing when the API server has no object of it. */
  begin(order: RequestOrder, compared: Compared | undefined): void {
    const { n, uid } = order;
    if (compared?.api === undefined) return;
    const { api } = compared;
    const request: Request = { uid, api, does: order.type === 'pod.delete' ? 'delete' : 'patch' };
    this.requests.set(n, request);
    const task = this.send(order, compared, api)
      .then(
        (answer) => {
          this.options.tell({ type: 'status.answered', at: this.options.at(), n, ...answer });
          if (order.type === 'pod.delete')
            this.options.log.debug({ v: 3, ...namesOf(api) }, 'Pod fully terminated and removed from etcd');
        },
        (error: unknown) => this.failed(n, request, error),
      )
      .finally(() => {
        this.requests.delete(n);
        this.running.delete(task);
        this.options.over(uid);
      });
    this.running.add(task);
  }

  /** UID of the API server's object that a request is about; '' when it is over. */
  podOf(n: number): string {
    return this.requests.get(n)?.api.uid ?? '';
  }

  /** Waits a moment for what is under way, and calls off the rest. */
  async stop(): Promise<void> {
    const late = setTimeout(() => this.stopping.abort(), STOP_MS);
    await Promise.all(this.running);
    clearTimeout(late);
    this.stopping.abort();
  }

  /** Sends a request. Resolves with what its answer comes to. */
  private async send(
    order: RequestOrder,
    { told, needed }: Compared,
    api: ApiPod,
  ): Promise<Pick<Extract<StatusMessage, { type: 'status.answered' }>, 'left' | 'overwritten'>> {
    const { log, now, onPatched, apiPods, told: toldPods } = this.options;
    const { signal } = this.stopping;
    if (order.type === 'pod.delete') {
      await deletePod(this.options.api, api, order.options, signal);
      return { left: '' };
    }
    if (needed === null) return { left: '' };
    const { patch, refused } = needed;
    const names = namesOf(api);
    if (refused.length > 0) {
      const params = { containers: refused.join(', '), pod: names.pod };
      log.error({ err: new ActorletError(statusErrors.tookBack, params) }, 'Status of a pod');
    }
    const answer = await patchStatus(this.options.api, api, patch, signal);
    log.debug({ v: 3, ...names, patch }, 'Patch status for pod');
    onPatched?.(answer);
    const answered = apiPods.takeAnswer(answer);
    const left = answered && neededPatch(told, answered, now());
    if (answered && !left) toldPods.noteShown(order.uid, told, answered);
    // What the server did not take over now it will not take over the next time either. What was not sent is not given up: the node
    // controller has set Ready to False meanwhile, say.
    if (!left) return { left: '' };
    return isPartOf(left.patch.status, patch.status) ? { left: printOf(left.patch) } : { left: '', overwritten: true };
  }

  private failed(n: number, request: Request, error: unknown): void {
    request.error = error;
    const stopped = this.stopping.signal.aborted;
    const why = stopped ? 'stopped' : isServerTrouble(error) ? 'away' : isGone(error) ? 'gone' : 'refused';
    if (why === 'gone') this.options.log.debug(namesOf(request.api), 'Pod does not exist on the server');
    const [askedMs, chance] = [askedWaitMs(error), Math.random()];
    this.options.tell({ type: 'status.failed', at: this.options.at(), n, why, askedMs, chance });
  }

  /** Logs why a request failed. */
  complain(n: number, loud: boolean): void {
    const request = this.requests.get(n);
    if (request === undefined) return;
    const { api, does, error } = request;
    const spec = does === 'patch' ? statusErrors.patchFailed : statusErrors.deleteFailed;
    const params = { pod: namesOf(api).pod, problem: messageOf(error) };
    const err = new ActorletError(spec, params, { cause: error });
    this.options.log[loud ? 'warn' : 'debug']({ err }, 'Failed to update status for pod');
    this.options.onError?.(err);
  }
}

function namesOf({ namespace, name, uid }: ApiPod): { pod: string; podUID: string } {
  return { pod: `${namespace}/${name}`, podUID: uid };
}
