import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { tellPodCIDR } from '../../../actors/node/node-network.ts';
import { createLogger } from '../../../actors/record/logging/create-logger.ts';
import { createCriClient } from '../../../cri/client/cri-client.ts';
import { startSimulatedRuntime } from '../../../cri/sim/simulated-runtime.ts';

test('the runtime is told the podCIDR of the configuration; an error is only logged', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'pod-cidr-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const socket = join(folder, 'sim.sock');
  const runtime = await startSimulatedRuntime({ socket, seed: 1 });
  const cri = createCriClient({ endpoint: `unix://${socket}`, retryMs: 0 });
  const lines: string[] = [];
  const log = createLogger({ format: 'text', verbosity: 0 }, { write: (line) => lines.push(line) });
  const told = async () => {
    const { info } = await cri.runtime.status({ verbose: true });
    return (JSON.parse(info.config ?? '{}') as { podCidr?: string }).podCidr;
  };

  await tellPodCIDR(cri, '', log);
  assert.deepEqual([await told(), lines.length], ['', 0], 'nothing is asked for');
  await tellPodCIDR(cri, '10.9.0.0/24', log);
  assert.equal(await told(), '10.9.0.0/24');
  assert.match(lines[0] ?? '', /"Updating Pod CIDR" originalPodCIDR="" newPodCIDR="10\.9\.0\.0\/24"/);

  await runtime.stop();
  await tellPodCIDR(cri, '10.9.0.0/24', log);
  assert.match(lines[1] ?? '', /^E.*"Pod CIDR update failed" err=/);
  cri.close();
});
