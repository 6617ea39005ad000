import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestContext } from 'node:test';
import { SimulatedNode } from '../../beside-kubelet/simulated-node.ts';
import { TestDevicePlugin } from '../../tools/device-plugin.ts';
import { TestDriver } from '../../tools/dra-driver.ts';
import { waitFor } from '../../tools/wait-for.ts';
import type { Event, Pod } from './api-objects.ts';
import type { ClusterNodeOptions } from './cluster-node.ts';
import type { ControlPlane } from './control-plane.ts';
import type { AgentKind } from './node-config.ts';
import { isReadyPod } from './seen-pods.ts';

export const IMAGE = 'docker.io/library/busybox:latest';
/** The resource of the plugin. */
export const RESOURCE = 'example.com/thing';
const RUNNING = 1;
/** What is not to happen has so long to happen, ms. */
export const QUIET_MS = 3_000;

let benches = 0;

/** A node of one agent on the simulated runtime with a device plugin and a driver, and a namespace. */
export class DeviceBench {
  readonly plane: ControlPlane;
  readonly node: SimulatedNode;
  readonly plugin: TestDevicePlugin;
  readonly driver: TestDriver;
  readonly #namespace: string;

  private constructor(controlPlane: ControlPlane, node: SimulatedNode, namespace: string) {
    this.plane = controlPlane;
    this.node = node;
    this.#namespace = namespace;
    const folder = join(node.node.agentRoot, 'plugins_registry');
    const devices = { a: 'Healthy', b: 'Healthy' } as const;
    this.plugin = new TestDevicePlugin(folder, 'thing.sock', RESOURCE, { devices });
    this.driver = new TestDriver(join(folder, 'driver.sock'), 'driver.example.com');
  }

  /** @param more in place of waiting for plugins, as far as the agent can */
  static async start(
    t: TestContext,
    plane: ControlPlane,
    agent: AgentKind,
    more?: Pick<ClusterNodeOptions, 'config'>,
  ): Promise<DeviceBench> {
    const script = {
      images: [{ image: IMAGE, present: true }],
      containers: [{ match: { container: 'init' }, attempts: [{ exit: { after: 100, code: 0 } }] }],
    };
    const flags = agent === 'actorlet' ? ['--wait-for-plugins', '5m'] : [];
    const name = `${agent}-${++benches}`;
    // What this one's plugin has is told by no other node, and theirs not by this one.
    const options = { ...(more ?? { flags }), ownDevicePlugins: true } as const;
    const node = await SimulatedNode.start(plane, name, agent, script, options);
    t.after(() => node.stop());
    const bench = new DeviceBench(plane, node, name);
    t.after(() => [bench.plugin, bench.driver].forEach((one) => one.stop()));
    await bench.#furnish();
    return bench;
  }

  async #furnish(): Promise<void> {
    const { api } = this.plane;
    await api.post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: this.#namespace } });
    await waitFor('the account', () => api.find(`/api/v1/namespaces/${this.#namespace}/serviceaccounts/default`));
    await this.plugin.start(true);
    await this.driver.start();
    await waitFor('the node to tell of its devices', async () =>
      (await this.node.node.object())?.status?.allocatable?.[RESOURCE] === '2' && this.driver.told.length > 0
        ? true
        : undefined,
    );
  }

  path(name = ''): string {
    return `/api/v1/namespaces/${this.#namespace}/pods${name === '' ? '' : `/${name}`}`;
  }

  pod(name: string): Promise<Pod | undefined> {
    return this.plane.api.find<Pod>(this.path(name));
  }

  async create(name: string, spec: object): Promise<void> {
    await this.plane.api.post(this.path(), {
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name } },
      spec: {
        nodeName: this.node.node.name,
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 1,
        ...spec,
      },
    });
  }

  async delete(name: string): Promise<void> {
    await this.plane.api.delete(this.path(name));
    await this.gone(name);
  }

  async gone(name: string): Promise<void> {
    await waitFor(`${name} to be gone`, async () => ((await this.pod(name)) === undefined ? true : undefined));
  }

  /** A claim that is allocated on this driver. */
  async claim(name: string, driver: string): Promise<void> {
    const path = `/apis/resource.k8s.io/v1/namespaces/${this.#namespace}/resourceclaims`;
    const made = await this.plane.api.post<object>(path, {
      ...{ apiVersion: 'resource.k8s.io/v1', kind: 'ResourceClaim', metadata: { name } },
      spec: { devices: { requests: [{ name: 'one', exactly: { deviceClassName: 'example' } }] } },
    });
    const results = [{ request: 'one', driver, pool: 'pool', device: `dev-${name}` }];
    await this.plane.api.put(`${path}/${name}/status`, { ...made, status: { allocation: { devices: { results } } } });
  }

  async ready(name: string): Promise<void> {
    const isReady = async () => {
      const pod = await this.pod(name);
      return pod !== undefined && isReadyPod(pod) ? true : undefined;
    };
    await waitFor(`${name} to be Ready`, isReady, async () => JSON.stringify((await this.pod(name))?.status));
  }

  /** Reasons of a pod's events. */
  async reasons(name: string): Promise<(string | undefined)[]> {
    const events = await this.plane.api.list<Event>(`/api/v1/namespaces/${this.#namespace}/events`);
    return events.filter(({ involvedObject }) => involvedObject.name === name).map(({ reason }) => reason);
  }

  /** Containers of a pod that run now. */
  running(name: string): number {
    const all = [...this.node.runtime.state.containers.values()];
    return all.filter(({ sandbox, state }) => sandbox.metadata.name === name && state === RUNNING).length;
  }

  /** How a pod ended, once it has. */
  async failure(name: string): Promise<string> {
    return waitFor(`${name} to fail`, async () => {
      const { phase, reason } = (await this.pod(name))?.status ?? {};
      return phase === 'Failed' ? (reason ?? '') : undefined;
    });
  }

  /** Nothing of the kind happens for a while. */
  async lives(name: string): Promise<void> {
    await sleep(QUIET_MS);
    const status = (await this.pod(name))?.status;
    assert.notEqual(status?.phase, 'Failed', JSON.stringify(status));
  }
}
