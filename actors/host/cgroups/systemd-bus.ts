import { setTimeout as sleep } from 'node:timers/promises';
import type { Message } from 'dbus-native';
import type { UnitProperty } from '../../../machines/cgroups/unit-properties.ts';
import { ActorletError } from '../../../machines/errors/define.ts';
import { hostErrors } from '../../../machines/errors/host-errors.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { dbusErrorName, openBus, SYSTEM_BUS } from '../dbus/open-bus.ts';
import type { BusAddress, OpenBus } from '../dbus/open-bus.ts';
import { codeOf } from '../files/host-failure.ts';
import { SystemdJobs } from './systemd-jobs.ts';

/** In the order in which they are tried, as go-systemd does. */
const ADDRESSES: readonly BusAddress[] = [SYSTEM_BUS, { socket: '/run/systemd/private', direct: true }];
/** How long systemd may take for a job, ms (libcontainer). */
const JOB_TIMEOUT_MS = 30_000;
/** How often a call is made anew whose connection was lost (systemd or the bus was restarted), and the pause before, ms. */
const TRIES = 3;
const PAUSE_MS = 200;

const MANAGER = {
  destination: 'org.freedesktop.systemd1',
  path: '/org/freedesktop/systemd1',
  interface: 'org.freedesktop.systemd1.Manager',
};
const JOB_REMOVED = `type='signal',interface='${MANAGER.interface}',member='JobRemoved'`;

/** Settings of {@link SystemdBus}, for tests. */
export interface SystemdBusOptions {
  addresses?: readonly BusAddress[];
  jobTimeoutMs?: number;
  connectMs?: number;
}

/** One connection and what is under way on it. */
interface Link {
  open: OpenBus;
  jobs: SystemdJobs;
}

/**
 * systemd's manager over D-Bus: one connection, made when it is first needed, and again when it was lost. It keeps no process
 * alive while nothing is asked. All methods may run side by side.
 */
export class SystemdBus {
  private readonly addresses: readonly BusAddress[];
  private readonly jobTimeoutMs: number;
  private readonly connectMs: number | undefined;
  private link: Promise<Link> | undefined;
  private asking = 0;

  constructor(options: SystemdBusOptions = {}) {
    this.addresses = options.addresses ?? ADDRESSES;
    this.jobTimeoutMs = options.jobTimeoutMs ?? JOB_TIMEOUT_MS;
    this.connectMs = options.connectMs;
  }

  /**
   * Makes a unit that lasts until it is stopped or the machine is, and waits until it is there. One that exists stays as it is.
   *
   * @throws ActorletError HOST020 when systemd cannot be reached, HOST021 when it refuses or does not come to an end
   */
  async startTransientUnit(unit: string, properties: readonly UnitProperty[]): Promise<void> {
    const body = [unit, 'replace', properties.map(encoded), []];
    try {
      await this.job('make', unit, { member: 'StartTransientUnit', signature: 'ssa(sv)a(sa(sv))', body });
    } catch (error) {
      if (!isDbusError(error, 'org.freedesktop.systemd1.UnitExists')) throw error;
    }
  }

  /** Changes a unit until the machine restarts. @throws ActorletError as {@link startTransientUnit} */
  async setUnitProperties(unit: string, properties: readonly UnitProperty[]): Promise<void> {
    const body = [unit, true, properties.map(encoded)];
    await this.request('change', unit, { member: 'SetUnitProperties', signature: 'sba(sv)', body });
  }

  /**
   * Stops a unit and waits for it; systemd then forgets it. One that is not there is fine.
   *
   * @throws ActorletError as {@link startTransientUnit}
   */
  async stopUnit(unit: string): Promise<void> {
    try {
      await this.job('stop', unit, { member: 'StopUnit', signature: 'ss', body: [unit, 'replace'] });
    } catch (error) {
      if (!isDbusError(error, 'org.freedesktop.systemd1.NoSuchUnit')) throw error;
    }
    // A unit that failed stays in systemd's memory; one that did not cannot be reset.
    await this.request('reset', unit, { member: 'ResetFailedUnit', signature: 's', body: [unit] }).catch(
      (error: unknown) => {
        if (!(error instanceof ActorletError) || error.code !== hostErrors.systemdRefused.code) throw error;
      },
    );
  }

