import assert from 'node:assert/strict';
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isReady, restartsOf } from '../agent/support/seen.ts';
import { TestNode } from '../agent/support/test-node.ts';
import { PATIENT, podOf, runs, shell } from '../agent/support/test-pod.ts';
import { waitFor } from '../../tools/wait-for.ts';
import { assertNothingLeft, machineState } from '../support/machine-state.ts';
import type { MachineState } from '../support/machine-state.ts';
import { linesSaying } from './support/agent-words.ts';

const SHIM = fileURLToPath(new URL('./support/clock-shim.ts', import.meta.url));
const HOUR = 3_600_000;

describe('a clock that is set back by an hour', { concurrency: false }, () => {
  let clean: MachineState;
  let node: TestNode;
  let dir: string;
  const kept = { NODE_OPTIONS: process.env['NODE_OPTIONS'], CLOCK_SHIM_FILE: process.env['CLOCK_SHIM_FILE'] };
  before(async () => {
    clean = await machineState();
    dir = await mkdtemp(join(tmpdir(), 'clock-'));
    // the agent begins an hour ahead, so that its clock is the runtime's once it was set back
    await setShift(HOUR);
    process.env['CLOCK_SHIM_FILE'] = join(dir, 'shift');
    process.env['NODE_OPTIONS'] = `--import ${SHIM}`;
    node = await TestNode.make();
  });
  after(async () => {
    for (const [name, value] of Object.entries(kept)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    await node.stop();
    await rm(dir, { recursive: true, force: true });
    await assertNothingLeft(clean);
  });

  async function setShift(ms: number): Promise<void> {
    await writeFile(join(dir, 'next'), String(ms).padEnd(16));
    await rename(join(dir, 'next'), join(dir, 'shift'));
  }

  it('probes, restarts, observations and grace periods go on as if nothing had happened', async () => {
    await node.startAgent();
    const beats = join(node.rootDir, 'beats');
    const probed = shell('a', 'trap "exit 0" TERM; while :; do sleep 0.1; done', {
      livenessProbe: { exec: { command: ['sh', '-c', 'echo x >> /node/beats'] }, periodSeconds: 2, ...PATIENT },
      volumeMounts: [{ name: 'node', mountPath: '/node' }],
    });
    const volumes = [{ name: 'node', hostPath: { path: node.rootDir, type: 'Directory' } }];
    await node.write('probed.json', podOf('probed', [probed], { volumes }));
    await node.write('dies.json', podOf('dies', [runs('a')]));
    // takes no notice of TERM: what is left of its 12 s is what it gets
    const slow = shell('a', 'trap "" TERM; while :; do sleep 0.1; done');
    await node.write('slow.json', podOf('slow', [slow], { terminationGracePeriodSeconds: 12 }));
    for (const name of ['probed', 'dies', 'slow']) await node.waitPod(name, 'ready', isReady);
    const running = await node.running('probed');
    const count = async () => (await readFile(beats, 'utf8').catch(() => '')).length / 2;
    await waitFor('two probes', async () => ((await count()) >= 2 ? true : undefined));
    await node.remove('slow.json');
    await waitFor('slow terminates', async () =>
      (await node.machineState('slow')).startsWith('terminating') ? true : undefined,
    );

    await setShift(0);
    await waitFor('the agent to notice', async () =>
      (await linesSaying(node, 'The clock was set back')).length === 1 ? true : undefined,
    );
    const at = await count();
    // each of these would take an hour: the next probe, the news of an end, its restart, the end of a grace period
    await waitFor('four more probes', async () => ((await count()) >= at + 4 ? true : undefined));
    await node.containerd.cri.stopContainer((await node.running('dies'))['a'] ?? '');
    await node.waitPod('dies', 'restarted', (p) => isReady(p) && restartsOf(p)['a'] === 1);
    await node.containerd.cri.stopContainer((await node.running('dies'))['a'] ?? '');
    await node.waitPod('dies', 'restarted once more after its delay', (p) => isReady(p) && restartsOf(p)['a'] === 2);
    await node.waitGone('slow');
    await node.write('new.json', podOf('new', [runs('a')]));
    await node.waitPod('new', 'ready', isReady);
    await node.remove('new.json');
    await node.waitGone('new');
    assert.deepEqual(await node.running('probed'), running);
    assert.deepEqual(restartsOf((await node.pod('probed')) ?? {}), { a: 0 });
    assert.equal((await linesSaying(node, 'The clock was set back')).length, 1);
    const health = await fetch(`http://127.0.0.1:${node.ports.healthzPort}/healthz`);
    assert.equal(await health.text(), 'ok');

    // what it remembers of before the step does not hold up the next agent
    await node.agent.kill();
    await node.startAgent();
    const then = await count();
    await waitFor('two more probes', async () => ((await count()) >= then + 2 ? true : undefined));
    assert.deepEqual(await node.running('probed'), running);
  });
});
