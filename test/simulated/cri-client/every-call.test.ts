import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { startSimulatedRuntime } from '../../../cri/sim/simulated-runtime.ts';
import type { SimulatedRuntimeOptions } from '../../../cri/sim/simulated-runtime.ts';
import { lacksTool, referenceTool } from '../../tools/reference-tool.ts';

const skip = await lacksTool('cri-client');
const image = 'docker.io/library/busybox:latest';
const script: SimulatedRuntimeOptions['script'] = {
  containers: [{ exec: [{ command: ['sh -c *'], results: [{ code: 3, stdout: 'hello\n' }] }] }],
};

/** Runs the Go program against a simulated runtime. */
async function run(t: TestContext, options: Omit<SimulatedRuntimeOptions, 'socket'>, ...args: string[]) {
  const program = await referenceTool('cri-client');
  const folder = await mkdtemp(join(tmpdir(), 'cri-client-'));
  const socket = join(folder, 'sim.sock');
  const runtime = await startSimulatedRuntime({ socket, ...options });
  t.after(async () => {
    await runtime.stop();
    await rm(folder, { recursive: true, force: true });
  });
  const child = spawn(program, ['-endpoint', `unix://${socket}`, '-image', image, '-dir', folder, ...args]);
  t.after(() => child.kill('SIGKILL'));
  let output = '';
  child.stdout.on('data', (bytes) => (output += String(bytes)));
  child.stderr.on('data', (bytes) => (output += String(bytes)));
  const code = await new Promise((resolve) => child.on('close', resolve));
  return { code, output, runtime };
}

test('the Go client of Kubernetes gets right answers to every call of CRI v1', { skip }, async (t) => {
  const { code, output, runtime } = await run(t, { script, seed: 1 });
  assert.equal(code, 0, output);
  assert.match(output, /^35 methods called, 0 wrong$/m);
  assert.doesNotMatch(output, /^skip/m);
  assert.equal(runtime.state.sandboxes.size, 0);
  assert.equal(runtime.state.containers.size, 0);
});

test('a runtime of the age of containerd 1.6 passes when told so, and only then', { skip }, async (t) => {
  const old = {
    supportsEvents: false,
    supportsRuntimeConfig: false,
    supportsPodResources: false,
    supportsCheckpoint: false,
  };
  const lenient = await run(t, { script: { ...script, runtime: old }, seed: 1 }, '-lenient');
  assert.equal(lenient.code, 0, lenient.output);
  assert.equal(lenient.output.match(/^skip/gm)?.length, 4, lenient.output);
});

test('the Go program notices a wrong answer', { skip }, async (t) => {
  const { code, output } = await run(t, { seed: 1 });
  assert.equal(code, 1, output);
  assert.match(output, /^WRONG ExecSync .*exit code 0/m);
});
