/**
 * What kubelet's users meet when a node shuts down (kubernetes#116965, #110755, #112443): the reference, on the same control plane and the
 * same runtime, shows it; the agent does not.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestContext } from 'node:test';
import { SimulatedNode } from '../beside-kubelet/simulated-node.ts';
import { lacksBus, PrivateBus } from '../simulated/shutdown/support/private-bus.ts';
import { waitFor } from '../tools/wait-for.ts';
import type { Pod } from './support/api-objects.ts';
import { ControlPlane } from './support/control-plane.ts';
import type { AgentKind } from './support/node-config.ts';
import { isReadyPod } from './support/seen-pods.ts';

const PODS = '/api/v1/namespaces/default/pods';
const IMAGE = 'docker.io/library/busybox:latest';
const EXITED = 2;
/** For so long a container goes on when it is to stop, ms. */
const STOPS_MS = 12_000;
/** Actorlet waits for the API server at the end of a shutdown, 5 s at most; a busy machine is late. */
const PAUSE_MS = 1_000;

const skip = await lacksBus();
let plane: ControlPlane | undefined;
before(async () => {
  if (skip === false) plane = await ControlPlane.start();
});
after(() => plane?.stop());

/** A node whose agent holds a lock of a logind of its own, with one pod that runs. */
class ShutdownNode {
  readonly #plane: ControlPlane;
  readonly #node: SimulatedNode;
  readonly #bus: PrivateBus;

  private constructor(controlPlane: ControlPlane, node: SimulatedNode, bus: PrivateBus) {
    this.#plane = controlPlane;
    this.#node = node;
    this.#bus = bus;
  }

  static async start(t: TestContext, agent: AgentKind): Promise<ShutdownNode> {
    assert.ok(plane !== undefined);
    const controlPlane = plane;
    const bus = await PrivateBus.start(t, 60);
    const script = { images: [{ image: IMAGE, present: true }], containers: [{ onStop: { after: STOPS_MS } }] };
    const node = await SimulatedNode.start(controlPlane, `node-${agent}`, agent, script, {
      env: { DBUS_SYSTEM_BUS_ADDRESS: `unix:path=${bus.socket}` },
      config: { shutdownGracePeriod: '30s', shutdownGracePeriodCriticalPods: '10s' },
    });
    t.after(async () => {
      controlPlane.resumeApiServer();
      await node.stop();
    });
    await bus.tells(/^locked 1 shutdown/);
    return new ShutdownNode(controlPlane, node, bus);
  }

  get #path(): string {
    return `${PODS}/web-${this.#node.node.kind}`;
  }

  pod(): Promise<Pod> {
    return this.#plane.api.get<Pod>(this.#path);
  }

  /** Creates the pod and waits until it is Ready. */
  async run(): Promise<void> {
    await this.#plane.api.post(PODS, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: `web-${this.#node.node.kind}` },
      spec: {
        nodeName: this.#node.node.name,
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 20,
        containers: [{ name: 'c', image: IMAGE, imagePullPolicy: 'IfNotPresent' }],
      },
    });
    await waitFor('the pod to be Ready', async () => isReadyPod(await this.pod()) || undefined);
  }

  /** logind says that the machine goes down. */
  shutDown(): Promise<void> {
    return this.#bus.order('prepare');
  }

  get isReleased(): boolean {
    return this.#bus.told.includes('released 1');
  }

  hasStopped(): boolean {
    const all = [...this.#node.containers.values()];
    return all.length > 0 && all.every(({ state }) => state === EXITED);
  }
}

/** What clients of the API were told meanwhile. */
interface Told {
  /** Its pod was Ready while its container was being stopped: endpoints kept it. */
  readyWhileEnding: boolean;
  /** The machine was let go down while the API server had not heard how the pod ended. */
  letGoUntold: boolean;
}

/** A shutdown during which the API server answers nobody when the pod ends. */
async function shutDown(t: TestContext, agent: AgentKind): Promise<{ told: Told; node: ShutdownNode }> {
  const node = await ShutdownNode.start(t, agent);
  await node.run();
  await node.shutDown();
  await sleep(STOPS_MS / 4);
  const readyWhileEnding = isReadyPod(await node.pod());
  assert.equal(node.hasStopped(), false, 'too slow a machine for what is looked at');
  assert.ok(plane !== undefined);
  plane.pauseApiServer();
  await waitFor('the container to stop', () => node.hasStopped() || undefined);
  // The reference has all the time that a busy machine needs.
  if (agent === 'kubelet') await waitFor('the lock to be given back meanwhile', () => node.isReleased || undefined);
  else await sleep(PAUSE_MS);
  const letGoUntold = node.isReleased;
  plane.resumeApiServer();
  await waitFor('the lock to be given back', () => node.isReleased || undefined);
  return { told: { readyWhileEnding, letGoUntold }, node };
}

test(
  'with kubelet a pod that ends in a shutdown stays Ready, and the machine goes down before its end is told',
  { skip },
  async (t) => {
    const { told } = await shutDown(t, 'kubelet');
    assert.deepEqual(told, { readyWhileEnding: true, letGoUntold: true });
  },
);

test(
  'with actorlet it is not Ready from the first moment on, and the machine waits until its end is told',
  { skip },
  async (t) => {
    const { told, node } = await shutDown(t, 'actorlet');
    assert.deepEqual(told, { readyWhileEnding: false, letGoUntold: false });
    const { phase, reason } = (await node.pod()).status ?? {};
    assert.deepEqual([phase, reason], ['Failed', 'Terminated']);
  },
);
