import type { Logger } from 'pino';
import type { AskedClaim, ClaimResult } from '../../../machines/claims/claim-messages.ts';
import { goQuote } from '../../../machines/values/go-quote.ts';
import type { Metrics } from '../../record/metrics/metrics-registry.ts';
import type { PluginHandler } from '../plugins/plugin-handler.ts';
import type { ClaimDrivers, DriverHears } from './claim-drivers.ts';
import { DriverConnection, SERVICES } from './driver-connection.ts';
import type { DriverService } from './driver-connection.ts';

/** Who hears of drivers. */
export interface SocketDriversOptions {
  hears: DriverHears;
  log: Logger;
  metrics: Pick<Metrics, 'draCalls'>;
  /** Time that a driver has for a call, ms; kubelet's when absent. */
  callMs?: number;
  /** Gate ResourceHealthStatus: drivers are asked how their devices are. */
  health?: boolean;
}

/**
 * The drivers of this machine: plugins of type `DRAPlugin` that register in `plugins_registry`. A driver may have several plugins at a
 * time, as while it is replaced: the last one that is connected is asked (kubelet: DRAPluginManager).
 */
export class SocketDrivers implements ClaimDrivers, PluginHandler {
  private readonly options: SocketDriversOptions;
  private readonly drivers = new Map<string, DriverConnection[]>();

  constructor(options: SocketDriversOptions) {
    this.options = options;
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  stop(): Promise<void> {
    const all = [...this.drivers.values()].flat();
    this.drivers.clear();
    for (const connection of all) connection.close();
    return Promise.resolve();
  }

  validate(name: string, versions: readonly string[], endpoint: string): void {
    serviceOf(name, endpoint, versions);
  }

  registered(name: string, endpoint: string, versions: readonly string[]): Promise<void> {
    const service = serviceOf(name, endpoint, versions);
    const before = this.drivers.get(name) ?? [];
    if (before.some((one) => one.endpoint === endpoint))
      return Promise.reject(new Error(`endpoint ${endpoint} already registered for DRA driver plugin ${name}`));
    const { log, metrics, callMs, hears, health = false } = this.options;
    const connection = new DriverConnection(
      endpoint,
      service,
      {
        connected: (connected) => {
          log.info({ driverName: name, endpoint, connected }, 'Connection changed');
          this.tell(name);
        },
        called: (method, code, seconds) =>
          metrics.draCalls.observe({ driver_name: name, method_name: method, grpc_status_code: code }, seconds),
        ...(health && {
          health: { told: (devices) => hears.health(name, devices), lost: () => this.healthLost(name) },
        }),
      },
      callMs,
    );
    this.drivers.set(name, [...before, connection]);
    log.info({ driverName: name, endpoint, chosenService: service }, 'Registered DRA plugin');
    this.tell(name);
    return Promise.resolve();
  }

  deregistered(name: string, endpoint: string): void {
    const all = this.drivers.get(name) ?? [];
    const gone = all.find((one) => one.endpoint === endpoint);
    if (gone === undefined) return;
    const left = all.filter((one) => one !== gone);
    if (left.length === 0) this.drivers.delete(name);
    else this.drivers.set(name, left);
    gone.close();
    this.options.log.info({ driverName: name, endpoint, numPlugins: left.length }, 'Unregistered DRA plugin');
    this.tell(name);
  }

  async prepare(driver: string, claims: AskedClaim[]): Promise<ClaimResult[]> {
    return this.of(driver).prepare(claims);
  }

  async unprepare(driver: string, claims: AskedClaim[]): Promise<ClaimResult[]> {
    return this.of(driver).unprepare(claims);
  }

  private of(driver: string): DriverConnection {
    const all = this.drivers.get(driver) ?? [];
    const last = all.findLast((one) => one.connected) ?? all.at(-1);
    if (driver === '') throw new Error('DRA driver name is empty');
    if (last === undefined) throw new Error(`DRA driver ${driver} is not registered`);
    return last;
  }

  /** While a driver is replaced two of its plugins may tell. */
  private healthLost(name: string): void {
    if (!this.drivers.get(name)?.some(({ tellsHealth }) => tellsHealth)) this.options.hears.healthLost(name);
  }

  private tell(name: string): void {
    const all = this.drivers.get(name) ?? [];
    this.options.hears.told(name, { registered: all.length > 0, connected: all.some(({ connected }) => connected) });
  }
}

/** The first service of the plugin that the node speaks. @throws Error with kubelet's words when there is none */
function serviceOf(name: string, endpoint: string, versions: readonly string[]): DriverService {
  const where = `invalid supported gRPC versions of DRA driver plugin ${name} at endpoint ${endpoint}`;
  if (versions.length === 0)
    throw new Error(`${where}: empty list of supported gRPC services (aka supported versions)`);
  const found = versions.map((version) => SERVICES.find((service) => service === version)).find((one) => one);
  if (found !== undefined) return found;
  const lists = `supported by the plugin (${goList(versions)}) are supported by the kubelet (${goList(SERVICES)})`;
  throw new Error(`${where}: none of services ${lists}`);
}

function goList(texts: readonly string[]): string {
  return `[${texts.map(goQuote).join(' ')}]`;
}
