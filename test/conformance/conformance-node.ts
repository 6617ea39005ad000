import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from '../../cri/private-containerd/run-command.ts';
import type { Node } from '../cluster/support/api-objects.ts';
import { ACTORLET, ClusterNode } from '../cluster/support/cluster-node.ts';
import { ControlPlane } from '../cluster/support/control-plane.ts';
import type { AgentKind } from '../cluster/support/node-config.ts';
import { importArchives } from '../containerd/support/import-archives.ts';
import { startTestContainerd } from '../containerd/support/with-containerd.ts';
import type { TestContainerd } from '../containerd/support/with-containerd.ts';
import { startApiService } from './api-service.ts';
import { startFleetNodes } from './fleet-nodes.ts';
import { aggregatedImages } from './images/aggregated-images.ts';
import { csiImages } from './images/csi-images.ts';
import { suiteImages } from './images/suite-images.ts';
import { PLACE_BY_DIGEST, startSuiteRegistry, writeRegistryHosts } from './images/suite-registry.ts';
import { gatesText } from './options.ts';
import { NODE_NAME } from './suite/run-suite.ts';
import type { SuiteName } from './options.ts';
import { API_SERVER_FLAGS, startServiceNetwork } from './service-network.ts';
import { DiskFolder, startStorageDriver } from './storage/storage-driver.ts';
import type { StorageDriver } from './storage/storage-driver.ts';
import { startSimulatedNodeRuntime } from './simulated-node-runtime.ts';

/** What is known of the node, or of the first of many. */
export interface SuiteNode {
  kind: AgentKind;
  /** The agent's `--root-dir`; absent where each of many has its own. */
  agentRoot?: string;
  /** The runtime, where it has a socket. */
  containerd?: { endpoint: string };
  /** The node object. */
  object(): Promise<Node | undefined>;
}

/** A cluster of one node, or of a fleet, that the end-to-end suite can be run against. */
export interface ConformanceNode {
  plane: ControlPlane;
  node: SuiteNode;
  /** What the suite of nodes calls the API server with. */
  token: string;
  /** The CSI driver that was wished for. */
  driver: StorageDriver | undefined;
  /** Takes all of it away; may be called twice. */
  stop(): Promise<void>;
}

/** What the node is made from. */
export interface ConformanceWish {
  agent: AgentKind;
  /** Which suite is to run; that of clusters unless told. */
  suite?: SuiteName;
  /** Another containerd than the one on PATH. */
  containerd?: string;
  /** No containers at all: the simulated runtime. */
  simulated?: boolean;
  /** So many nodes of one process in place of an agent by itself, and the folder for their logs and journals; with `simulated` alone. */
  fleet?: { count: number; out: string };
  /** With the images of CSI's sidecars, and with the address at which they call the API server. */
  csi?: boolean;
  /** With the project's CSI driver on the node. */
  csiDriver?: boolean;
  /** With kube-proxy and CoreDNS beside the node. */
  kubeProxy?: boolean;
  /** Feature gates of the agent and of the control plane, which serves every API then. */
  featureGates?: Readonly<Record<string, boolean>>;
}

const KUBELET_PORT = 10250;
const HEALTHZ_PORT = 10248;
/** The handler that the suite's RuntimeClass specs name. */
const TEST_HANDLER = 'test-handler';

