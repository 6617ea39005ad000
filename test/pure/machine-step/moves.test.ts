/** What pod and node declare as their moves is what their machines can do, and any other move makes the step fail. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AnyStateMachine } from 'xstate';
import { compiledMachine } from '../../../machines/machine-step/compiled-machine.ts';
import { enterEvent } from '../../../machines/machine-step/move.ts';
import type { MoveTable } from '../../../machines/machine-step/move-table.ts';
import {
  bornPlace,
  interpretedStep,
  resolve,
  statePath,
  step,
  stepPlace,
} from '../../../machines/machine-step/step.ts';
import { initialNode } from '../../../machines/node/node-context.ts';
import { nodeMachine } from '../../../machines/node/node-machine.ts';
import { nodeMoves } from '../../../machines/node/node-moves.ts';
import type { PodContext, PodSnapshot } from '../../../machines/pod/pod-context.ts';
import { podMachine } from '../../../machines/pod/pod-machine.ts';
import { podMoves } from '../../../machines/pod/pod-moves.ts';
import { restoredPod, stepPod } from '../../../machines/pod/pod-step.ts';
import type { PodMessage } from '../../../machines/protocol/messages.ts';
import { pod, PodWorld, settings } from '../pod/pod-world.ts';

const podContext = bornPlace<PodContext>(podMachine, { pod: pod({}), source: 'file', settings }).context;

const machines: [AnyStateMachine, MoveTable<string>, unknown, string, number][] = [
  [podMachine, podMoves, podContext, 'pod default/web-node1', 418],
  [nodeMachine, nodeMoves, { ...initialNode(), nodeName: 'n1' }, 'node n1', 54],
];

for (const [machine, table, context, name, count] of machines) {
  test(`${machine.id}: of all pairs of states the declared ones are moves, each other one throws with both states, and XState agrees`, () => {
    const states = [...(compiledMachine(machine)?.values() ?? [])];
    const declares = (row: string, from: string, to: string) =>
      (row === from || from.startsWith(`${row}.`)) && table[row]?.[to] !== undefined;
    let moves = 0;
    for (const from of states)
      for (const to of states.filter((state) => state !== from)) {
        const event = enterEvent({ from: from.path, to: to.path });
        const compiled = () => stepPlace(machine, { value: from.value, context }, event, []).value;
        const interpreted = () => {
          const place = machine.resolveState({ value: from.value as never, context: context as never });
          return interpretedStep(machine, place, event).snapshot.value as unknown;
        };
        if (Object.keys(table).some((row) => declares(row, from.path, to.path))) {
          moves++;
          assert.deepEqual([statePath(compiled()), statePath(interpreted())], [to.path, to.path]);
          continue;
        }
        const said = { code: 'NOD009', params: { name, from: from.path, to: to.path } };
        assert.throws(compiled, said, `${from.path} -> ${to.path}`);
        assert.throws(interpreted, said, `${from.path} -> ${to.path}`);
      }
    assert.equal(moves, count);
  });

  test(`${machine.id}: each row of its table is a state, each move has a reason and enters an innermost state`, () => {
    const paths = [...(compiledMachine(machine)?.keys() ?? [])];
    for (const [from, row] of Object.entries(table)) {
      assert.ok(
        paths.some((path) => path === from || path.startsWith(`${from}.`)),
        from,
      );
      for (const [to, why] of Object.entries(row)) {
        assert.ok(paths.includes(to), to);
        assert.ok((why ?? '').length > 5, `${from} -> ${to}`);
      }
    }
  });
}

test('a life of a pod, step by step, is the same as XState reads the machine', () => {
  class Judged extends PodWorld {
    override send(message: PodMessage): void {
      const { value, context } = this.snapshot;
      const from = podMachine.resolveState({ value: value as never, context });
      const judged = interpretedStep<PodSnapshot>(podMachine, from as unknown as PodSnapshot, message);
      const { snapshot, effects } = step(podMachine, this.snapshot, message);
      assert.deepEqual(judged.effects, effects);
      assert.deepEqual(judged.snapshot.value, snapshot.value);
      assert.deepEqual(judged.snapshot.context, snapshot.context);
      assert.equal(statePath(snapshot.value), (snapshot.context as PodContext).focus);
      super.send(message);
    }
  }
  const world = new Judged(pod({}), null);
  world.run(3_000);
  world.exit('c', 1);
  world.run(30_000);
  world.send({ type: 'pod.terminate', at: world.at, order: { reason: 'Removed', message: '' } });
  world.run(60_000);
  assert.equal(world.finished, true);
});

test('a pod that is finished does not come back, nor does a node that shuts down', () => {
  // As nothing makes them: they have forgotten that they have ended.
  const ended = restoredPod({ terminated: 'kept' }, { ...podContext, focus: 'terminated.kept' });
  assert.throws(
    () => stepPod(ended, { type: 'pod.sync', at: 1 }),
    /NOD009: .* of pod default\/web-node1 .* from terminated\.kept to syncing\.waitingForRuntime/,
  );
  const forgetful = { ...initialNode(), nodeName: 'n1', focus: 'shuttingDown' };
  const down = resolve(nodeMachine, { value: 'shuttingDown', context: forgetful });
  assert.throws(
    () => step(nodeMachine, down, { type: 'node.registered', at: 1 } as { type: string }),
    /NOD009: .* of node n1 .* from shuttingDown to starting/,
  );
});
