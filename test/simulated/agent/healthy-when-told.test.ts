import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { freePorts } from '../../../bin/demo-steps/free-ports.ts';
import { unmountBelow } from '../../../actors/host/files/mounts.ts';
import { startSimulatedRuntime } from '../../../cri/sim/simulated-runtime.ts';
import { startFakeApiServer } from '../api/support/fake-api-server.ts';
import { NODES } from '../node-object/support/start-node-object.ts';
import { startAgent } from './support/agent.ts';
import { until } from './support/bench.ts';

test('an agent is healthy when the API server has heard of its node: who waits for that finds the object as this agent tells it', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'actorlet-healthy-'));
  const server = await startFakeApiServer();
  const ends: (() => void | Promise<void>)[] = [
    () => server.close(),
    () => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }),
  ];
  t.after(async () => {
    for (const end of ends.reverse()) await end();
  });
  const socket = join(dir, 'cri.sock');
  const sim = await startSimulatedRuntime({ socket, seed: 1 });
  ends.push(
    () => unmountBelow(dir),
    () => sim.stop(),
  );
  server.fault({ verb: 'create', resource: 'nodes' }, { do: 'delay', ms: 1_000 }, 1);
  const [healthzPort = 0, readOnlyPort = 0] = await freePorts(2);
  const agent = await startAgent({
    ...{ dir, endpoint: `unix://${socket}`, kubeconfigPath: server.kubeconfigPath },
    config: { healthzPort, healthzBindAddress: '127.0.0.1', readOnlyPort, address: '127.0.0.1' },
  });
  ends.push(() => agent.kill());

  const health = async (): Promise<number> => (await fetch(`http://127.0.0.1:${healthzPort}/healthz`)).status;
  assert.equal(await health(), 500);
  assert.equal(server.get(NODES, 'node'), undefined);
  await until('the agent to be healthy', async () => (await health()) === 200);
  assert.ok(server.get(NODES, 'node') !== undefined);

  // As with kubelet it says no more than that the process answers, and is counted with the checks of the other servers.
  const at = async (port: number, path: string): Promise<string> =>
    (await fetch(`http://127.0.0.1:${port}${path}`)).text();
  assert.equal(await at(healthzPort, '/healthz?verbose'), '[+]ping ok\nhealthz check passed\n');
  assert.equal(await at(healthzPort, '/healthz/syncloop'), '404 page not found\n');
  const slis = await at(readOnlyPort, '/metrics/slis');
  assert.match(slis, /^kubernetes_healthchecks_total\{name="ping",status="error",type="healthz"\} [1-9]/m);
  assert.match(slis, /^kubernetes_healthchecks_total\{name="ping",status="success",type="healthz"\} [1-9]/m);
});
