import { dirname } from 'node:path';
import type { Logger } from 'pino';
import type { CgroupLimits } from '../../../machines/cgroups/cgroup-limits.ts';
import { ActorletError } from '../../../machines/errors/define.ts';
import { hostErrors } from '../../../machines/errors/host-errors.ts';
import type { QosCgroups } from '../../../machines/qos/pod-cgroup.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import type { CgroupHost } from '../files/cgroup-host.ts';
import type { CgroupDriver } from './driver.ts';
import { MIN_SHARES } from './cgroups.ts';
import { lackOf, shownName } from './cgroup-presence.ts';

/** Time from one try to limit all pods together to the next, ms (kubelet's enforceNodeAllocatableCgroups). */
const RETRY_MS = 60_000;

/** A cgroup of the system's or of Kubernetes' services that is to be kept within what is reserved for it. */
export interface ReservedCgroup {
  /** `system reserved` or `kube reserved`, as in kubelet's events. */
  what: string;
  /** As configured, which is what events say. */
  name: string;
  path: string;
  /** Null: nothing is reserved for it, though it is to be kept within that. */
  limits: CgroupLimits | null;
  /** Only what there can be too little of without harm. */
  compressible: boolean;
}

/** What the node's own cgroups should be. */
export interface NodeCgroupsOptions {
  driver: CgroupDriver;
  host: CgroupHost;
  qos: QosCgroups;
  /** Of all pods together. */
  limits: CgroupLimits;
  /** Of burstable pods together, and of best-effort ones. */
  tier: CgroupLimits;
  reserved: readonly ReservedCgroup[];
  log: Logger;
}

/** An event of the node, for the API server. */
export type NodeCgroupEvent = { type: 'Normal' | 'Warning'; reason: string; message: string };

/** The cgroups above those of pods: made before the first pod comes, limited while the agent works. */
export class NodeCgroups {
  private readonly options: NodeCgroupsOptions;
  private timer: NodeJS.Timeout | undefined;
  private working: Promise<void> = Promise.resolve();

  constructor(options: NodeCgroupsOptions) {
    this.options = options;
  }

  /**
   * Makes the cgroup of all pods and those of burstable and best-effort pods in it, or brings them back to what they should be. A limit
   * that the kernel refuses holds up nothing: {@link enforce} tries it again.
   *
   * @throws ActorletError when the one that they are to be in is not there (HOST033) or one cannot be made (HOST006, HOST020, HOST021)
   */
  async make(): Promise<void> {
    const { driver, host, qos, limits, tier, log } = this.options;
    const root = dirname(qos.kubepods);
    const lack = root === '/' ? null : lackOf(host, root);
    if (lack !== null) throw new ActorletError(hostErrors.noCgroupRoot, { reason: lack });
    await driver.create(qos.kubepods);
    await driver
      .set(qos.kubepods, limits)
      .catch((error: unknown) => log.warn({ err: error, cgroup: qos.kubepods }, 'Node allocatable is not limited yet'));
    for (const path of [qos.burstable, qos.bestEffort]) await driver.create(path);
    await driver.set(qos.burstable, tier);
    await driver.set(qos.bestEffort, { ...tier, cpuShares: MIN_SHARES });
  }

  /**
   * Limits all pods together, again each minute until the kernel takes it; and, once, the system's and Kubernetes' own cgroups.
   *
   * @throws ActorletError when one of these is not there or cannot be limited (HOST032): a node without what its administrator keeps
   * for the system is none
   */
  async enforce(tell: (event: NodeCgroupEvent) => void): Promise<void> {
    this.working = this.limitPods(tell);
    for (const reserved of this.options.reserved) await this.limitReserved(reserved, tell);
  }

  async stop(): Promise<void> {
    clearTimeout(this.timer);
    await this.working;
    clearTimeout(this.timer);
  }

  private async limitPods(tell: (event: NodeCgroupEvent) => void): Promise<void> {
    const { driver, qos, limits } = this.options;
    try {
      await driver.set(qos.kubepods, limits);
      tell(ALLOCATABLE_ENFORCED);
    } catch (error) {
      tell(failed(`Failed to update Node Allocatable Limits ${shownName(qos.kubepods)}: ${messageOf(error)}`));
      this.timer = setTimeout(() => (this.working = this.limitPods(tell)), RETRY_MS);
    }
  }

  private async limitReserved(
    { what, name, path, limits, compressible }: ReservedCgroup,
    tell: (event: NodeCgroupEvent) => void,
  ): Promise<void> {
    const { driver, host } = this.options;
    try {
      if (limits === null) throw new Error(`${shownName(path)} cgroup is not configured properly`);
      const lack = lackOf(host, path);
      if (lack !== null) throw new Error(lack);
      await driver.set(path, limits);
    } catch (error) {
      const kind = `${titled(what)}${compressible ? ' Compressible' : ''}`;
      const problem = `Failed to enforce ${kind} Cgroup Limits on "${name}": ${messageOf(error)}`;
      tell(failed(problem));
      throw new ActorletError(hostErrors.notReserved, { problem }, { cause: error });
    }
    tell(enforced(`Updated limits on ${what} cgroup ${name}`));
  }
}

/** All pods together are kept within what is not reserved. */
export const ALLOCATABLE_ENFORCED = enforced('Updated Node Allocatable limit across pods');

function enforced(message: string): NodeCgroupEvent {
  return { type: 'Normal', reason: 'NodeAllocatableEnforced', message };
}

function failed(message: string): NodeCgroupEvent {
  return { type: 'Warning', reason: 'FailedNodeAllocatableEnforcement', message };
}

/** `kube reserved` -> `Kube Reserved`. */
function titled(words: string): string {
  return words.replace(/\b[a-z]/g, (first) => first.toUpperCase());
}
