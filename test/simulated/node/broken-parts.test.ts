import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { unmountBelow } from '../../../actors/host/files/mounts.ts';
import { startSimulatedRuntime } from '../../../cri/sim/simulated-runtime.ts';
import { startFakeApiServer } from '../api/support/fake-api-server.ts';
import type { BrokenNode, Breaking } from './breaking-parts.ts';
import { problemOf } from './faulty-parts.ts';

const PROGRAM = fileURLToPath(new URL('breaking-parts.ts', import.meta.url));
const NOTHING = { threads: 0, sockets: 0, children: 0, timers: [] };

/** `ran`: pods that the runtime got from it. */
type Ran = BrokenNode & { ran: number };

/** What becomes of nodes of which each part is broken in turn, and of a whole one. */
async function nodesOf(t: TestContext, options: Pick<Breaking, 'breaks'> & { cluster: boolean }): Promise<Ran[]> {
  const folder = await mkdtemp(join(tmpdir(), 'broken-parts-'));
  t.after(async () => {
    await unmountBelow(folder);
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  });
  const socket = join(folder, 'cri.sock');
  const runtime = await startSimulatedRuntime({ socket, seed: 1 });
  t.after(() => runtime.stop());
  const server = options.cluster ? await startFakeApiServer() : null;
  t.after(() => server?.close());
  const task: Breaking = {
    ...{ endpoint: `unix://${socket}`, folder, breaks: options.breaks },
    kubeconfig: server?.kubeconfigPath ?? null,
  };
  const child = spawn(process.execPath, [PROGRAM, JSON.stringify(task)], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  const ended = once(child, 'exit');
  const nodes: Ran[] = [];
  let seen = runtime.state.sandboxes.size;
  for await (const line of createInterface(child.stdout)) {
    const { size } = runtime.state.sandboxes;
    nodes.push({ ...(JSON.parse(line) as BrokenNode), ran: size - seen });
    seen = size;
  }
  const [code] = (await ended) as [number | null];
  assert.equal(code, 0, 'it ends by itself');
  return nodes;
}

/** Why stops failed, by part, as the node told it. */
function stopsTold({ told }: Ran): string[][] {
  return told.flatMap((line) => {
    const [, part = '', problem = ''] =
      /NOD008: The part (.*?) of the node was not stopped: (.*?)\. The other/.exec(
        (JSON.parse(line) as Line).err?.message ?? '',
      ) ?? [];
    return part === '' ? [] : [[part, problem]];
  });
}

interface Line {
  err?: { message: string };
}

const nameOf = ({ name }: { name: string }) => name;

for (const { cluster, kind } of [
  { cluster: false, kind: 'a standalone node' },
  { cluster: true, kind: 'a node with an API server' },
])
  test(`${kind} that is stopped leaves nothing, and each of its parts has a name of its own`, async (t) => {
    const [node, ...more] = await nodesOf(t, { breaks: null, cluster });
    assert.ok(node);
    assert.deepEqual(more, []);
    assert.deepEqual([node.error, node.left, stopsTold(node)], [null, NOTHING, []]);
    const names = node.parts.map(nameOf);
    assert.deepEqual([...new Set(names)], names);
    // What has a machine or a thread of its own is among them.
    for (const part of ['shards', 'inspector', 'strange files', 'eviction', 'image GC', 'journals'])
      assert.ok(names.includes(part), part);
    assert.equal(names.includes('API client'), cluster);
  });

test('whichever part does not start, or fails when it has: its error is thrown, and nothing is left', async (t) => {
  const [, ...nodes] = await nodesOf(t, { breaks: 'starts', cluster: true });
  for (const node of nodes) {
    const { parts, error, left, fed, ran } = node;
    const [broken] = node.broken;
    assert.ok(broken);
    const what = problemOf(broken);
    assert.equal(error, what);
    assert.deepEqual([left, stopsTold(node)], [NOTHING, []], what);
    const at =
      parts.findIndex(({ name }) => name === broken.part) - parts.findIndex(({ name }) => name === 'pod sources');
    if (at < 0 || (at === 0 && broken.fault === 'does not start')) assert.deepEqual([fed, ran], [false, 0], what);
  }
  const tried = nodes.map(({ broken: [one] }) => one?.part);
  assert.deepEqual([...new Set(tried)], nodes[0]?.parts.map(nameOf), 'all parts had their turn');
});

test('whichever stop rejects or hangs: that is told, all others are stopped, and nothing is left', async (t) => {
  const [, ...nodes] = await nodesOf(t, { breaks: 'stops', cluster: true });
  for (const node of nodes) {
    const [rejects, hangs] = node.broken;
    assert.ok(rejects !== undefined && hangs !== undefined);
    const what = `${problemOf(rejects)}, ${problemOf(hangs)}`;
    assert.equal(node.error, null, what);
    assert.deepEqual(node.left, NOTHING, what);
    const told = [
      [rejects.part, problemOf(rejects)],
      [hangs.part, 'it has not ended within 0.2 s'],
    ];
    assert.deepEqual(stopsTold(node).sort(), told.sort(), what);
  }
  for (const turn of [0, 1]) {
    const tried = nodes.map(({ broken }) => broken[turn]?.part);
    assert.deepEqual(tried.sort(), nodes[0]?.parts.map(nameOf).sort(), 'all parts had their turn');
  }
});
