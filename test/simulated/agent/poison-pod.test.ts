import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { explainFromJournal } from '../../../actors/inspect/explain/explain-from-journal.ts';
import { journalFiles, journalLines } from '../../../actors/record/journal/journal-reader.ts';
import { replay } from '../../../actors/record/journal/replay.ts';
import { bench, manifest, running, until } from './support/bench.ts';
import type { Bench } from './support/bench.ts';

/** The same UID each time, so that its shard is. */
function poisonPod(how: string): object {
  const metadata = { name: 'poison', uid: `poison-${how}`, annotations: { 'test/poison': how } };
  return { ...manifest('poison'), metadata };
}

async function rowOf(b: Bench, name: string) {
  return (await b.agent.rows()).find((row) => row.name.startsWith(name));
}

for (const how of ['step', 'effect'] as const) {
  test(`a pod that ends its worker in ${how === 'step' ? 'a step' : 'an effect'} is put aside the second time: the others go on, and it says why`, async (t) => {
    const b = await bench(t);
    await b.put('pods.yaml', ...Array.from({ length: 10 }, (_, i) => manifest(`p${i}`)));
    await running(b, 10);
    const containers = [...b.sim.state.containers.keys()].sort();

    await b.put('poison.yaml', poisonPod(how));
    const aside = await until(
      'the poison pod to be put aside',
      async () => {
        const row = await rowOf(b, 'poison');
        return row?.state === 'aside' ? row : null;
      },
      { agent: b.agent },
    );
    assert.match(aside.why, /2 workers in a row died on it/);
    await b.put('new.yaml', ...Array.from({ length: 4 }, (_, i) => manifest(`new${i}`)));
    await running(b, 14, (name) => !name.startsWith('poison'));
    const there = new Set(b.sim.state.containers.keys());
    assert.deepEqual(
      containers.filter((id) => !there.has(id)),
      [],
      'nothing of the others was restarted',
    );
    assert.match(await b.agent.metrics(), /actorlet_pods_put_aside_total 1/);

    const [pod] = (await b.agent.pods()).filter(({ metadata }) => metadata?.uid === `poison-${how}`);
    assert.equal(pod?.status?.reason, 'FailedSync');
    assert.match(pod.status.message ?? '', /put aside until .*2 workers in a row died on it/);
    const ready = pod.status.conditions?.find(({ type }) => type === 'Ready');
    assert.equal(ready?.status, 'False');
    const events = (await b.agent.events()).filter((event) => event.uid === `poison-${how}`);
    assert.ok(events.some((event) => event.reason === 'FailedSync' && event.type === 'Warning'));

    const journals = [join(b.dir, 'journal')];
    const told = await explainFromJournal({ pod: `poison-${how}`, journals, now: Date.now() });
    assert.match(told.summary, /put aside/);
    assert.equal(told.state, 'aside');

    // The machine that ends it gets as little of it as an end needs; it is tried again in 30 s only.
    if (how === 'effect') return;
    await b.remove('poison.yaml');
    await until('the poison pod to be gone', async () => (await b.agent.tracked()) === 14, { agent: b.agent });
    assert.match(await b.agent.metrics(), /actorlet_pods_put_aside_total 1/, 'not once more');
    await b.agent.stop();
    const result = await replay(journalLines(await journalFiles(journals)));
    assert.equal(result.difference, null);
  });
}
