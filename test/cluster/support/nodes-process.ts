import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DaemonProcess } from '../../../bin/control-plane/daemon-process.ts';
import { freePorts } from '../../../bin/demo-steps/free-ports.ts';
import { fleetConfiguration } from '../../../bin/nodes-demo-steps/fleet-configuration.ts';
import type { ControlPlane } from './control-plane.ts';

const ACTORLET = fileURLToPath(new URL('../../../bin/actorlet', import.meta.url));

/** Starts `actorlet nodes` on a control plane, with a kubelet's API that its API server trusts. The caller ends it. */
export async function startNodes(
  plane: ControlPlane,
  profile: object,
  count: number,
  flags: readonly string[] = [],
): Promise<DaemonProcess> {
  const [port = 0] = await freePorts(1);
  const { hostAddress } = plane.network;
  const pair = await plane.nodeKubeconfig('all', hostAddress);
  const files = { profile: join(plane.dir, 'profile.json'), config: join(plane.dir, 'nodes-config.json') };
  await writeFile(files.profile, JSON.stringify(profile));
  await writeFile(files.config, JSON.stringify(fleetConfiguration(pair, plane.pki.ca.cert)));
  // It goes with the control plane, also when these nodes are killed.
  const rootDir = await mkdtemp(join(plane.dir, 'nodes-'));
  return new DaemonProcess({
    name: 'actorlet nodes',
    program: ACTORLET,
    args: [
      ...['nodes', '--kubeconfig', plane.adminKubeconfig, '--count', String(count), '--seed', '11'],
      ...['--profile', files.profile, '--config', files.config, '--address', hostAddress, '--port', String(port)],
      ...['--root-dir', rootDir, '--output', 'json', '--log-file', join(plane.dir, 'nodes.log'), '--cleanup', ...flags],
    ],
    logFile: join(plane.dir, 'nodes-out.log'),
  });
}
