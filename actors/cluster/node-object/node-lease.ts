import type { Logger } from 'pino';
import { ActorletError } from '../../../machines/errors/define.ts';
import { nodeObjectErrors } from '../../../machines/errors/node-object-errors.ts';
import { maySkipPause, newLeaseState } from '../../../machines/node-object/lease-machine.ts';
import type { LeaseMessage, LeaseOrder, LeaseState } from '../../../machines/node-object/lease-machine.ts';
import { LEASE_NAMESPACE, renewedLease } from '../../../machines/node-object/node-lease.ts';
import type { Lease } from '../../../machines/node-object/node-lease.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { SingleMachine } from '../../record/host/single-machine.ts';
import type { JournalSettings } from '../../record/journal/machine-journal.ts';
import { lease as leaseMachine } from '../../record/machines/lease.ts';
import { ApiStatusError } from '../api/api-client.ts';
import type { ApiClient, ApiRequest } from '../api/api-client.ts';

const LEASES = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases', namespace: LEASE_NAMESPACE };

/** What the heartbeat is made from. */
export interface NodeLeaseOptions {
  api: ApiClient;
  nodeName: string;
  /** UID of the node object, undefined while there is none: then there is no lease either. */
  nodeUid: () => string | undefined;
  /** `nodeLeaseDurationSeconds`. */
  durationSeconds: number;
  log: Logger;
  now: () => number;
  /** Where its messages are journaled; absent with `--no-journal`. */
  journal?: JournalSettings;
  /** In [0, 1), to spread pauses by; Math.random unless given. */
  random?: () => number;
}

type Came = Extract<LeaseMessage, { type: 'lease.answered' }>['came'];

/**
 * The node's heartbeat: the lease `kube-node-lease/<node>`, renewed each quarter of its duration. What is asked when is decided by
 * `machines/node-object/lease-machine.ts`.
 */
export class NodeLease {
  private readonly options: NodeLeaseOptions;
  private readonly random: () => number;
  private readonly machine: SingleMachine<LeaseState, LeaseMessage, LeaseOrder>;
  private readonly ending = new AbortController();
  /** As last written, and as last read. */
  private readonly leases: { known: Lease | null; found: Lease | null } = { known: null, found: null };
  private timer: NodeJS.Timeout | undefined;
  private asking: Promise<void> | undefined;
  private problem: unknown;
  /** Of the node object, when the renewal under way began. */
  private nodeUid = '';
  private started = false;

  constructor(options: NodeLeaseOptions) {
    this.options = options;
    const { durationSeconds, journal = null, random = Math.random } = options;
    this.random = random;
    this.machine = new SingleMachine(leaseMachine, newLeaseState(durationSeconds), journal);
  }

  /** Renews now and from then on. `fresh`: the node object is new, so there is likely no lease yet. */
  start(fresh: boolean): void {
    if (this.started) return;
    this.started = true;
    this.take({ type: 'lease.start', at: this.options.now(), fresh });
    this.due();
  }

  /** The server answers again: a renewal that failed is tried now. */
  retryNow(): void {
    if (maySkipPause(this.machine.state)) this.due();
  }

  /** Ends the renewals; the lease runs out by itself. */
  async stop(): Promise<void> {
    this.ending.abort();
    clearTimeout(this.timer);
    await this.asking;
    this.close();
  }

  /** Closes the journal without a word, as a death does. */
  close(): void {
    this.machine.close();
  }

  private due(): void {
    clearTimeout(this.timer);
    const uid = this.options.nodeUid();
    if (this.machine.state.asks === null) this.nodeUid = uid ?? '';
    this.take({ type: 'lease.due', at: this.options.now(), node: uid !== undefined, chance: this.random() });
  }

  private take(message: LeaseMessage): void {
    if (this.ending.signal.aborted) return;
    let orders: LeaseOrder[];
    try {
      orders = this.machine.take(message);
    } catch (error) {
      const params = { machine: 'lease', problem: messageOf(error) };
      const err = new ActorletError(nodeObjectErrors.stepFailed, params, { cause: error });
      this.options.log.error({ err }, 'The lease machine failed');
      // A node without a heartbeat is given up by the node controller.
      this.wait(this.options.durationSeconds * 250);
      return;
    }
    for (const order of orders) this.machine.carriedOut(order, this.options.log, (its) => this.carryOut(its));
  }

  private carryOut(order: LeaseOrder): void {
    switch (order.type) {
      case 'lease.put':
        return this.ask('known', { method: 'PUT', on: LEASES, name: this.options.nodeName }, this.leases[order.base]);
      case 'lease.get':
        return this.ask('found', { method: 'GET', on: LEASES, name: this.options.nodeName });
      case 'lease.post':
        return this.ask('known', { method: 'POST', on: LEASES }, null);
      case 'lease.wait':
        return this.wait(order.ms);
      case 'lease.complain': {
        const problem = order.changed ? 'the lease changed between reading and writing it' : messageOf(this.problem);
        this.options.log.warn({ problem, retryMs: order.ms }, 'Node lease could not be renewed');
      }
    }
  }

  private wait(ms: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.due(), ms);
  }

  /** Sends a request, and keeps its answer. @param base of a write: the lease to go on from, null for a new one */
  private ask(keep: 'known' | 'found', request: ApiRequest, base?: Lease | null): void {
    const body = base === undefined ? {} : { body: this.renewed(base) };
    this.asking = this.send({ ...request, ...body }).then(
      (lease) => {
        this.leases[keep] = lease;
        this.answered('ok');
      },
      (error: unknown) => {
        this.problem = error;
        this.answered(cameOf(error));
      },
    );
  }

  private answered(came: Came): void {
    this.take({ type: 'lease.answered', at: this.options.now(), came, chance: this.random() });
  }

  private renewed(base: Lease | null): Lease {
    const { nodeName, durationSeconds, now } = this.options;
    return renewedLease(base, { name: nodeName, uid: this.nodeUid }, durationSeconds, now());
  }

  private async send(request: ApiRequest): Promise<Lease> {
    const timeoutMs = Math.min(10_000, this.options.durationSeconds * 1000);
    const lease = await this.options.api.request<Lease>({ ...request, timeoutMs, signal: this.ending.signal });
    delete lease.metadata['managedFields'];
    return lease;
  }
}

function cameOf(error: unknown): Came {
  if (!(error instanceof ApiStatusError)) return 'failed';
  if (error.reason === 'AlreadyExists') return 'exists';
  if (error.status === 404) return 'none';
  return error.status === 409 ? 'conflict' : 'failed';
}
