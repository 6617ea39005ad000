import { withCluster } from '../../support/cluster-fixture.ts';
import type { ClusterFixture } from '../../support/cluster-fixture.ts';
import type { ClusterNode } from '../../support/cluster-node.ts';
import type { RunningCommand } from '../../support/running-command.ts';
import { isReadyPod } from '../../support/seen-pods.ts';
import type { Space } from '../../support/space.ts';
import { workPod } from './work-pod.ts';

/** Name of the node, and of the pod that is there for all scenarios. */
export const NODE = 'api';
export const WORK = 'work';

/** Both ways in which kubectl streams. */
export const TRANSPORTS = [
  { name: 'WebSocket', env: {} },
  {
    name: 'SPDY',
    env: { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'false', KUBECTL_PORT_FORWARD_WEBSOCKETS: 'false' },
  },
] as const;

/** One node, a namespace on it and the pod {@link WORK} in that. */
export interface ApiFixture {
  cluster: ClusterFixture;
  node: () => ClusterNode;
  space: () => Space;
  /** Starts kubectl in the namespace. */
  kubectl: (args: readonly string[], env?: Readonly<Record<string, string>>) => RunningCommand;
}

/** Starts the cluster of a file's scenarios before them, and takes it away after. */
export function withKubeletApi(): ApiFixture {
  // logs rotate soon: the shortest interval there is
  const config = { containerLogMaxSize: '200Ki', containerLogMaxFiles: 10, containerLogMonitorInterval: '3s' };
  const furnish = async (): Promise<void> => {
    space = await cluster.space('api');
    await space.create(await workPod(WORK, NODE));
    await space.waitPod(WORK, 'ready', isReadyPod);
  };
  const cluster = withCluster({ nodes: [{ name: NODE, config }], furnish });
  let space: Space | undefined;
  const fixture: ApiFixture = {
    cluster,
    node: () => cluster.node(NODE),
    space: () => {
      if (space === undefined) throw new Error('there is no namespace yet');
      return space;
    },
    kubectl: (args, env = {}) => cluster.plane().kubectl.start(['-n', fixture.space().name, ...args], env),
  };
  return fixture;
}
