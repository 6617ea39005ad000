/**
 * Journals that released agents wrote are decided the same way today: `releases/<version>/`. `node-*` is a node of 32 pods
 * on the simulated runtime with injected faults, one pod of each sort (init containers, sidecars, probes, crash loops, image
 * errors, hooks, deadlines, termination); `many-*` is one of 192 pods of the same sorts; `chaos-*` are pods of the property test (test/pure/pod/chaos.test.ts) in worlds
 * that misbehave, with segments that begin with snapshots.
 */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { journalBatches, journalFiles } from '../../../actors/record/journal/journal-reader.ts';
import { Replayer, replayBatches } from '../../../actors/record/journal/replay.ts';

const root = join(import.meta.dirname, 'releases');

for (const version of readdirSync(root)) {
  test(`journals of actorlet ${version} replay as identical`, async () => {
    const seen = new Set<string>();
    const replayer = new Replayer({
      onStep: ({ state, outputs }) => {
        seen.add(state);
        for (const output of outputs) seen.add((output as { type: string }).type);
      },
    });
    const batches = journalBatches(await journalFiles([join(root, version)]));
    const result = await replayBatches(batches, replayer, { onDifference: () => false });
    assert.equal(result.difference, null);
    assert.ok(result.messages > 3_000 && result.pods > 60, `${result.messages} messages of ${result.pods} pods`);
    // What makes these logs worth keeping is in them.
    for (const one of [
      'syncing.crashLoopBackOff',
      'syncing.imageBackOff',
      'syncing.initializing',
      'syncing.retryingStart',
      'syncing.waitingForStartupProbe',
      'terminating.stoppingContainers',
      'terminated.finished',
      'cri.ExecSync',
      'cri.RemovePodSandbox',
    ])
      assert.ok(seen.has(one), one);
  });
}