/** Starts a control plane, and a containerd with the suite's images and the agent as the only node, or a fleet of simulated nodes. */
export async function startConformanceNode(wish: ConformanceWish): Promise<ConformanceNode> {
  const stops: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    for (const part of stops.toReversed()) await part();
  };
  try {
    const token = randomBytes(16).toString('hex');
    const folder = await mkdtemp(join(tmpdir(), 'conformance-token-'));
    stops.push(() => rm(folder, { recursive: true, force: true }));
    const tokens = join(folder, 'tokens.csv');
    await writeFile(tokens, `${token},suite,suite,"system:masters"\n`, { mode: 0o600 });
    const gates = gatesText(wish.featureGates ?? {});
    const gateFlags = gates === '' ? [] : ['--feature-gates', gates];
    const plane = await ControlPlane.start({
      apiServerFlags: [
        ...['--token-auth-file', tokens, ...(wish.kubeProxy === true ? API_SERVER_FLAGS : [])],
        // What a gate is about is often an API that is not served by default.
        ...(gates === '' ? [] : [...gateFlags, '--runtime-config', 'api/all=true']),
      ],
      controllerManagerFlags: gateFlags,
      schedulerFlags: gateFlags,
    });
    stops.push(() => plane.stop());
    if (wish.fleet !== undefined) {
      const node = await startFleetNodes(plane, {
        ...wish.fleet,
        config: gates === '' ? {} : { featureGates: wish.featureGates },
      });
      stops.push(() => node.stop());
      return { plane, node, token, driver: undefined, stop };
    }
    const containerd = await (wish.simulated === true
      ? startSimulatedNodeRuntime()
      : realRuntime(wish.containerd, [
          ...(wish.csi === true ? [await csiImages()] : []),
          ...(wish.kubeProxy === true ? [await aggregatedImages()] : []),
        ]));
    stops.push(() => containerd.stop());
    if (wish.csi === true) {
      const service = await startApiService(plane);
      stops.push(() => service.stop());
    }
    const config = (address: string): Record<string, unknown> => ({
      // some specs ask a kubelet at its usual port; on its own address two runs do not meet
      ...{ address, port: KUBELET_PORT },
      // the suite of nodes asks the agent's health at its usual port
      ...(wish.suite === 'node' ? { healthzPort: HEALTHZ_PORT } : {}),
      ...(wish.agent === 'kubelet' ? { syncFrequency: '1m' } : {}),
      ...(gates !== '' && { featureGates: wish.featureGates }),
    });
    const disks = wish.csiDriver === true ? await DiskFolder.make() : undefined;
    if (disks !== undefined) stops.push(() => disks.remove());
    const program = wish.agent === 'actorlet' ? { program: await calledKubelet(folder) } : {};
    const node = await ClusterNode.start(plane, { name: NODE_NAME, agent: wish.agent, containerd, config, ...program });
    stops.push(() => node.stop());
    if (wish.kubeProxy === true) {
      const services = await startServiceNetwork(plane, node.name);
      stops.push(() => services.stop());
    }
    const driver = disks && (await startStorageDriver(plane, node, disks));
    if (driver !== undefined) stops.push(() => driver.stop());
    return { plane, node, token, driver, stop };
  } catch (error) {
    await stop().catch(() => undefined);
    throw error;
  }
}

/** The agent by the name of kubelet, as it stands in kubelet's place: a spec looks for the process. */
async function calledKubelet(folder: string): Promise<string> {
  const link = join(folder, 'kubelet');
  await symlink(ACTORLET, link);
  return link;
}

/**
 * A containerd with the suite's images in it, and a registry that it pulls them from when they are asked for again.
 * @param more paths of further archives of images
 */
export async function realRuntime(
  containerd: string | undefined,
  more: readonly string[] = [],
): Promise<TestContainerd> {
  const images = await suiteImages();
  const own = containerd === undefined ? {} : { containerd };
  const stops: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    for (const part of stops.splice(0).toReversed()) await part();
  };
  try {
    const registry = await startSuiteRegistry(images);
    stops.push(() => registry.stop());
    const registryHosts = await mkdtemp(join(tmpdir(), 'registry-hosts-'));
    stops.push(() => rm(registryHosts, { recursive: true, force: true }));
    await writeRegistryHosts(registryHosts, registry.host);
    const runtime = await startTestContainerd({ ...own, registryHosts, runtimeHandlers: [TEST_HANDLER] });
    stops.push(() => runtime.stop());
    const { layout } = runtime.containerd;
    // Not pinned: specs of image garbage collection are to find some that may go.
    const ctr = await importArchives(runtime, [images.archive, ...more], own);
    for (const args of PLACE_BY_DIGEST) {
      const { code, stderr } = await runCommand(ctr, ['-a', layout.socket, '-n', 'k8s.io', 'images', ...args]);
      if (code !== 0) throw new Error(`ctr images ${args.join(' ')}: ${stderr}`);
    }
    return { ...runtime, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
