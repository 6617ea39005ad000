import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { ChaosWorld } from './chaos-world.ts';
import { pod } from './pod-world.ts';

const probe = {
  exec: { command: ['p'] },
  periodSeconds: 2,
  failureThreshold: 2,
  successThreshold: 1,
  timeoutSeconds: 1,
};
const web = { name: 'c', image: 'img:1', imagePullPolicy: 'IfNotPresent' as const };

const policy = fc.constantFrom('Always', 'OnFailure', 'Never');
const shape: fc.Arbitrary<Partial<NonNullable<Pod['spec']>>> = fc
  .record({
    restartPolicy: policy,
    init: fc.boolean(),
    side: fc.boolean(),
    two: fc.boolean(),
    probes: fc.boolean(),
    hooks: fc.boolean(),
    grace: fc.constantFrom(0, 1, 5, 30),
    deadline: fc.constantFrom(undefined, undefined, 40),
  })
  .map(({ restartPolicy, init, side, two, probes, hooks, grace, deadline }) => ({
    restartPolicy,
    terminationGracePeriodSeconds: grace,
    ...(deadline !== undefined && { activeDeadlineSeconds: deadline }),
    initContainers: [
      ...(init ? [{ ...web, name: 'i1' }] : []),
      ...(side
        ? [
            {
              ...web,
              name: 's',
              restartPolicy: 'Always',
              ...(probes && { startupProbe: probe }),
              ...(hooks && { lifecycle: { preStop: { sleep: { seconds: 2 } } } }),
            },
          ]
        : []),
      ...(init ? [{ ...web, name: 'i2' }] : []),
    ],
    containers: [
      {
        ...web,
        ...(probes && { livenessProbe: probe, readinessProbe: probe }),
        ...(hooks && {
          lifecycle: { preStop: { exec: { command: ['stop'] } }, postStart: { exec: { command: ['start'] } } },
        }),
      },
      ...(two ? [{ ...web, name: 'd' }] : []),
    ],
  }));

type Happening =
  | { what: 'exit'; name: string; code: number; ms: number }
  | {
      what:
        | 'sandbox'
        | 'down'
        | 'up'
        | 'probesFail'
        | 'probesWork'
        | 'image'
        | 'sync'
        | 'pause'
        | 'restart'
        | 'noNetwork'
        | 'shorten';
      ms: number;
    }
  | { what: 'terminate'; grace: number | undefined; reason: string; ms: number };

const ms = fc.oneof(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 12_000 }));
const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      what: fc.constant('exit' as const),
      name: fc.constantFrom('c', 'd', 's', 'i1', 'i2'),
      code: fc.constantFrom(0, 0, 1),
      ms,
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      what: fc.constantFrom(
        'sandbox' as const,
        'down' as const,
        'up' as const,
        'probesFail' as const,
        'probesWork' as const,
        'image' as const,
        'sync' as const,
        'pause' as const,
        'restart' as const,
        'noNetwork' as const,
      ),
      ms,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      what: fc.constant('terminate' as const),
      grace: fc.constantFrom(undefined, 0, 3),
      reason: fc.constantFrom('Removed', 'Evicted', 'Deleted'),
      ms,
    }),
  },
);

function happen(world: ChaosWorld, h: Happening): ChaosWorld {
  switch (h.what) {
    case 'exit':
      world.quietExit(h.name, h.code);
      break;
    case 'sandbox':
      world.killSandbox();
      break;
    case 'down':
    case 'up':
      world.setRuntime(h.what === 'up');
      break;
    case 'noNetwork':
      if (!world.finished)
        world.send({ type: 'runtime.state', at: world.at, runtimeReady: world.runtimeUp, networkReady: false });
      break;
    case 'probesFail':
      world.answers['cri.ExecSync'] = () => ({ result: { exitCode: 1, output: 'bad' } });
      break;
    case 'probesWork':
      delete world.answers['cri.ExecSync'];
      break;
    case 'image': {
      const image = world.definition.spec?.containers[0]?.image === 'img:1' ? 'img:2' : 'img:1';
      const spec = world.definition.spec;
      if (spec === undefined || world.finished) break;
      world.definition = {
        ...world.definition,
        spec: { ...spec, containers: spec.containers.map((c, i) => (i === 0 ? { ...c, image } : c)) },
      };
      world.send({ type: 'pod.update', at: world.at, pod: world.definition });
      break;
    }
    case 'sync':
      if (!world.finished) world.send({ type: 'pod.sync', at: world.at });
      break;
    case 'terminate':
      if (!world.finished)
        world.send({
          type: 'pod.terminate',
          at: world.at,
          order: { reason: h.reason, message: '', ...(h.grace !== undefined && { gracePeriodSeconds: h.grace }) },
        });
      break;
    case 'restart': {
      if (world.finished) break;
      const { chaos, runtimeUp } = world;
      const again = new ChaosWorld(world.definition, Math.floor(world.next() * 1e9), chaos, world.memory, world);
      again.answers = world.answers;
      if (!runtimeUp) again.setRuntime(false);
      world = again;
      break;
    }
    case 'pause':
    case 'shorten':
      break;
  }
  world.live(h.ms);
  return world;
}

