/** Volume machines: what each state does with each event, and that a pod's volumes say what its tasks say, whatever happens. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compiledMachine } from '../../../machines/machine-step/compiled-machine.ts';
import { interpretedStep, statePath, stepPlace } from '../../../machines/machine-step/step.ts';
import type { PodContext } from '../../../machines/pod/pod-context.ts';
import { restoredPod } from '../../../machines/pod/pod-step.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { PodMessage } from '../../../machines/protocol/messages.ts';
import { initialVolume } from '../../../machines/volumes/volume-context.ts';
import type { VolumeContext } from '../../../machines/volumes/volume-context.ts';
import { volumeMachine } from '../../../machines/volumes/volume-machine.ts';
import { PodWorld, pod } from '../pod/pod-world.ts';

type Volumes = NonNullable<NonNullable<Pod['spec']>['volumes']>;

function podWith(volumes: Volumes, mounts = volumes.map(({ name }) => name)): Pod {
  const volumeMounts = mounts.map((name) => ({ name, mountPath: `/${name}` }));
  const made = pod({ volumes, containers: [{ name: 'c', image: 'img:1', volumeMounts }] });
  // A static pod may not name objects of the API.
  return { ...made, metadata: { ...made.metadata, annotations: { 'kubernetes.io/config.source': 'api' } } };
}

const conf = { name: 'conf', configMap: { name: 'x' } };
const data = { name: 'data', emptyDir: {} };
const last = { name: 'last', emptyDir: {} };

/** A pod of the API on a node of a cluster, with all that its volumes went through. */
class VolumeWorld extends PodWorld {
  declare journey: Record<string, string[]>;
  constructor(definition: Pod, failing = '') {
    super(definition, null, undefined, false, 'api');
    if (failing !== '') this.answers['host.SetUpVolumes'] = () => error(failing);
    this.begin(null, false);
  }
  override send(message: PodMessage): void {
    this.journey ??= {};
    super.send(message);
    for (const [name, state] of Object.entries(this.volumes())) {
      const way = (this.journey[name] ??= []);
      if (way.at(-1) !== state) way.push(state);
    }
  }
  volumes(): Record<string, string> {
    const { volumes }: PodContext = this.snapshot.context;
    return Object.fromEntries(Object.entries(volumes).map(([name, { value }]) => [name, statePath(value)]));
  }
  volume(name: string): VolumeContext {
    return this.snapshot.context.volumes[name]?.context ?? assert.fail(name);
  }
}

const error = (volume: string) => ({
  error: { code: 'Volume', message: `MountVolume.SetUp failed for volume "${volume}" : configmap "x" not found` },
});

test('a life: waits, mounting, mounted, unmounting, unmounted; what no container mounts is no volume', () => {
  const world = new VolumeWorld(podWith([conf, data, last], ['conf', 'data']));
  assert.deepEqual(world.volumes(), { conf: 'pending.mounting', data: 'pending.mounting' });
  world.run(3_000);
  assert.equal(world.state, 'syncing.running');
  assert.deepEqual([world.volume('conf').path, world.volume('conf').kind], ['/vol/conf', 'configMap']);
  world.send({ type: 'pod.terminate', at: world.at, order: { reason: 'Removed', message: '' } });
  world.run(60_000);
  assert.ok(world.finished);
  const life = ['pending.mounting', 'mounted.upToDate', 'leaving.unmounting', 'leaving.unmounted'];
  assert.deepEqual(world.journey, { conf: life, data: life });
});

test('one that fails: those before it are mounted, it backs off, those after it wait; then all are there', () => {
  const world = new VolumeWorld(podWith([data, conf, last]), 'conf');
  world.run(500);
  assert.equal(world.state, 'syncing.mountingVolumes');
  assert.deepEqual(world.volumes(), {
    data: 'mounted.upToDate',
    conf: 'pending.mountFailed',
    last: 'pending.waitForAttachOrMount',
  });
  assert.match(world.volume('conf').error, /configmap "x" not found$/);
  assert.equal(world.volume('conf').retryAt, world.snapshot.context.tasks['volumes']?.retryAt);
  world.run(3_000);
  assert.equal(world.volume('conf').failures, world.snapshot.context.tasks['volumes']?.failures);
  delete world.answers['host.SetUpVolumes'];
  world.run(10_000);
  assert.deepEqual(new Set(Object.values(world.volumes())), new Set(['mounted.upToDate']));
  assert.deepEqual([world.volume('conf').failures, world.volume('conf').error], [0, '']);
});

