import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { restoreMemory } from '../../../actors/record/journal/restore-memory.ts';
import type { Bench } from './support/bench.ts';
import { bench, manifest, until } from './support/bench.ts';

/** Runs once, at once; the next run of an agent that starts anew lies minutes ahead. */
const POD = manifest('p', {}, { readinessProbe: { exec: { command: ['p'] }, periodSeconds: 3600 } });

/** `[started, ready]` of the pod's container, once it is told as running. */
async function told(b: Bench): Promise<unknown[]> {
  return until(
    'the status',
    async () => {
      const [pod] = await b.agent.pods();
      const [status] = pod?.status?.containerStatuses ?? [];
      return status?.state?.running === undefined ? null : [status.started, status.ready];
    },
    { agent: b.agent },
  );
}

/** Would the next agent know a container as ready? */
function isReadyIn(journal: string): boolean {
  return [...restoreMemory(journal).values()].some(({ status }) => status?.containerStatuses?.[0]?.ready === true);
}

for (const gate of [false, true])
  test(`ChangeContainerStatusOnKubeletRestart=${gate}: a container that was ready is ${gate ? 'not ' : ''}when the agent is killed and starts`, async (t) => {
    const b = await bench(t, { config: { featureGates: { ChangeContainerStatusOnKubeletRestart: gate } } });
    await b.put('p.yaml', POD);
    await until('ready', async () => (await told(b))[1] === true, { agent: b.agent });
    // An agent that is killed may lose the last milliseconds of its journal (docs/journal.md), and what was told here is as young.
    await until('the journal to have it', () => Promise.resolve(isReadyIn(join(b.dir, 'journal'))), { agent: b.agent });
    await b.agent.kill();
    await b.restart();
    assert.deepEqual(await told(b), [true, !gate]);
    assert.equal(b.sim.state.calls.count('CreateContainer'), 1);
  });

test('a static pod that was refused is judged anew by the next agent', async (t) => {
  const b = await bench(t, { config: { maxPods: 1 } });
  const phaseOf = async (name: string) =>
    (await b.agent.pods()).find(({ metadata }) => metadata?.name === `${name}-node`)?.status?.phase;
  await b.put('a.yaml', manifest('a'));
  await until('the first to run', async () => (await phaseOf('a')) === 'Running', { agent: b.agent });
  await b.put('b.yaml', manifest('b'));
  await until('the second to be refused', async () => (await phaseOf('b')) === 'Failed', { agent: b.agent });
  const isKnown = () =>
    [...restoreMemory(join(b.dir, 'journal')).values()].some(({ status }) => status?.phase === 'Failed');
  await until('the journal to have it', () => Promise.resolve(isKnown()), { agent: b.agent });
  await b.remove('a.yaml');
  await b.agent.kill();
  await b.restart();
  await until('the second to run', async () => (await phaseOf('b')) === 'Running', { agent: b.agent });
});
