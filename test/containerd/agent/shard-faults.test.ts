import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { shardOf } from '../../../machines/supervisor/supervisor-step.ts';
import { assertNothingLeft, machineState } from '../support/machine-state.ts';
import type { MachineState } from '../support/machine-state.ts';
import { InProcessNode } from './support/in-process-node.ts';
import { assertDelayKept, isReady, restartsOf } from './support/seen.ts';
import { PATIENT, podOf, runs, shell } from './support/test-pod.ts';
import { breakShard } from '../../simulated/agent/support/break-shard.ts';
import { waitFor } from '../../tools/wait-for.ts';

const SHARDS = 2;

describe('a worker thread that fails, on real containerd', { concurrency: false }, () => {
  let clean: MachineState;
  let node: InProcessNode;
  before(async () => {
    clean = await machineState();
    node = await InProcessNode.start(SHARDS);
  });
  after(async () => {
    await node.stop();
    await assertNothingLeft(clean);
  });

  /** A UID that lives on this shard. */
  function uidOn(shard: number, start: number): string {
    for (let n = start; ; n++) {
      const uid = `00000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`;
      if (shardOf(uid, SHARDS) === shard) return uid;
    }
  }

  for (const [kind, seed] of [
    ['exit', 1_000],
    ['loop', 2_000],
  ] as const) {
    it(`${kind === 'exit' ? 'killed' : 'stuck in an endless loop'}: its pods are back, nothing is restarted, the others never notice`, async () => {
      const sick = uidOn(0, seed);
      const well = uidOn(1, seed);
      const crash = uidOn(0, seed + 100);
      const probe = { exec: { command: ['true'] }, periodSeconds: 1, ...PATIENT };
      const containers = [runs('a', { livenessProbe: probe, readinessProbe: probe, startupProbe: probe }), runs('b')];
      await node.write(`sick-${kind}.json`, podOf(`sick-${kind}`, containers, {}, { uid: sick }));
      await node.write(`well-${kind}.json`, podOf(`well-${kind}`, containers, {}, { uid: well }));
      await node.write(
        `crash-${kind}.json`,
        podOf(`crash-${kind}`, [shell('a', 'exit 1'), runs('b')], {}, { uid: crash }),
      );
      for (const uid of [sick, well]) await node.waitPod(uid, 'ready', isReady);
      const waiting = await node.waitPod(
        crash,
        'its second delay',
        (p) =>
          p.status?.containerStatuses
            ?.find((c) => c.name === 'a')
            ?.state?.waiting?.message?.startsWith('back-off 20s') ?? false,
      );
      // the crashing container runs for a moment when its delay is over
      const steady = async () => (await node.running()).filter((line) => !/^crash-\S+ a /.test(line));
      const before = await steady();
      const restartsBefore = await node.restarts(0);

      const sickHandled = await node.handled(0);
      breakShard(node.node.shards, 0, kind);
      // the other shard answers while this one does not: a pod is added, becomes ready and goes
      const quick = uidOn(1, seed + 50);
      await node.write(`quick-${kind}.json`, podOf(`quick-${kind}`, [runs('a')], {}, { uid: quick }));
      await node.waitPod(quick, 'ready', isReady);
      await node.remove(`quick-${kind}.json`);
      await waitFor('its end', () => (node.podByUid(quick) === undefined ? true : undefined));

      await waitFor('a new worker', async () => ((await node.restarts(0)) > restartsBefore ? true : undefined));
      // the new worker serves its pods: an order reaches them, and messages flow
      await waitFor('messages in the new worker', async () =>
        (await node.handled(0)) > sickHandled + 5 ? true : undefined,
      );
      const sickPod = await node.waitPod(sick, 'ready', isReady);
      const wellPod = await node.waitPod(well, 'ready', isReady);
      for (const pod of [sickPod, wellPod]) assert.deepEqual(restartsOf(pod), { a: 0, b: 0 });
      assert.deepEqual(await steady(), before);
      const crashPod = await node.waitPod(
        crash,
        'still in its delay',
        (p) => p.status?.containerStatuses?.find((c) => c.name === 'a')?.state?.waiting?.reason === 'CrashLoopBackOff',
      );
      assertDelayKept(waiting, crashPod, 'a', 20);
      assert.equal(restartsOf(crashPod)['b'], 0);
      assert.equal(await node.restarts(1), 0);

      for (const name of ['sick', 'well', 'crash']) await node.remove(`${name}-${kind}.json`);
      for (const uid of [sick, well, crash])
        await waitFor(`the end of ${uid}`, () => (node.podByUid(uid) === undefined ? true : undefined));
      await waitFor('an empty runtime', async () =>
        (await node.containerd.cri.pods()).length === 0 ? true : undefined,
      );
    });
  }

  it('killed while its pods start and end: they get there all the same', async () => {
    const young = uidOn(0, 9_000);
    const old = uidOn(0, 9_500);
    await node.write(
      'old.json',
      podOf(
        'old',
        [shell('a', 'trap "sleep 4; exit 0" TERM; while :; do sleep 0.1; done')],
        { terminationGracePeriodSeconds: 20 },
        { uid: old },
      ),
    );
    await node.waitPod(old, 'ready', isReady);
    await node.write(
      'young.json',
      podOf('young', [runs('a'), runs('b')], { initContainers: [shell('i', 'sleep 1')] }, { uid: young }),
    );
    await node.remove('old.json');
    await waitFor('old terminates', () =>
      node.node.store.reportOf(old)?.state.startsWith('terminating') === true ? true : undefined,
    );
    breakShard(node.node.shards, 0, 'exit');
    const pod = await node.waitPod(young, 'ready', isReady);
    assert.deepEqual(restartsOf(pod), { i: 0, a: 0, b: 0 });
    await waitFor('the end of old', () => (node.podByUid(old) === undefined ? true : undefined));
    const names = (await node.containerd.cri.containers()).map((c) => c.metadata?.name).sort();
    assert.deepEqual(names, ['a', 'b', 'i']);
    await node.remove('young.json');
    await waitFor('the end of young', () => (node.podByUid(young) === undefined ? true : undefined));
  });
});
