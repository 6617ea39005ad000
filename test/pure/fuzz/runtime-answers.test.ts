import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import pino from 'pino';
import { createMetrics } from '../../../actors/record/metrics/metrics-registry.ts';
import { observedContainer, observedSandbox } from '../../../actors/runtime/pleg/observed-from-cri.ts';
import { ANNOTATION, LABEL } from '../../../machines/protocol/runtime-labels.ts';
import { machineClock } from '../../../actors/host/time/clock.ts';
import { Pleg } from '../../../actors/runtime/pleg/pleg.ts';
import { GENERIC_RATE } from '../../../actors/runtime/pleg/relist-rate.ts';
import type { CriClient } from '../../../cri/client/cri-client.ts';
import { Container, ContainerStatus, PodSandbox, PodSandboxStatus } from '../../../cri/generated/runtime/v1/api.ts';
import { nextDeadline } from '../../../machines/pod/pod-step.ts';
import type { ObservedPod } from '../../../machines/protocol/observed.ts';
import { notPlain } from '../pod/chaos-world.ts';
import { PodWorld } from '../pod/pod-world.ts';
import { changed, jsonChanges } from './support/mutate-json.ts';
import { nastyText } from './support/nasty.ts';
import { fuzz } from './support/runs.ts';
import { wholePod } from './support/whole-pod.ts';

/** What a protobuf message can hold: every type is right, nothing else is. */
const int64 = fc.constantFrom('0', '1', '-1', '1000000000000000', '9223372036854775807', '-9223372036854775808');
const int32 = fc.constantFrom(0, 1, -1, 137, 2 ** 31 - 1, -(2 ** 31));
const text = fc.oneof({ weight: 2, arbitrary: fc.constant('') }, { weight: 3, arbitrary: nastyText });
const name = fc.constantFrom('c', 'd', 'init', 'side', 'alien', '', 'constructor', '__proto__', 'toString');
const id = fc.constantFrom('c1', 'c2', 'c3', 's1', 'x', 'constructor');
const enumeration = fc.constantFrom(0, 1, 2, 3, -1, 99);
const texts = fc.dictionary(text, text, { maxKeys: 3 });
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const labels = fc.tuple(texts, name, maybe(fc.constant('uid-web'))).map(([more, container, uid]) => ({
  ...more,
  [LABEL.containerName]: container,
  ...(uid && { [LABEL.podUid]: uid }),
}));
const annotations = fc.tuple(texts, text, text).map(([more, hash, restarts]) => ({
  ...more,
  [ANNOTATION.hash]: hash,
  [ANNOTATION.restartCount]: restarts,
}));

const containerStatus = fc
  .record({
    id,
    metadata: maybe(fc.record({ name, attempt: fc.constantFrom(0, 1, 2 ** 32 - 1) })),
    state: enumeration,
    createdAt: int64,
    startedAt: int64,
    finishedAt: int64,
    exitCode: int32,
    image: maybe(fc.record({ image: text, userSpecifiedImage: text })),
    imageRef: text,
    imageId: text,
    reason: text,
    message: text,
    labels,
    annotations,
    logPath: text,
    resources: maybe(
      fc.record({
        linux: maybe(fc.record({ cpuShares: int64, cpuQuota: int64, cpuPeriod: int64, memoryLimitInBytes: int64 })),
      }),
    ),
    user: maybe(
      fc.record({
        linux: maybe(fc.record({ uid: int64, gid: int64, supplementalGroups: fc.array(int64, { maxLength: 2 }) })),
      }),
    ),
  })
  .map((status) => ContainerStatus.fromPartial(status as Parameters<typeof ContainerStatus.fromPartial>[0]));
const sandboxStatus = fc
  .record({
    id,
    metadata: maybe(fc.record({ name: text, uid: text, namespace: text, attempt: fc.constantFrom(0, 1, 2 ** 32 - 1) })),
    state: enumeration,
    createdAt: int64,
    network: maybe(fc.record({ ip: text, additionalIps: fc.array(fc.record({ ip: text }), { maxLength: 2 }) })),
    labels,
    annotations: texts,
    runtimeHandler: text,
  })
  .map((status) => PodSandboxStatus.fromPartial(status as Parameters<typeof PodSandboxStatus.fromPartial>[0]));

