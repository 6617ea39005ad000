import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { bench, manifest, running, until } from './support/bench.ts';

const PODS = 2_000;

/** The files (not folders) below a folder. */
function filesBelow(dir: string): string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((e) => !e.isDirectory())
    .map((e) => e.name);
}

/** What the agent's log tells of shards that were replaced, of the runtime, and of sandboxes and containers that failed. */
function troubles(logFile: string): string[] {
  const words =
    /Shard is|Shard ended|Runtime state changed|FailedCreatePodSandBox|SandboxChanged|"reason":"Failed"|machine failed/;
  return readFileSync(logFile, 'utf8')
    .split('\n')
    .filter((line) => words.test(line))
    .slice(0, 20);
}

test('2,000 pods run on one agent, then all are removed and nothing is left', async (t) => {
  const b = await bench(t);
  const empty = await b.agent.usage();
  let from = performance.now();
  await b.put('pods.yaml', ...Array.from({ length: PODS }, (_, i) => manifest(`pod-${i}`)));
  await running(b, PODS);
  const full = await b.agent.usage();
  t.diagnostic(
    `all run after ${Math.round(performance.now() - from)} ms; CPU ${full.cpuMs - empty.cpuMs} ms, RSS ${empty.rssMiB} -> ${full.rssMiB} MiB`,
  );
  const rows = await b.agent.rows();
  assert.equal(new Set(rows.map((r) => r.ip)).size, PODS);
  assert.ok(rows.every((r) => r.phase === 'Running' && r.restarts === 0));
  assert.deepEqual(
    [b.sim.state.calls.count('RunPodSandbox'), b.sim.state.calls.count('CreateContainer')],
    [PODS, PODS],
    `made more than once; from the log:\n${troubles(b.agent.logFile).join('\n')}`,
  );

  from = performance.now();
  await b.remove('pods.yaml');
  await until('all to be gone', async () => (await b.agent.tracked()) === 0, {
    everyMs: 250,
    withinMs: 900_000,
    agent: b.agent,
  });
  const gone = await b.agent.usage();
  t.diagnostic(
    `all are gone after ${Math.round(performance.now() - from)} ms; CPU ${gone.cpuMs - full.cpuMs} ms, RSS ${gone.rssMiB} MiB`,
  );
  const { state } = b.sim;
  assert.deepEqual([state.sandboxes.size, state.containers.size, state.addressesInUse], [0, 0, [0]]);
  assert.deepEqual(readdirSync(join(b.dir, 'root/pods')), []);
  assert.deepEqual(filesBelow(join(b.dir, 'pod-logs')), []);
  assert.deepEqual(readdirSync(join(b.dir, 'container-logs')), []);
  assert.deepEqual((await b.agent.rows()).length, 0);
});
