import { after, before } from 'node:test';
import { ClusterNode } from './cluster-node.ts';
import type { ClusterNodeOptions } from './cluster-node.ts';
import { ControlPlane } from './control-plane.ts';
import type { ControlPlaneOptions } from './control-plane.ts';
import { agentUnderTest } from './node-config.ts';
import { Space } from './space.ts';

/** What a test file shares: one control plane and its nodes. */
export interface ClusterFixture {
  plane: () => ControlPlane;
  node: (name: string) => ClusterNode;
  /** Makes a further node with the agent under test; it is stopped with the rest. */
  addNode: (options: Omit<ClusterNodeOptions, 'agent'>) => Promise<ClusterNode>;
  /** Makes a namespace; its name gets a number. */
  space: (name: string) => Promise<Space>;
}

/** What a test file wants. */
export interface FixtureWish {
  nodes: readonly Omit<ClusterNodeOptions, 'agent'>[];
  plane?: ControlPlaneOptions;
  /** Runs when the control plane is up, before the nodes are. */
  prepare?: (fixture: ClusterFixture) => Promise<void>;
  /** Runs when the nodes are up, before the tests (a `before` of one's own does not wait for this one's). */
  furnish?: (fixture: ClusterFixture) => Promise<void>;
}

/** Starts a cluster before a file's tests and takes it away after them. */
export function withCluster(wish: FixtureWish): ClusterFixture {
  let plane: ControlPlane | undefined;
  let spaces = 0;
  const nodes = new Map<string, ClusterNode>();
  const fixture: ClusterFixture = {
    plane: () => {
      if (plane === undefined) throw new Error('the control plane is not up');
      return plane;
    },
    node: (name) => {
      const found = nodes.get(name);
      if (found === undefined) throw new Error(`no node ${name}`);
      return found;
    },
    addNode: async (options) => {
      const node = await ClusterNode.start(fixture.plane(), { ...options, agent: agentUnderTest() });
      nodes.set(options.name, node);
      return node;
    },
    space: (name) =>
      Space.make(fixture.plane(), `${name}-${++spaces}`, async () =>
        (await Promise.all([...nodes.values()].map((node) => node.lastWords()))).join('\n'),
      ),
  };
  before(async () => {
    plane = await ControlPlane.start(wish.plane);
    await wish.prepare?.(fixture);
    const started = await Promise.allSettled(wish.nodes.map((options) => fixture.addNode(options)));
    for (const result of started) if (result.status === 'rejected') throw result.reason;
    await wish.furnish?.(fixture);
  });
  after(async () => {
    try {
      await plane?.mustRun();
    } finally {
      await Promise.allSettled([...nodes.values()].map((node) => node.stop()));
      await plane?.stop();
    }
  });
  return fixture;
}
