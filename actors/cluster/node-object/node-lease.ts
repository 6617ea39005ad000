import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { LEASE_NAMESPACE, renewedLease } from '../../../machines/node-object/node-lease.ts';
import type { Lease } from '../../../machines/node-object/node-lease.ts';
import { BackOff } from '../../../machines/values/back-off.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { ApiStatusError } from '../api/api-client.ts';
import type { ApiClient, ApiRequest } from '../api/api-client.ts';

const LEASES = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases', namespace: LEASE_NAMESPACE };

/** Share of the lease's duration after which it is renewed. */
const RENEW_SHARE = 0.25;
/** Renewals are spread by up to this share, so that many nodes do not beat at once. */
const JITTER = 0.04;

/** Pauses before registration and heartbeat are tried again (kubelet's). */
export const NODE_RETRIES = { firstMs: 200, maxMs: 7_000 };

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
}

/** The node's heartbeat: the lease `kube-node-lease/<node>`, renewed each quarter of its duration. */
export class NodeLease {
  private readonly options: NodeLeaseOptions;
  private readonly ending = new AbortController();
  private failing = false;
  private pause: AbortController | undefined;
  private latest: Lease | null = null;
  private running: Promise<void> | undefined;

  constructor(options: NodeLeaseOptions) {
    this.options = options;
  }

  /** Renews now and from then on. `fresh`: the node object is new, so there is likely no lease yet. */
  start(fresh: boolean): void {
    this.running ??= this.run(fresh);
  }

  /** The server answers again: a renewal that failed is tried now. */
  retryNow(): void {
    if (this.failing) this.pause?.abort();
  }

  /** Ends the renewals; the lease runs out by itself. */
  async stop(): Promise<void> {
    this.ending.abort();
    await this.running;
  }

  private async run(fresh: boolean): Promise<void> {
    const { signal } = this.ending;
    const backOff = new BackOff(NODE_RETRIES);
    let create = fresh;
    while (!signal.aborted) {
      let pause = this.options.durationSeconds * 1000 * RENEW_SHARE * (1 + Math.random() * JITTER);
      try {
        await this.renew(create);
        create = false;
        this.failing = false;
        backOff.reset();
      } catch (error) {
        if (signal.aborted) return;
        this.failing = true;
        pause = Math.min(pause, backOff.next());
        this.options.log.warn({ problem: messageOf(error), retryMs: pause }, 'Node lease could not be renewed');
      }
      this.pause = new AbortController();
      await sleep(pause, undefined, { signal: AbortSignal.any([signal, this.pause.signal]) }).catch(() => undefined);
    }
  }

  /** One renewal: the last known lease is written; when that is not there or not the latest, it is read or made first. */
  private async renew(create: boolean): Promise<void> {
    const uid = this.options.nodeUid();
    if (uid === undefined) return;
    if (this.latest !== null && (await this.write(this.latest, uid))) return;
    const base = create ? null : await this.read();
    if (base !== null) {
      if (await this.write(base, uid)) return;
      throw new ApiStatusError(409, 'Conflict', 'the lease changed between reading and writing it');
    }
    try {
      this.latest = await this.send({ method: 'POST', on: LEASES, body: this.lease(null, uid) });
    } catch (error) {
      if (!(error instanceof ApiStatusError) || error.reason !== 'AlreadyExists') throw error;
      const found = await this.read();
      if (found !== null) await this.write(found, uid);
    }
  }

  /** False when the lease is gone or was written by somebody else meanwhile. */
  private async write(base: Lease, uid: string): Promise<boolean> {
    const name = this.options.nodeName;
    try {
      this.latest = await this.send({ method: 'PUT', on: LEASES, name, body: this.lease(base, uid) });
      return true;
    } catch (error) {
      if (!(error instanceof ApiStatusError) || (error.status !== 404 && error.status !== 409)) throw error;
      this.latest = null;
      return false;
    }
  }

  private async read(): Promise<Lease | null> {
    try {
      return await this.send({ method: 'GET', on: LEASES, name: this.options.nodeName });
    } catch (error) {
      if (error instanceof ApiStatusError && error.status === 404) return null;
      throw error;
    }
  }

  private lease(base: Lease | null, uid: string): Lease {
    const { nodeName, durationSeconds, now } = this.options;
    return renewedLease(base, { name: nodeName, uid }, durationSeconds, now());
  }

  private async send(request: ApiRequest): Promise<Lease> {
    const timeoutMs = Math.min(10_000, this.options.durationSeconds * 1000);
    const lease = await this.options.api.request<Lease>({ ...request, timeoutMs, signal: this.ending.signal });
    delete lease.metadata['managedFields'];
    return lease;
  }
}