const RUNS = Number(process.env['CHAOS_RUNS'] ?? 60);

function explain(world: ChaosWorld): string {
  return `${world.state} (${world.snapshot.context.why})\n${world.log.slice(-25).join('\n')}\n${JSON.stringify({ s: world.sandboxes.map((s) => [s.id, s.state]), c: world.containers.map((c) => [c.id, c.name, c.state, c.sandboxId]), m: Object.fromEntries(Object.entries(world.snapshot.context.containers).map(([n, p]) => [n, (p as { value: unknown }).value])), tasks: world.snapshot.context.tasks })}`;
}

test('whatever happens: phases only go on, no container runs twice, steps replay, and a removed pod ends clean', () => {
  fc.assert(
    fc.property(
      shape,
      fc.integer({ min: 1, max: 1e6 }),
      fc.constantFrom(0, 0.3, 0.8),
      fc.array(happening, { minLength: 1, maxLength: 14 }),
      (spec, seed, chaos, list) => {
        let world = new ChaosWorld(pod(spec), seed, chaos);
        world.live(2_000);
        for (const h of list) world = happen(world, h);
        world.heal();
        if (!world.finished)
          world.send({ type: 'pod.terminate', at: world.at, order: { reason: 'Removed', message: '' } });
        for (let i = 0; i < 30 && !world.finished; i++) world.live(10_000);
        assert.equal(world.finished, true, explain(world));
        assert.deepEqual([world.sandboxes, world.containers], [[], []]);
        assert.equal(world.deadline, null, 'a finished pod wants nothing more');
      },
    ),
    { numRuns: RUNS, seed: Number(process.env['CHAOS_SEED'] ?? 20) },
  );
});

test('whatever happened to a pod with policy Always: once the world is well, it runs again', () => {
  fc.assert(
    fc.property(
      shape,
      fc.integer({ min: 1, max: 1e6 }),
      fc.constantFrom(0, 0.3, 0.8),
      fc.array(
        happening.filter((h) => h.what !== 'terminate'),
        { minLength: 1, maxLength: 12 },
      ),
      (spec, seed, chaos, list) => {
        const definition = pod({ ...spec, restartPolicy: 'Always', activeDeadlineSeconds: undefined });
        let world = new ChaosWorld(definition, seed, chaos);
        world.live(2_000);
        for (const h of list) world = happen(world, h);
        world.heal();
        world.send({ type: 'runtime.state', at: world.at, runtimeReady: true, networkReady: true });
        for (let i = 0; i < 5 || (i < 80 && world.state !== 'syncing.running'); i++) {
          world.live(10_000);
          for (const name of ['i1', 'i2']) world.quietExit(name, 0);
        }
        assert.equal(world.state, 'syncing.running', explain(world));
        const wanted = [
          ...(definition.spec?.initContainers ?? []).filter((c) => c.restartPolicy === 'Always'),
          ...(definition.spec?.containers ?? []),
        ].map((c) => c.name);
        assert.deepEqual(world.running().sort(), wanted.sort());
        assert.equal(world.sandboxes.filter((s) => s.state === 'ready').length, 1);
      },
    ),
    { numRuns: RUNS, seed: Number(process.env['CHAOS_SEED'] ?? 21) },
  );
});