test('a changed object: it is set up anew beside the container; a failure leaves it there', () => {
  const world = new VolumeWorld(podWith([conf, data]));
  world.run(3_000);
  world.answers['host.SetUpVolumes'] = () => error('conf');
  world.send({ type: 'pod.refresh', at: world.at });
  assert.equal(world.volumes()['conf'], 'mounted.remounting');
  world.run(100);
  assert.equal(world.state, 'syncing.running');
  assert.deepEqual(world.volumes(), { conf: 'mounted.remountFailed', data: 'mounted.remountRequired' });
  delete world.answers['host.SetUpVolumes'];
  world.run(5_000);
  assert.deepEqual(world.volumes(), { conf: 'mounted.upToDate', data: 'mounted.upToDate' });
});

test('while the runtime is away a change waits: only what shows objects has to be remounted', () => {
  const world = new VolumeWorld(podWith([conf, data]));
  world.run(3_000);
  world.send({ type: 'runtime.state', at: world.at, runtimeReady: false, networkReady: false });
  world.send({ type: 'pod.refresh', at: world.at });
  assert.deepEqual(world.volumes(), { conf: 'mounted.remountRequired', data: 'mounted.upToDate' });
  world.send({ type: 'runtime.state', at: world.at, runtimeReady: true, networkReady: true });
  assert.equal(world.volumes()['conf'], 'mounted.remounting');
  world.run(100);
  assert.equal(world.volumes()['conf'], 'mounted.upToDate');
});

test('a definition that no node can set up: that volume is invalid, and is not tried', () => {
  const claim = { name: 'claim', gitRepo: { repository: 'r' } } as Volumes[number];
  const world = new VolumeWorld(podWith([data, claim]));
  world.run(5_000);
  assert.deepEqual(world.volumes(), { data: 'pending.waitForAttachOrMount', claim: 'pending.invalid' });
  assert.match(world.volume('claim').error, /git-repo/);
  assert.equal(world.count('host.SetUpVolumes'), 0);
});

test('what cannot be removed is tried again', () => {
  const world = new VolumeWorld(podWith([data]));
  world.run(3_000);
  world.answers['host.TearDownPod'] = () => ({ error: { code: 'EBUSY', message: 'device or resource busy' } });
  world.send({ type: 'pod.terminate', at: world.at, order: { reason: 'Removed', message: '' } });
  world.run(40_000);
  assert.equal(world.volumes()['data'], 'leaving.unmountFailed');
  assert.equal(world.volume('data').error, 'device or resource busy');
  delete world.answers['host.TearDownPod'];
  world.run(120_000);
  assert.ok(world.finished);
});

test('a snapshot of a journal without volume machines: they are made from the tasks', () => {
  const world = new VolumeWorld(podWith([data, conf]), 'conf');
  const made = () => {
    const { volumes, ...old } = JSON.parse(JSON.stringify(world.snapshot.context)) as PodContext;
    const again: PodContext['volumes'] = restoredPod(world.snapshot.value, old).context.volumes;
    assert.deepEqual(
      Object.entries(again).map(([name, { value }]) => [name, statePath(value)]),
      Object.entries(volumes).map(([name, { value }]) => [name, statePath(value)]),
    );
    for (const [name, { context }] of Object.entries(again)) {
      assert.equal(context.op, volumes[name]?.context.op);
      assert.equal(context.error, volumes[name]?.context.error);
    }
  };
  made();
  world.run(500);
  assert.equal(world.volumes()['conf'], 'pending.mountFailed');
  made();
  delete world.answers['host.SetUpVolumes'];
  world.run(10_000);
  made();
  world.send({ type: 'pod.terminate', at: world.at, order: { reason: 'Removed', message: '' } });
  world.run(2_500);
  made();
});

