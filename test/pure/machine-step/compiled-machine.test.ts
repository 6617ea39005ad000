/** The table that `step` runs over says the same as XState's own reading of each machine. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { AnyStateMachine } from 'xstate';
import { createMachine, initialTransition } from 'xstate';
import { containerMachine } from '../../../machines/container/container-machine.ts';
import { initialContainer } from '../../../machines/container/container-context.ts';
import { act } from '../../../machines/machine-step/act.ts';
import { compiledMachine } from '../../../machines/machine-step/compiled-machine.ts';
import { bornPlace, interpretedStep, statePath, stepPlace } from '../../../machines/machine-step/step.ts';
import { podMachine } from '../../../machines/pod/pod-machine.ts';
import { probeMachine } from '../../../machines/probe/probe-machine.ts';
import { initialProbe } from '../../../machines/probe/probe-context.ts';
import { supervisorMachine } from '../../../machines/supervisor/supervisor-machine.ts';
import { pod, settings } from '../pod/pod-world.ts';

type Outcome = { path: string; context: string; effects: string } | { threw: true };

function outcome(run: () => { value: unknown; context: unknown; effects: unknown[] }): Outcome {
  try {
    const { value, context, effects } = run();
    return { path: statePath(value), context: JSON.stringify(context), effects: JSON.stringify(effects) };
  } catch {
    return { threw: true };
  }
}

function both(machine: AnyStateMachine, value: unknown, context: unknown, event: { type: string }): [Outcome, Outcome] {
  const compiled = outcome(() => {
    const effects: unknown[] = [];
    return { ...stepPlace(machine, { value, context }, event, effects), effects };
  });
  const interpreted = outcome(() => {
    const from = machine.resolveState({ value: value as never, context: context as never });
    const { snapshot, effects } = interpretedStep(machine, from, event);
    return { value: snapshot.value as unknown, context: snapshot.context as unknown, effects };
  });
  return [compiled, interpreted];
}

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });
const time = fc.constantFrom(0, 999_000, 1_000_000, 1_001_000, 1_400_000);
const key = fc.constantFrom('', 'container/c/3', 'container/c/4', 'probe/c/liveness/3');

const observed = fc.record({
  id: fc.constantFrom('c1', 'c2'),
  name: fc.constant('c'),
  sandboxId: fc.constant('s1'),
  state: fc.constantFrom('created', 'running', 'exited', 'unknown'),
  createdAt: time,
  startedAt: time,
  finishedAt: time,
  exitCode: fc.constantFrom(0, 1),
  reason: fc.constant(''),
  message: fc.constant(''),
  restartCount: fc.constantFrom(0, 2),
  annotations: fc.constant({}),
  labels: fc.constant({}),
  hash: fc.constantFrom('', 'h'),
  logPath: fc.constant('/log'),
});
const hook = { exec: { command: ['x'] } };
const container = fc.record({
  name: fc.constant('c'),
  image: fc.constantFrom('img:1', 'BAD NAME'),
  imagePullPolicy: fc.constantFrom('Always', 'IfNotPresent', 'Never'),
  lifecycle: fc.constantFrom(undefined, { postStart: hook }, { preStop: hook, postStart: { httpGet: { port: 80 } } }),
});
const world = container.chain((c) =>
  fc.record({
    at: time,
    pod: fc.constant(pod({ containers: [c] } as never)),
    container: fc.constant(c),
    settings: fc.constant(settings),
    hash: fc.constantFrom('h', 'i'),
    sandboxId: fc.constantFrom('', 's1'),
    sandboxConfig: maybe(fc.constant({ logDirectory: '/log', metadata: { attempt: 0 }, linux: {} })),
    podIPs: fc.constantFrom([], ['10.88.0.2']),
    volumePaths: maybe(fc.constant({})),
    observed: maybe(observed),
    nextAttempt: fc.constantFrom(0, 1),
    runtimeHandler: fc.constant(''),
    targetId: fc.constant(''),
  }),
);
const failure = fc.record({
  type: fc.constant('effect.failed'),
  at: time,
  effect: fc.constantFrom('image.Status', 'image.Pull', 'cri.CreateContainer', 'cri.StopContainer', 'net.HttpGet'),
  key,
  error: fc.record({
    code: fc.constantFrom('NotFound', 'Unknown', 'CreateContainerConfigError'),
    message: fc.string(),
  }),
});
const success = fc
  .constantFrom(
    ['image.Status', { present: null }],
    ['image.Status', { present: { imageRef: 'r', uid: null, username: '' } }],
    ['image.Pull', { imageRef: 'r', uid: null, username: '', ms: 1, waitedMs: 1, sizeBytes: 1 }],
    ['host.PrepareContainer', { subPaths: {} }],
    ['cri.CreateContainer', { containerId: 'c2' }],
    ['cri.ExecSync', { exitCode: 0, output: '' }],
    ['cri.ExecSync', { exitCode: 1, output: 'bad' }],
    ['cri.StartContainer', {}],
  )
  .chain(([effect, result]) =>
    fc.record({
      type: fc.constant('effect.done'),
      at: time,
      effect: fc.constant(effect),
      key,
      result: fc.constant(result),
    }),
  );
const order = fc.record({
  reason: fc.constantFrom('podTermination', 'liveness'),
  message: fc.constant('m'),
  graceSeconds: fc.constantFrom(0, 5),
  since: time,
  waitTurn: fc.boolean(),
});
const containerEvent = fc.oneof(
  fc
    .constantFrom('start', 'proceed', 'turn', 'observed', 'timer', 'changed', 'refresh', 'sync', 'nonsense')
    .map((type) => ({ type })),
  order.map((o) => ({ type: 'kill', order: o })),
  success.map((o) => ({ type: 'done', outcome: o })),
  failure.map((o) => ({ type: 'failed', outcome: o })),
);
const containerContext = fc
  .record({
    id: fc.constantFrom('', 'c1'),
    op: key,
    seq: fc.constant(3),
    image: maybe(fc.constant({ imageRef: 'r', uid: null, username: '' })),
    waiting: maybe(
      fc.constantFrom({ reason: 'CreateContainerConfigError', message: '' }, { reason: 'X', message: 'y' }),
    ),
    backOff: maybe(fc.constant({ delayMs: 10_000, since: 1_000_000, hash: 'h' })),
    imageBackOff: maybe(fc.constant({ delayMs: 10_000, since: 1_000_000, error: 'e' })),
    kill: maybe(order),
    deadline: maybe(time),
    preStopDone: fc.constantFrom('', 'c1'),
  })
  .map((patch) => ({ ...initialContainer('c', 'regular'), ...patch }));

test('the container machine: every state, every event', () => {
  const states = [...(compiledMachine(containerMachine)?.values() ?? [])];
  assert.equal(states.length, 18);
  let moved = 0;
  for (const state of states) {
    fc.assert(
      fc.property(containerContext, containerEvent, world, (context, event, w) => {
        const [compiled, interpreted] = both(containerMachine, state.value, context, { ...event, world: w } as never);
        assert.deepEqual(compiled, interpreted, `${state.path} ${event.type}`);
        if (!('threw' in compiled) && compiled.path !== state.path) moved++;
      }),
      { numRuns: 120, seed: 6 },
    );
  }
  assert.ok(moved > 100, `${moved} moves`);
});

test('the probe machine: every state, every event', () => {
  const states = [...(compiledMachine(probeMachine)?.values() ?? [])];
  assert.equal(states.length, 5);
  const kind = fc.constantFrom('liveness' as const, 'readiness' as const, 'startup' as const);
  const context = fc
    .record({
      kind,
      containerId: fc.constantFrom('', 'c1'),
      op: key,
      run: fc.constantFrom(0, 2),
      tries: fc.constantFrom(0, 2),
      deadline: maybe(time),
    })
    .map((patch) => ({ ...initialProbe('c', patch.kind), ...patch }));
  const probeWorld = fc.record({
    at: time,
    pod: fc.constant(pod({})),
    container: fc.constant({ name: 'c' }),
    probe: fc.constantFrom(
      { exec: { command: ['p'] } },
      { httpGet: { port: 'nowhere' } },
      { tcpSocket: { port: 80 }, failureThreshold: 1 },
    ),
    podIP: fc.constant('10.88.0.2'),
    runningId: fc.constantFrom('', 'c1', 'c2'),
    startedAt: time,
    started: fc.boolean(),
    terminating: fc.boolean(),
    adopted: fc.boolean(),
  });
  const event = fc.oneof(
    fc.constantFrom('look', 'timer', 'nonsense').map((type) => ({ type })),
    fc.boolean().map((byProbe) => ({ type: 'sync', byProbe })),
    success.map((o) => ({ type: 'done', outcome: o })),
    failure.map((o) => ({ type: 'failed', outcome: o })),
  );
  for (const state of states) {
    fc.assert(
      fc.property(context, event, probeWorld, (c, e, w) => {
        const [compiled, interpreted] = both(probeMachine, state.value, c, { ...e, world: w } as never);
        assert.deepEqual(compiled, interpreted, `${state.path} ${e.type}`);
      }),
      { numRuns: 150, seed: 6 },
    );
  }
});

test('machines are born where XState has them born', () => {
  const inputs: [AnyStateMachine, unknown][] = [
    [podMachine, { pod: pod({}), source: 'file', settings }],
    [containerMachine, { name: 'c', kind: 'regular' }],
    [probeMachine, { container: 'c', kind: 'startup' }],
    [supervisorMachine, { shards: 2 }],
  ];
  for (const [machine, input] of inputs) {
    const { value, context } = initialTransition(machine, input)[0] as { value: unknown; context: unknown };
    assert.deepEqual({ ...bornPlace(machine, input) }, { value, context }, machine.id);
    assert.notEqual(compiledMachine(machine), null, machine.id);
  }
});

test('entry actions, re-entry, ways of outer states, circles and machines beyond the table', () => {
  const say = (word: string) => act(() => ({ effects: [word as never] }));
  const toy = createMachine({
    id: 'toy',
    context: { n: 0 },
    initial: 'a',
    on: { out: '.b', deep: '#toy.b.y' },
    states: {
      a: {
        entry: say('a'),
        on: { go: { target: 'b', actions: say('a-b') }, self: { target: 'a' }, again: { target: 'a', reenter: true } },
      },
      b: {
        entry: say('b'),
        initial: 'x',
        on: { inner: { target: '.y' }, anew: { target: 'b', reenter: true }, self: { target: 'b' } },
        always: { guard: ({ context }) => context.n > 2, target: 'a', actions: act(() => ({ patch: { n: 0 } })) },
        states: {
          x: { entry: say('x') },
          y: {
            entry: say('y'),
            on: { back: 'x', count: { actions: act((c: { n: number }) => ({ patch: { n: c.n + 1 } })) } },
          },
        },
      },
    },
  });
  for (const value of ['a', { b: 'x' }, { b: 'y' }])
    for (const n of [0, 2, 5])
      for (const type of ['go', 'self', 'again', 'out', 'deep', 'inner', 'anew', 'back', 'count', 'nonsense']) {
        const [compiled, interpreted] = both(toy, value, { n }, { type });
        assert.deepEqual(compiled, interpreted, `${statePath(value)} ${type} ${n}`);
      }
  const circle = createMachine({ id: 'circle', initial: 'a', states: { a: { always: 'b' }, b: { always: 'a' } } });
  assert.throws(() => stepPlace(circle, { value: 'a', context: {} }, { type: 'x' }, []), /circles/);
  const parallel = createMachine({ type: 'parallel', states: { a: {}, b: {} } });
  assert.equal(compiledMachine(parallel), null);
  assert.equal(
    compiledMachine(createMachine({ initial: 'a', states: { a: { on: { x: { actions: () => undefined } } } } })),
    null,
  );
});
