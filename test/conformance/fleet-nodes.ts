import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ProfileInput } from '../../actors/node/fleet/profile/profile-schema.ts';
import { DaemonProcess } from '../../bin/control-plane/daemon-process.ts';
import { fleetConfiguration } from '../../bin/nodes-demo-steps/fleet-configuration.ts';
import { unmountBelow } from '../../cri/private-containerd/mount-points.ts';
import type { Node } from '../cluster/support/api-objects.ts';
import type { ControlPlane } from '../cluster/support/control-plane.ts';
import { stopOnSignal } from '../cluster/support/end-with-test.ts';
import { takesPods } from '../cluster/support/seen-nodes.ts';
import { waitFor } from '../tools/wait-for.ts';
import { SUITE_PROGRAMS } from './suite-programs.ts';

const ACTORLET = fileURLToPath(new URL('../../bin/actorlet', import.meta.url));
const GROUP = 'fleet';
/** As the simulated runtime has it for an agent by itself: files are real, and nothing listens on a port. */
const PROFILE: ProfileInput = {
  groups: [{ name: GROUP }],
  runtime: SUITE_PROGRAMS,
  probes: [{ match: {}, answers: [{ status: null }] }],
  files: true,
  tokens: true,
};
/** Removing the nodes is part of the end, ms. */
const END_MS = 60_000;

/** What the nodes are made from. */
export interface FleetWish {
  count: number;
  /** Folder for logs and journals. */
  out: string;
  /** Fields of every node's KubeletConfiguration beside those that all simulated nodes have. */
  config: Record<string, unknown>;
}

/** All nodes of one process of `actorlet nodes`: the suite's pods run on whichever of them the scheduler takes. */
export interface FleetNodes {
  kind: 'actorlet';
  /** The object of the first node. */
  object(): Promise<Node | undefined>;
  /** Removes the nodes. */
  stop(): Promise<void>;
}

/** Starts `actorlet nodes`, whose runtimes play the suite's simple programs; resolves when all nodes take pods. The caller stops it. */
export async function startFleetNodes(
  plane: ControlPlane,
  { count, out, config: more }: FleetWish,
): Promise<FleetNodes> {
  await mkdir(out, { recursive: true });
  const address = await plane.network.addAddress();
  const pair = await plane.nodeKubeconfig('fleet', address);
  const rootDir = await mkdtemp(join(tmpdir(), 'fleet-'));
  const profile = join(out, 'profile.json');
  const config = join(out, 'config.json');
  await writeFile(profile, JSON.stringify(PROFILE, null, 1));
  await writeFile(
    config,
    JSON.stringify(fleetConfiguration(pair, plane.pki.ca.cert, { address, clusterDomain: 'cluster.local', ...more })),
  );
  const fleet = new DaemonProcess({
    name: 'actorlet nodes',
    program: ACTORLET,
    args: [
      ...['nodes', '--kubeconfig', plane.adminKubeconfig, '--count', String(count), '--seed', '1', '--cleanup'],
      // some specs ask a kubelet at its usual port
      ...['--profile', profile, '--config', config, '--address', address, '--port', '10250', '--root-dir', rootDir],
      ...['--output', 'json', '--log-file', join(out, 'nodes.log'), '--journal-dir', join(out, 'journals')],
    ],
    logFile: join(out, 'figures.log'),
  });
  const end = async (): Promise<void> => {
    if (fleet.exit === null) await fleet.terminate(END_MS);
    await unmountBelow(rootDir);
    await rm(rootDir, { recursive: true, force: true });
    await plane.network.removeAddress(address);
    forget();
  };
  let ending: Promise<void> | undefined;
  const stop = (): Promise<void> => (ending ??= end());
  const forget = stopOnSignal(stop);
  try {
    await waitFor(
      `${count} nodes to take pods`,
      async () => {
        await fleet.mustRun();
        const nodes = await plane.api.list<Node>('/api/v1/nodes');
        return nodes.filter(takesPods).length === count ? true : undefined;
      },
      () => fleet.tail(),
    );
  } catch (error) {
    await stop();
    throw error;
  }
  return { kind: 'actorlet', object: () => plane.api.find<Node>(`/api/v1/nodes/${GROUP}-0`), stop };
}
