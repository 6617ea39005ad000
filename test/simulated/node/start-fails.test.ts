import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { freePorts } from '../../../bin/demo-steps/free-ports.ts';
import { startSimulatedRuntime } from '../../../cri/sim/simulated-runtime.ts';
import type { Outcome, Task } from './failing-start.ts';

const PROGRAM = fileURLToPath(new URL('failing-start.ts', import.meta.url));
const POD = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p' },
  spec: { containers: [{ name: 'c', image: 'registry.example/a:1' }] },
};

/** A folder, a simulated runtime, a pod that wants to run, and a program around a node. */
async function rig(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'start-fails-'));
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
  const socket = join(folder, 'cri.sock');
  const runtime = await startSimulatedRuntime({ socket, seed: 1 });
  t.after(() => runtime.stop());
  const manifests = join(folder, 'manifests');
  await mkdir(manifests);
  await writeFile(join(manifests, 'p.json'), JSON.stringify(POD));
  const run = async ({ configuration = {}, flags = [], ...more }: Partial<Task> = {}): Promise<Outcome> => {
    const task: Task = {
      endpoint: `unix://${socket}`,
      rootDir: join(folder, 'root'),
      containerLogsDir: join(folder, 'container-logs'),
      configuration: {
        podLogsDir: join(folder, 'pod-logs'),
        staticPodPath: manifests,
        cgroupsPerQOS: false,
        makeIPTablesUtilChains: false,
        enforceNodeAllocatable: [],
        failCgroupV1: false,
        ...configuration,
      },
      flags: ['--hostname-override', 'n', '--shards', '2', ...flags],
      ...more,
    };
    const child = spawn(process.execPath, [PROGRAM, JSON.stringify(task)], { stdio: ['ignore', 'pipe', 'inherit'] });
    t.after(() => child.kill('SIGKILL'));
    const [out, [code]] = await Promise.all([text(child.stdout), once(child, 'exit') as Promise<[number | null]>]);
    assert.equal(code, 0, 'it ends by itself');
    return JSON.parse(out) as Outcome;
  };
  return { folder, run, pods: () => runtime.state.sandboxes.size };
}

/** A port that is in use until the test ends. */
async function takenPort(t: TestContext): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

function assertNothingLeft({ threads, sockets, children }: Outcome): void {
  assert.deepEqual({ threads, sockets, children }, { threads: 0, sockets: 0, children: 0 });
}

test('the port of health is the last that answers: who waits for it finds the others there', async (t) => {
  const { run } = await rig(t);
  const [healthzPort = 0] = await freePorts(1);
  let seen = false;
  const look = setInterval(() => {
    const socket = connect(healthzPort, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.on('connect', () => {
      seen = true;
      socket.destroy();
    });
  }, 2);
  t.after(() => {
    clearInterval(look);
  });
  const ports = { address: '127.0.0.1', enableServer: true, port: await takenPort(t), healthzPort };
  const outcome = await run({ configuration: ports });
  assert.match(outcome.error?.message ?? '', /in use|EADDRINUSE/);
  assert.equal(seen, false);
});

for (const [field, more] of [
  ['healthzPort', {}],
  ['readOnlyPort', { address: '127.0.0.1' }],
  ['port', { address: '127.0.0.1', enableServer: true, healthzPort: 0 }],
] as const)
  test(`${field} is taken: the start fails, no pod has run, and nothing is left`, async (t) => {
    const { run, pods } = await rig(t);
    const outcome = await run({ configuration: { ...more, [field]: await takenPort(t) } });
    assert.match(outcome.error?.message ?? '', /in use|EADDRINUSE/);
    assertNothingLeft(outcome);
    assert.equal(pods(), 0);
  });

test('the root directory cannot be made: the start fails with that, and nothing is left', async (t) => {
  const { run, folder } = await rig(t);
  await writeFile(join(folder, 'file'), '');
  const outcome = await run({ rootDir: join(folder, 'file', 'root') });
  assert.match(outcome.error?.message ?? '', /ENOTDIR/);
  assertNothingLeft(outcome);
});

test('there is no runtime: the start fails with that, and nothing is left', async (t) => {
  const { run, folder } = await rig(t);
  const outcome = await run({ endpoint: `unix://${join(folder, 'nobody.sock')}`, runtimePatienceMs: 300 });
  assert.match(outcome.error?.message ?? '', /nobody\.sock/);
  assertNothingLeft(outcome);
});

test('plugins for logins are configured wrongly: the start fails with that, and nothing is left', async (t) => {
  const { run, folder, pods } = await rig(t);
  const file = join(folder, 'providers.yaml');
  await writeFile(file, 'kind: Nonsense');
  const flags = ['--image-credential-provider-config', file, '--image-credential-provider-bin-dir', folder];
  const outcome = await run({ flags });
  assert.match(outcome.error?.code ?? '', /^IMG00[234]$/);
  assertNothingLeft(outcome);
  assert.equal(pods(), 0);
});

test('a part whose stop fails is told, and nothing is left', async (t) => {
  const { run } = await rig(t);
  const outcome = await run({ ownStop: 'rejects' });
  assert.equal(outcome.error, null);
  assert.match(outcome.told.join(''), /NOD008: The part pod sources of the node was not stopped: own/);
  assertNothingLeft(outcome);
});

test('a part whose stop hangs is given up and told, and nothing else is left', async (t) => {
  const { run } = await rig(t);
  const outcome = await run({ ownStop: 'hangs' });
  assert.equal(outcome.error, null);
  assert.match(outcome.told.join(''), /NOD008: The part pod sources of the node was not stopped: it has not ended/);
  assertNothingLeft(outcome);
});
