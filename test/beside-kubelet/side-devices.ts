import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AdminApi } from '../cluster/support/admin-api.ts';
import { TestDevicePlugin } from '../tools/device-plugin.ts';
import type { PluginBehaviour } from '../tools/device-plugin.ts';
import { TestDriver } from '../tools/dra-driver.ts';
import type { DriverBehaviour } from '../tools/dra-driver.ts';
import { waitFor } from '../tools/wait-for.ts';
import { CLAIM_REQUEST, CLAIMS } from './draw/devices.ts';

const MANY = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`d${String(i)}`, 'Healthy' as const]));

/** Which devices a container gets hangs on the agent's maps: what it gets for them hangs on how many they are. */
const answer: NonNullable<PluginBehaviour['answer']> = (ids) => ({
  envs: { DEVICES: String(ids.length), GREETING: 'from the plugin' },
  mounts: [{ containerPath: '/opt/plugin', hostPath: '/etc', readOnly: true }],
  devices: ids.map((_, i) => ({ containerPath: `/dev/plain${String(i)}`, hostPath: '/dev/null', permissions: 'mrw' })),
  annotations: { 'example.com/devices': String(ids.length) },
  cdiDevices: [{ name: 'example.com/plain=all' }],
});

const PLUGINS: Record<string, PluginBehaviour> = {
  plain: { devices: MANY, answer },
  sick: { devices: { a: 'Unhealthy', b: 'Unhealthy' } },
  refusing: { devices: MANY, failing: { allocate: 'no devices today' } },
  unready: { devices: MANY, preStart: true, failing: { preStart: 'not ready' } },
};

const DRIVERS: Record<string, Partial<DriverBehaviour>> = {
  'good.example.com': {},
  // What kubelet never tried to prepare (the claim was not reserved yet) it does not take back either: a pod's end must not hang on that.
  'refusing.example.com': { fault: { t: 'refuse', error: 'nothing is prepared here', takesBack: true } },
};
/** The driver of each allocated claim. */
const DRIVER_OF: Partial<Record<(typeof CLAIMS)[number], string>> = {
  good: 'good.example.com',
  other: 'good.example.com',
  refused: 'refusing.example.com',
  driverless: 'absent.example.com',
};

/**
 * Device plugins and drivers of dynamic resources of one side, and the claims of its pods. The controller of claims reserves them for
 * pods that nobody scheduled.
 */
export class SideDevices {
  readonly #api: AdminApi;
  readonly #claims: string;
  readonly #plugins: TestDevicePlugin[];
  readonly #drivers: TestDriver[];
  /** UIDs of claims, and what both sides call them. */
  readonly names: [string, string][] = [];

  constructor(api: AdminApi, namespace: string, agentRoot: string) {
    this.#api = api;
    this.#claims = `/apis/resource.k8s.io/v1/namespaces/${namespace}/resourceclaims`;
    const folder = join(agentRoot, 'plugins_registry');
    this.#plugins = Object.entries(PLUGINS).map(
      ([name, behaviour]) => new TestDevicePlugin(folder, `${name}.sock`, `example.com/${name}`, behaviour),
    );
    this.#drivers = Object.entries(DRIVERS).map(
      ([name, behaviour]) => new TestDriver(join(folder, `${name}.sock`), name, behaviour),
    );
  }

  /** Starts them all, makes the claims, and waits until the node tells of the devices in its capacity. */
  async start(capacityOf: () => Promise<Partial<Record<string, unknown>>>): Promise<void> {
    await this.#startAll();
    for (const name of CLAIMS) if (name !== 'absent') await this.#make(name, DRIVER_OF[name]);
    await waitFor('the node to tell of its devices', async () => {
      const capacity = await capacityOf();
      const isKnown = Object.keys(PLUGINS).every((name) => capacity[`example.com/${name}`] !== undefined);
      return isKnown && this.#drivers.every(({ told }) => told.length > 0) ? true : undefined;
    });
  }

  async #make(name: string, driver: string | undefined): Promise<void> {
    const claim = await this.#api.post<{ metadata: { uid: string } }>(this.#claims, {
      ...{ apiVersion: 'resource.k8s.io/v1', kind: 'ResourceClaim', metadata: { name } },
      spec: { devices: { requests: [{ name: CLAIM_REQUEST, exactly: { deviceClassName: 'example' } }] } },
    });
    this.names.push([claim.metadata.uid, `CLAIM(${name})`]);
    if (driver === undefined) return;
    const results = [{ request: CLAIM_REQUEST, driver, pool: 'pool', device: `dev-${name}` }];
    await this.#api.put(`${this.#claims}/${name}/status`, {
      ...claim,
      status: { allocation: { devices: { results } } },
    });
  }

  /** Plugins and drivers go and come back a moment later, as when they are updated. */
  async renew(afterMs: number): Promise<void> {
    this.stop();
    await sleep(afterMs);
    await this.#startAll();
  }

  async #startAll(): Promise<void> {
    for (const driver of this.#drivers) await driver.start();
    for (const plugin of this.#plugins) await plugin.start(true);
  }

  stop(): void {
    for (const one of [...this.#plugins, ...this.#drivers]) one.stop();
  }
}
