/** The node machine: its states from what it was told last, and its orders from what changed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { node } from '../../../actors/record/machines/node.ts';
import type { NodeSnapshot } from '../../../actors/record/machines/node.ts';
import { NODE_REASONS, explainNode, nodeCause } from '../../../machines/explain/node-reasons.ts';
import { compiledMachine } from '../../../machines/machine-step/compiled-machine.ts';
import { bornSnapshot, interpretedStep, resolve, statePath } from '../../../machines/machine-step/step.ts';
import type { NodeMessage, NodeOrder } from '../../../machines/node/node-context.ts';
import { nodeMachine } from '../../../machines/node/node-machine.ts';
import type { RuntimeLook } from '../../../machines/node-object/ready-message.ts';
import { runtimeHealthOf } from '../../../machines/node-object/ready-message.ts';

const condition = (type: string, status: boolean) => ({ type, status, reason: 'R', message: 'm' });
const answered = (runtime: boolean, network: boolean): RuntimeLook => ({
  state: 'answered',
  conditions: [condition('RuntimeReady', runtime), condition('NetworkReady', network)],
});
const runtime = (look: RuntimeLook): NodeMessage => ({ type: 'runtime.state', at: 10, ...runtimeHealthOf(look) });
const pleg = (problem: string | null): NodeMessage => ({ type: 'pleg.state', at: 10, problem });
const begin = (cluster: boolean): NodeMessage => ({ type: 'node.start', at: 1, nodeName: 'n', agent: 'v', cluster });

function through(...messages: NodeMessage[]): { snapshot: NodeSnapshot; states: string[]; orders: NodeOrder[] } {
  let snapshot = bornSnapshot(nodeMachine, undefined) as NodeSnapshot;
  const states: string[] = [];
  let orders: NodeOrder[] = [];
  for (const message of messages) {
    ({ state: snapshot, outputs: orders } = node.step(snapshot, message));
    states.push(statePath(snapshot.value));
  }
  return { snapshot, states, orders };
}

test('a start with an API server: starting, registering, waitingForSources, running, shuttingDown', () => {
  const { states } = through(
    begin(true),
    runtime(answered(true, true)),
    pleg(null),
    { type: 'node.registered', at: 10 },
    { type: 'sources.ready', at: 11 },
    { type: 'node.stop', at: 12 },
  );
  assert.deepEqual(states, [
    'starting',
    'starting',
    'ready.registering',
    'ready.waitingForSources',
    'ready.running',
    'shuttingDown',
  ]);
});

test('a runtime that has been quiet for less than half a minute keeps pods waiting, and leaves the node as it was', () => {
  const well = runtimeHealthOf(answered(true, true));
  const quiet = runtime({ state: 'quiet', before: well });
  const start = [begin(false), runtime(answered(true, true)), pleg(null), { type: 'sources.ready', at: 11 }] as const;
  const { states, orders, snapshot } = through(...start, quiet);
  assert.equal(states.at(-1), 'ready.running');
  assert.deepEqual(orders, [{ type: 'pods.tellRuntime', runtimeReady: false, networkReady: false }]);
  const cause = nodeCause({ context: snapshot.context, since: 10 });
  assert.match(cause?.text ?? '', /does not answer/);
  assert.equal(cause?.at, 0, 'since when is not known: the node is as it was');
  // It answers again: nothing was posted, and pods go on.
  const back = through(...start, quiet, runtime(answered(true, true)));
  assert.ok(back.orders.some((order) => order.type === 'pods.tellRuntime' && order.runtimeReady));
  // It does not: now the node is told.
  const down = through(...start, quiet, runtime({ state: 'silent' }));
  assert.equal(down.states.at(-1), 'notReady.runtimeDown');
  assert.deepEqual(down.orders, [{ type: 'status.post' }]);
  // What was wrong with its network stays so.
  const before = runtimeHealthOf(answered(true, false));
  const without = through(...start, runtime(answered(true, false)), runtime({ state: 'quiet', before }));
  assert.equal(without.states.at(-1), 'notReady.networkNotReady');
});

test('what stands in the way first, with the words of the Ready condition', () => {
  for (const [looks, state, reasons] of [
    [[runtime({ state: 'silent' }), pleg(null)], 'notReady.runtimeDown', ['container runtime is down']],
    [
      [runtime(answered(false, false)), pleg('p')],
      'notReady.runtimeNotReady',
      [
        'container runtime not ready: RuntimeReady=false reason:R message:m',
        'PLEG is not healthy: p',
        'container runtime network not ready: NetworkReady=false reason:R message:m',
      ],
    ],
    [[runtime(answered(true, true)), pleg('p')], 'notReady.plegUnhealthy', ['PLEG is not healthy: p']],
    [
      [runtime(answered(true, false)), pleg(null)],
      'notReady.networkNotReady',
      ['container runtime network not ready: NetworkReady=false reason:R message:m'],
    ],
    [[runtime(answered(true, true)), pleg(null)], 'ready.waitingForSources', []],
  ] as const) {
    const { snapshot } = through(begin(false), ...looks);
    assert.deepEqual([statePath(snapshot.value), [...snapshot.context.reasons]], [state, [...reasons]]);
    const { summary, causes } = explainNode({ context: snapshot.context, since: 10 }, 5_010);
    assert.match(summary, new RegExp(`^the node n is in ${state} since 5 s: `));
    for (const reason of reasons)
      assert.ok(
        causes.some(({ text }) => text.endsWith(reason)),
        reason,
      );
    assert.equal(nodeCause({ context: snapshot.context, since: 10 }) === null, reasons.length === 0);
  }
});

test('orders: pods are told of a runtime that changed, looked at when it is back, and the status is posted', () => {
  const before = [begin(false), runtime(answered(true, true)), pleg(null)];
  const types = (...messages: NodeMessage[]) => through(...before, ...messages).orders.map(({ type }) => type);
  assert.deepEqual(types(runtime({ state: 'silent' })), ['status.post', 'pods.tellRuntime']);
  assert.deepEqual(types(runtime({ state: 'silent' }), runtime(answered(false, false))), []);
  assert.deepEqual(types(runtime({ state: 'silent' }), runtime(answered(true, true))), [
    'status.post',
    'pods.tellRuntime',
    'pods.observe',
  ]);
  assert.deepEqual(types(pleg('p')), ['status.post']);
  assert.deepEqual(types({ type: 'sources.ready', at: 3 }), []);
});

test('any messages: the chart follows the focus, the table says what XState says, a restored place goes on the same', () => {
  const look = fc.constantFrom<RuntimeLook>(
    { state: 'silent' },
    ...[true, false].flatMap((a) => [true, false].map((b) => answered(a, b))),
  );
  const message = fc.oneof<fc.Arbitrary<NodeMessage>[]>(
    look.map(runtime),
    fc.constantFrom(null, 'p').map(pleg),
    fc.constantFrom<NodeMessage>({ type: 'sources.ready', at: 2 }, { type: 'node.registered', at: 2 }),
    fc.constant<NodeMessage>({ type: 'node.stop', at: 2 }),
  );
  const seen = new Set<string>();
  fc.assert(
    fc.property(fc.boolean(), fc.array(message, { maxLength: 12 }), (cluster, messages) => {
      let { snapshot } = through(begin(cluster));
      for (const m of messages) {
        const json = JSON.parse(JSON.stringify({ value: snapshot.value, context: snapshot.context })) as {
          value: unknown;
          context: object;
        };
        const again = node.step(resolve(nodeMachine, json) as NodeSnapshot, m);
        const from = nodeMachine.resolveState({ value: snapshot.value as never, context: snapshot.context });
        const judged = interpretedStep<never, NodeOrder>(nodeMachine, from as never, m);
        const next = node.step(snapshot, m);
        assert.deepEqual([again.outputs, judged.effects], [next.outputs, next.outputs]);
        assert.deepEqual(again.state.context, next.state.context);
        snapshot = next.state;
        const state = statePath(snapshot.value);
        assert.equal(state, snapshot.context.focus);
        assert.equal(state, statePath((judged.snapshot as NodeSnapshot).value));
        assert.equal(
          state.startsWith('ready'),
          state !== 'starting' && state !== 'shuttingDown' && snapshot.context.reasons.length === 0,
        );
        seen.add(state);
      }
    }),
    { numRuns: 400, seed: 6 },
  );
  assert.deepEqual([...seen].sort(), [...(compiledMachine(nodeMachine)?.keys() ?? [])].sort());
});

test('the reasons name each state of the chart, and no other', () => {
  assert.deepEqual(Object.keys(NODE_REASONS).sort(), [...(compiledMachine(nodeMachine)?.keys() ?? [])].sort());
});
