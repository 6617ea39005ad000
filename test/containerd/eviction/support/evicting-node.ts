import { after, before } from 'node:test';
import { unmountBelow } from '../../../../actors/host/files/mounts.ts';
import type { V1Node } from '@kubernetes/client-node';
import type { Pod, PodStatus } from '../../../../machines/protocol/api-types.ts';
import { startFakeApiServer } from '../../../simulated/api/support/fake-api-server.ts';
import type { FakeApiServer } from '../../../simulated/api/support/fake-api-server.ts';
import { waitFor } from '../../../tools/wait-for.ts';
import { NODE_NAME, TestNode } from '../../agent/support/test-node.ts';
import type { TestNodeOptions } from '../../agent/support/test-node.ts';
import { podOf, shell } from '../../agent/support/test-pod.ts';
import { assertNothingLeft, machineState } from '../../support/machine-state.ts';

const PODS = { group: '', version: 'v1', resource: 'pods' };
const NODES = { group: '', version: 'v1', resource: 'nodes' };

/** What a pod's only container has besides its script. */
export interface PodWish {
  /** Further fields of the pod's spec. The container sees its volume `data` as /data. */
  spec?: Record<string, unknown>;
  /** Limits of the container. */
  limits?: Record<string, string>;
}

/** Who runs, and since when: the container, and how often it began. */
export interface Life {
  id: string | undefined;
  restarts: number;
}

/** A real node whose pods come from an API server, for pods that are to be evicted and others that are not. */
export class EvictingNode {
  readonly node: TestNode;
  private readonly server: FakeApiServer;

  private constructor(server: FakeApiServer, node: TestNode) {
    this.server = server;
    this.node = node;
  }

  /** Makes containerd and a server; the agent is started by `node.startAgent`. */
  static async make(options: TestNodeOptions): Promise<EvictingNode> {
    const server = await startFakeApiServer();
    try {
      const flags = ['--kubeconfig', server.kubeconfigPath, ...(options.flags ?? [])];
      return new EvictingNode(server, await TestNode.make({ ...options, flags }));
    } catch (error) {
      await server.close();
      throw error;
    }
  }

  /** Binds a pod to the node that runs this script. */
  put(name: string, script: string, { spec = {}, limits }: PodWish = {}): void {
    const resources = limits === undefined ? {} : { resources: { limits } };
    const mounts = 'volumes' in spec ? { volumeMounts: [{ name: 'data', mountPath: '/data' }] } : {};
    const pod = podOf(name, [shell('c', script, { ...resources, ...mounts })], { nodeName: NODE_NAME, ...spec });
    this.server.put(PODS, { ...pod, status: {} } as object);
  }

  /** Removes a pod as its owner would, and waits until it is gone. */
  async remove(name: string): Promise<void> {
    this.server.remove({ ...PODS, namespace: 'default' }, name);
    await waitFor(
      `${name} to go`,
      async () => {
        const left = await this.node.containerd.cri.pods();
        return left.some(({ metadata }) => metadata?.name === name) ? undefined : true;
      },
      () => this.node.agent.tail(),
    );
  }

  status(name: string): PodStatus | undefined {
    return (this.server.get({ ...PODS, namespace: 'default' }, name) as unknown as Pod | undefined)?.status;
  }

  /** Container and restarts of a pod that is ready, null of any other. */
  life(name: string): Life | null {
    const status = this.status(name);
    const container = status?.containerStatuses?.[0];
    return status?.phase === 'Running' && container?.ready === true
      ? { id: container.containerID, restarts: container.restartCount }
      : null;
  }

  /** Waits until all of these are ready; returns their lives. */
  async running(...names: string[]): Promise<(Life | null)[]> {
    return waitFor(
      `${names.join(', ')} to run`,
      () => {
        const lives = names.map((name) => this.life(name));
        return lives.every((life) => life !== null) ? lives : undefined;
      },
      () => this.told(...names),
    );
  }

  /** Waits until it is known what this pod takes of the disk: whoever is not measured yet is evicted first. */
  async measured(name: string): Promise<void> {
    await waitFor(`figures of ${name}`, async () => ((await this.node.isMeasured(name)) ? true : undefined));
  }

  /** Waits until the pod was evicted and has ended. */
  evicted(name: string): Promise<PodStatus> {
    return waitFor(
      `${name} to be evicted`,
      () => {
        const status = this.status(name);
        return status?.reason === 'Evicted' && status.phase === 'Failed' ? status : undefined;
      },
      () => this.told(name),
    );
  }

  /** Waits until the node object tells a condition so (`True`, `False`); returns its reason. */
  condition(type: string, status: string): Promise<string> {
    return waitFor(
      `${type} to be ${status}`,
      () => {
        const node = this.server.get(NODES, NODE_NAME) as unknown as V1Node | undefined;
        const told = node?.status?.conditions?.find((each) => each.type === type);
        return told?.status === status ? (told.reason ?? '') : undefined;
      },
      () => this.node.agent.tail(),
    );
  }

  async stop(): Promise<void> {
    await this.node.agent.kill();
    await unmountBelow(this.node.rootDir);
    await this.node.stop();
    await this.server.close();
  }

  private async told(...names: string[]): Promise<string> {
    return `${JSON.stringify(names.map((name) => this.status(name)))}\n${await this.node.agent.tail()}`;
  }
}

/**
 * An {@link EvictingNode} for the tests of a `describe`, its agent running; what is left on the machine afterwards fails them. `removeMore` takes away
 * what `options` made besides.
 */
export function evictingNode(
  options: () => Promise<TestNodeOptions> | TestNodeOptions,
  removeMore: () => Promise<void> = () => Promise.resolve(),
): () => EvictingNode {
  let clean: Awaited<ReturnType<typeof machineState>>;
  let made: EvictingNode | undefined;
  before(async () => {
    clean = await machineState();
    made = await EvictingNode.make(await options());
    await made.node.startAgent();
  });
  after(async () => {
    await made?.stop();
    await removeMore();
    await assertNothingLeft(clean);
  });
  return () => {
    if (made === undefined) throw new Error('no node was made');
    return made;
  };
}
