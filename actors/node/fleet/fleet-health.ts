import type { Logger } from 'pino';
import { startHealthzServer } from '../../serve/server/healthz-server.ts';
import type { RunningServer } from '../../serve/server/http-listener.ts';
import type { SimulatedNode } from './simulated-node.ts';

/**
 * Serves `/healthz` on all addresses for who looks after the process from outside, as a pod's probes do: well once each node has been Ready.
 * What becomes of nodes later is the profile's business. `/healthz/ping` is well as long as the process, which is one thread, gets to an
 * answer. The same page of the port for the API server is locked, and a probe has no key. Null for port 0.
 * @throws ActorletError SRV001 when the port cannot be had
 */
export async function startFleetHealth(
  port: number,
  nodes: readonly SimulatedNode[],
  log: Logger,
): Promise<RunningServer | null> {
  if (port === 0) return null;
  let waiting = nodes;
  const check = (): string | null => {
    waiting = waiting.filter((node) => !isReady(node));
    return waiting.length === 0 ? null : `${waiting.length} of ${nodes.length} nodes have not been Ready yet`;
  };
  return startHealthzServer({ address: '0.0.0.0', port, log, checks: [{ name: 'nodes', check }] });
}

/** As the node's own object in the API says. */
function isReady({ parts }: SimulatedNode): boolean {
  const conditions = parts?.cluster?.node.node()?.status?.conditions ?? [];
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}