/** What the tasks say of the one volume of a pod. */
function told({ tasks, volumesStale }: PodContext): string[] {
  const { volumes, teardown } = tasks;
  const refresh = tasks['volumes.refresh'];
  if (teardown?.state === 'done') return ['leaving.unmounted'];
  if (teardown?.state === 'running') return ['leaving.unmounting'];
  if (teardown?.state === 'failed') return ['leaving.unmountFailed'];
  if (volumes?.state === 'running') return ['pending.mounting', 'mounted.remounting'];
  if (refresh?.state === 'running') return ['mounted.remounting', 'mounted.remountFailed', 'mounted.remountRequired'];
  if (volumes?.state === 'failed') return ['pending.mountFailed', 'mounted.remountFailed', 'mounted.remountRequired'];
  if (volumes === undefined)
    return ['pending.waitForAttachOrMount', 'mounted.remountRequired', 'leaving.unmountFailed'];
  if (refresh?.state === 'failed' && !volumesStale) return ['mounted.remountFailed'];
  return volumesStale ? ['mounted.remountRequired'] : ['mounted.upToDate', 'mounted.remountRequired'];
}

test('whatever happens, in whatever order: the volume says what the tasks say', () => {
  const seen = new Set<string>();
  const act = fc.constantFrom(
    'run',
    'short',
    'refresh',
    'update',
    'fail',
    'heal',
    'away',
    'back',
    'busy',
    'end',
    'sync',
  );
  fc.assert(
    fc.property(fc.boolean(), fc.array(act, { minLength: 3, maxLength: 30 }), (failing, acts) => {
      const definition = podWith([conf]);
      const world = new VolumeWorld(definition, failing ? 'conf' : '');
      let version = 0;
      const check = () => {
        const state = world.volumes()['conf'] ?? '';
        seen.add(state);
        assert.ok(
          told(world.snapshot.context).includes(state),
          `${state} with ${JSON.stringify(world.snapshot.context.tasks)}`,
        );
      };
      const send = (message: PodMessage) => {
        world.send(message);
        check();
      };
      for (const one of acts) {
        const { at } = world;
        if (one === 'run' || one === 'short') world.run(one === 'run' ? 2_500 : 7);
        if (one === 'refresh') send({ type: 'pod.refresh', at });
        if (one === 'sync') send({ type: 'pod.sync', at });
        if (one === 'update') {
          const metadata = { ...definition.metadata, labels: { v: String(version++) } };
          send({ type: 'pod.update', at, pod: { ...definition, metadata } });
        }
        if (one === 'fail') world.answers['host.SetUpVolumes'] = () => error('conf');
        if (one === 'heal') world.answers = {};
        if (one === 'busy') world.answers['host.TearDownPod'] = () => ({ error: { code: 'EBUSY', message: 'busy' } });
        if (one === 'away' || one === 'back')
          send({ type: 'runtime.state', at, runtimeReady: one === 'back', networkReady: true });
        if (one === 'end') send({ type: 'pod.terminate', at, order: { reason: 'Removed', message: '' } });
        check();
      }
    }),
    { numRuns: 300, seed: 6 },
  );
  for (const state of compiledMachine(volumeMachine)?.keys() ?? [])
    if (state !== 'pending.invalid') assert.ok(seen.has(state), `${state} was never reached`);
});

test('every state, every event: the table says what XState says, and nothing is asked for', () => {
  const stands = [...(compiledMachine(volumeMachine)?.values() ?? [])];
  assert.equal(stands.length, 11);
  const context = fc.record({
    kind: fc.constantFrom('configMap', 'emptyDir'),
    op: fc.constantFrom('', 'a'),
    failures: fc.nat(3),
  });
  const event = fc.record({
    type: fc.constantFrom('setUp', 'done', 'failed', 'undecided', 'refused', 'forgotten', 'changed', 'tearDown'),
    at: fc.constant(5),
    key: fc.constantFrom('a', 'b'),
    path: fc.constant('/p'),
    error: fc.constant('e'),
    retryAt: fc.option(fc.constant(9), { nil: null }),
  });
  for (const { value, path } of stands) {
    fc.assert(
      fc.property(context, event, (patch, e) => {
        const whole = { ...initialVolume({ name: 'v', kind: patch.kind }), ...patch };
        const effects: unknown[] = [];
        const compiled = stepPlace(volumeMachine, { value, context: whole }, e, effects);
        const from = volumeMachine.resolveState({ value: value as never, context: whole });
        const judged = interpretedStep(volumeMachine, from, e);
        assert.deepEqual([effects, judged.effects], [[], []]);
        assert.equal(statePath(compiled.value), statePath(judged.snapshot.value), `${path} ${e.type}`);
        assert.deepEqual(compiled.context, judged.snapshot.context);
      }),
      { numRuns: 80, seed: 6 },
    );
  }
});