interface Lie {
  containers: ContainerStatus[];
  sandboxes: PodSandboxStatus[];
  /** What is true is told, too. */
  besides: boolean;
  ms: number;
  /** When the look is said to have begun, before now. */
  age: number;
}
const lie: fc.Arbitrary<Lie> = fc.record({
  containers: fc.array(containerStatus, { maxLength: 3 }),
  sandboxes: fc.array(sandboxStatus, { maxLength: 2 }),
  besides: fc.boolean(),
  ms: fc.constantFrom(0, 5, 50, 1_500, 20_000),
  age: fc.constantFrom(0, 0, 10, -1_000, 1e12),
});

function check(world: PodWorld, from: number): number {
  for (const effect of world.effects.slice(from)) {
    assert.equal(notPlain(effect), null, `${effect.type}: ${notPlain(effect) ?? ''}`);
  }
  assert.equal(notPlain(world.snapshot.context), null, `context: ${notPlain(world.snapshot.context) ?? ''}`);
  const deadline = nextDeadline(world.snapshot);
  assert.ok(deadline === null || Number.isFinite(deadline), `deadline ${String(deadline)}`);
  return world.effects.length;
}

test('a pod bears whatever the runtime says, and ends once it speaks the truth', () => {
  fc.assert(
    fc.property(fc.array(lie, { minLength: 1, maxLength: 6 }), (lies) => {
      const world = new PodWorld(wholePod('web', 'uid-web'), null, undefined, true, 'api');
      let seen = 0;
      for (const { containers, sandboxes, besides, ms, age } of lies) {
        world.run(ms);
        if (world.finished) return;
        const truth = world.observe();
        const observed: ObservedPod = {
          ...truth,
          at: world.at - age,
          containers: [...containers.map((c) => observedContainer(c, c.id)), ...(besides ? truth.containers : [])],
          sandboxes: [...sandboxes.map(observedSandbox), ...(besides ? truth.sandboxes : [])],
        };
        world.send({ type: 'pod.observed', at: world.at, observed });
        seen = check(world, seen);
      }
      world.run(5_000);
      if (world.finished) return;
      world.send({ type: 'pod.observed', at: world.at, observed: world.observe() });
      world.send({ type: 'pod.terminate', at: world.at, order: { reason: 'Removed', message: '' } });
      for (let i = 0; i < 40 && !world.finished; i++) {
        world.run(5_000);
        if (!world.finished) world.send({ type: 'pod.observed', at: world.at, observed: world.observe() });
      }
      check(world, seen);
      assert.equal(world.finished, true, `${world.state}: ${world.snapshot.context.why}`);
    }),
    fuzz(150),
  );
});

test('a pod bears whatever its calls answer', () => {
  const answers = fc.array(fc.tuple(jsonChanges, fc.nat(20)), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(answers, (list) => {
      const world = new (class extends PodWorld {
        calls = 0;
        protected override answer(...args: Parameters<PodWorld['answer']>): ReturnType<PodWorld['answer']> {
          const right = super.answer(...args);
          const wrong = list.find(([, at]) => at === this.calls)?.[0];
          this.calls++;
          // The client's types hold for the fields of an answer; what is in texts, numbers and lists is anyone's.
          if (right === 'hang' || !('result' in right) || wrong === undefined) return right;
          const result = sameTypes(right.result, changed(right.result, wrong));
          return { result };
        }
      })(wholePod('web', 'uid-web'), null, undefined, true, 'api');
      world.run(20_000);
      check(world, 0);
    }),
    fuzz(150),
  );
});

/** `wrong` where it has the type that `right` has. */
function sameTypes(right: unknown, wrong: unknown): unknown {
  if (
    typeof right !== typeof wrong ||
    Array.isArray(right) !== Array.isArray(wrong) ||
    right === null ||
    wrong === null
  )
    return right;
  // Times come from 64 bits of nanoseconds.
  if (typeof right === 'number') return Math.abs(Number(wrong)) < 9.3e12 ? wrong : right;
  if (typeof right !== 'object' || Array.isArray(right)) return Array.isArray(right) ? right : wrong;
  const known = right as Record<string, unknown>;
  const other = wrong as Record<string, unknown>;
  return Object.fromEntries(
    Object.keys(known).map((key) => [key, Object.hasOwn(other, key) ? sameTypes(known[key], other[key]) : known[key]]),
  );
}

