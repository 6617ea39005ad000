import { createServer, connect } from 'node:net';
import type { Socket } from 'node:net';
import { runCommand } from '../../cri/private-containerd/run-command.ts';
import type { ControlPlane } from '../cluster/support/control-plane.ts';

/** The service `kubernetes` of the cluster: the first address of its range (test/cluster/support/cluster-network.ts), which is in its certificate. */
const ADDRESS = '10.96.0.1';
const PORT = 443;

/**
 * Hands what pods send to the service `kubernetes` on to the API server, in the place of a kube-proxy, which these clusters have none of. The
 * address is on the cluster's bridge and goes with it, at the latest: one such cluster at a time on a machine.
 */
export async function startApiService(plane: ControlPlane): Promise<{ stop(): Promise<void> }> {
  const { bridge, hostAddress } = plane.network;
  const added = await runCommand('ip', ['addr', 'add', `${ADDRESS}/32`, 'dev', bridge]);
  if (added.code !== 0) throw new Error(`ip addr add ${ADDRESS}: ${added.stderr}`);
  const open = new Set<Socket>();
  const server = createServer((caller) => {
    const api = connect(plane.apiPort, hostAddress);
    for (const [from, to] of [
      [caller, api],
      [api, caller],
    ] as const) {
      open.add(from);
      from.pipe(to);
      from.on('error', () => to.destroy()).once('close', () => (open.delete(from), to.destroy()));
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(PORT, ADDRESS, resolve);
  });
  return {
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of open) socket.destroy();
      await closed;
      await runCommand('ip', ['addr', 'del', `${ADDRESS}/32`, 'dev', bridge]);
    },
  };
}
