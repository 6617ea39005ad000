import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { journalFiles, journalLines } from '../../../actors/record/journal/journal-reader.ts';
import { replay } from '../../../actors/record/journal/replay.ts';
import { bench, manifest, running, until } from './support/bench.ts';

for (const kind of ['loop', 'exit'] as const) {
  test(`a shard falls into ${kind === 'loop' ? 'an endless loop' : 'its end'}: its pods are back, nothing restarts, the others are served`, async (t) => {
    const b = await bench(t);
    const pods = Array.from({ length: 40 }, (_, i) => manifest(`p${i}`));
    await b.put('pods.yaml', ...pods);
    await running(b, pods.length);
    const ids = [...b.sim.state.containers.keys()].sort();
    const segments = readdirSync(join(b.dir, 'journal')).length;

    await b.agent.fault(0, kind);
    // Meanwhile a new pod for each shard: the one on the healthy shard does not wait.
    await b.put('new.yaml', ...Array.from({ length: 8 }, (_, i) => manifest(`new${i}`)));
    await until('some of the new pods', async () =>
      (await b.agent.rows()).some((r) => r.name.startsWith('new') && r.state === 'syncing.running'),
    );
    await running(b, pods.length + 8);
    await until('the shard to be replaced', async () =>
      /actorlet_shard_restarts_total\{shard="0"\} [1-9]/.test(await b.agent.metrics()),
    );
    const after = [...b.sim.state.containers.values()];
    assert.deepEqual(
      after
        .filter((c) => c.sandbox.metadata.name.startsWith('p'))
        .map((c) => c.id)
        .sort(),
      ids,
    );
    // What a worker that dies was just making is lost to it, and may be made a second time: that concerns new pods only.
    const sandboxes = [...b.sim.state.sandboxes.values()];
    assert.equal(sandboxes.filter((s) => s.metadata.name.startsWith('p')).length, pods.length);
    assert.equal(new Set(sandboxes.filter((s) => s.state === 0).map((s) => s.metadata.name)).size, pods.length + 8);

    // Its pods are served again.
    await b.remove('pods.yaml');
    await until('the pods to be gone', async () => (await b.agent.tracked()) === 8, { agent: b.agent });
    await b.agent.stop();
    assert.ok(readdirSync(join(b.dir, 'journal')).length > segments, 'the new worker writes a journal of its own');
    const result = await replay(journalLines(await journalFiles([join(b.dir, 'journal')])));
    assert.equal(result.difference, null);
    assert.ok(result.messages > 0);
  });
}