/** The decoder hands on numbers that no enumeration has. */
const sandboxOf = (value: object) => PodSandbox.fromPartial(value as Parameters<typeof PodSandbox.fromPartial>[0]);
const containerOf = (value: object) => Container.fromPartial(value as Parameters<typeof Container.fromPartial>[0]);
const sandboxStatusOf = (value: object) =>
  PodSandboxStatus.fromPartial(value as Parameters<typeof PodSandboxStatus.fromPartial>[0]);

test('PLEG tells of every pod that the runtime can speak of', async () => {
  const uid = fc.constantFrom('u1', 'u2', '', '__proto__', 'constructor', '../x');
  const listed = fc.record({
    id: fc.oneof(id, fc.constantFrom('', '__proto__')),
    uid,
    state: enumeration,
    bad: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(listed, { maxLength: 6 }),
      fc.array(sandboxStatus),
      fc.array(containerStatus),
      async (list, sandboxes, containers) => {
        const label = (of: string) => ({ [LABEL.podUid]: of, [LABEL.podName]: 'web', [LABEL.podNamespace]: 'n' });
        const good = { id: 'good', labels: label('good'), state: 0 };
        const cri = {
          runtime: {
            listPodSandbox: () =>
              Promise.resolve({
                items: [
                  ...list.map((l) => sandboxOf({ id: l.id, labels: label(l.uid), state: l.state })),
                  sandboxOf(good),
                ],
              }),
            listContainers: () =>
              Promise.resolve({
                containers: list.map((l) =>
                  containerOf({ id: l.id, podSandboxId: l.id, labels: label(l.uid), state: l.state }),
                ),
              }),
            podSandboxStatus: ({ podSandboxId }: { podSandboxId: string }) =>
              podSandboxId === 'good'
                ? Promise.resolve({ status: sandboxStatusOf(good) })
                : list.find((l) => l.id === podSandboxId)?.bad === true
                  ? Promise.reject(new Error('broken'))
                  : Promise.resolve({ status: sandboxes[0] }),
            containerStatus: () => Promise.resolve({ status: containers[0] }),
          },
        } as unknown as CriClient;
        const told: ObservedPod[] = [];
        const pleg = new Pleg({
          cri,
          rate: GENERIC_RATE,
          log: pino({ level: 'silent' }),
          metrics: createMetrics({ processMetrics: false }),
          clock: { ...machineClock, now: () => 1_000 },
          onPod: (observed) => told.push(observed),
          onRelist: () => undefined,
        });
        await pleg.start();
        for (let i = 0; i < 50 && !told.some((pod) => pod.uid === 'good'); i++)
          await new Promise((done) => setImmediate(done));
        pleg.stop();
        assert.ok(
          told.some((pod) => pod.uid === 'good'),
          'the good pod was told',
        );
        for (const pod of told) {
          assert.equal(notPlain(pod), null, notPlain(pod) ?? '');
          // A container without an id was stopped again and again, and its pod never ended.
          for (const { id: told } of [...pod.sandboxes, ...pod.containers]) assert.notEqual(told, '');
        }
        assert.equal(pleg.unhealthy(), null);
      },
    ),
    fuzz(80),
  );
});

test('a container may be called as something that every object has', () => {
  // The machine of such a container was looked for in a plain object, and found to be a function.
  const definition = wholePod('web', 'uid-web');
  const [first] = definition.spec?.containers ?? [];
  assert.ok(definition.spec !== undefined && first !== undefined);
  definition.spec.containers = [{ ...first, name: 'constructor', volumeMounts: [] }];
  delete definition.spec.initContainers;
  const world = new PodWorld(definition, null, undefined, true, 'api');
  world.run(10_000);
  assert.deepEqual(world.running(), ['constructor']);
  world.exit('constructor', 1);
  world.run(60_000);
  assert.equal(world.status?.containerStatuses?.[0]?.restartCount, 1);
});

test('a count of restarts that is no number', () => {
  // NaN was journaled as null, so that the pod did not replay.
  const status = ContainerStatus.fromPartial({
    metadata: { attempt: 3 },
    annotations: { [ANNOTATION.restartCount]: 'x' },
  });
  assert.equal(observedContainer(status, 's').restartCount, 3);
});