  /** Ends the connection. What is still asked fails. */
  async close(): Promise<void> {
    const link = this.link;
    this.link = undefined;
    await (await link?.catch(() => undefined))?.open.bus.close();
  }

  /** A call that answers with a job, and the job's end. */
  private job(what: string, unit: string, message: Message): Promise<void> {
    return this.over(what, unit, async ({ open: { bus }, jobs }) => {
      const ended = jobs.begin();
      try {
        const path = await bus.invoke<string>({ ...MANAGER, ...message });
        const result = await ended.of(path, this.jobTimeoutMs);
        // What a stop ends with is told by what is left; libcontainer goes on as well.
        if (result !== 'done' && what !== 'stop') throw new Error(`its job ended with "${result}"`);
      } finally {
        ended.forget();
      }
    });
  }

  private request(what: string, unit: string, message: Message): Promise<void> {
    return this.over(what, unit, async ({ open: { bus } }) => {
      await bus.invoke({ ...MANAGER, ...message });
    });
  }

  /** Does it over the connection, and again over a new one as long as it is lost on the way. */
  private async over(what: string, unit: string, ask: (link: Link) => Promise<void>): Promise<void> {
    for (let tries = 1; ; tries++) {
      const link = await this.connected();
      try {
        await this.held(link, ask);
        return;
      } catch (error) {
        const lost = codeOf(error) === 'ECONNCLOSED';
        if (lost && tries < TRIES) {
          await sleep(PAUSE_MS);
          continue;
        }
        const spec = lost ? hostErrors.systemdUnreachable : hostErrors.systemdRefused;
        throw new ActorletError(spec, { what, unit, reason: messageOf(error) }, { cause: error });
      }
    }
  }

  /** Only while somebody waits for an answer does the connection hold the process. */
  private async held(link: Link, ask: (link: Link) => Promise<void>): Promise<void> {
    if (this.asking++ === 0) link.open.hold(true);
    try {
      await ask(link);
    } finally {
      if (--this.asking === 0) link.open.hold(false);
    }
  }

  private async connected(): Promise<Link> {
    this.link ??= this.connect();
    const link = this.link;
    try {
      return await link;
    } catch (error) {
      if (this.link === link) this.link = undefined;
      throw new ActorletError(hostErrors.systemdUnreachable, { reason: messageOf(error) }, { cause: error });
    }
  }

  private async connect(): Promise<Link> {
    const failures: string[] = [];
    for (const address of this.addresses) {
      try {
        return await this.open(address);
      } catch (error) {
        failures.push(`${address.socket}: ${messageOf(error)}`);
      }
    }
    throw new Error(failures.join('; '));
  }

  private async open(address: BusAddress): Promise<Link> {
    const jobs = new SystemdJobs();
    let isOpen = false;
    const hearer = {
      matches: [JOB_REMOVED],
      onMessage: (message: Message) => {
        if (message.member === 'JobRemoved' && message.interface === MANAGER.interface)
          jobs.removed(message.body ?? []);
      },
      onClose: () => {
        // One that never was is no link: another address is tried, and who comes meanwhile waits for that.
        if (isOpen) this.link = undefined;
        jobs.lost();
      },
    };
    const open = await openBus(address, hearer, this.connectMs);
    isOpen = true;
    return { open, jobs };
  }
}

/** A property as the library writes it: name and variant. */
function encoded([name, type, value]: UnitProperty): unknown {
  return [name, [type, type === 'ay' ? Buffer.from(value) : value]];
}

function isDbusError(error: unknown, name: string): boolean {
  return error instanceof Error && dbusErrorName(error.cause) === name;
}
