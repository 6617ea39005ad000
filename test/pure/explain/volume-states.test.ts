import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { chartOf, statesOf } from '../../../machines/charts/chart-of.ts';
import { NODE_MACHINES } from '../../../machines/charts/node-machines.ts';
import { VOLUME_REASONS } from '../../../machines/explain/volume-reasons.ts';
import { statePath } from '../../../machines/machine-step/step.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { pod } from '../pod/pod-world.ts';
import type { ToldWorld } from './told-world.ts';
import { box, fails, told } from './told-world.ts';

const LEAVES = statesOf(chartOf(NODE_MACHINES.volume))
  .filter((s) => s.states.length === 0)
  .map((s) => s.path)
  .sort();

type Volume = NonNullable<NonNullable<Pod['spec']>['volumes']>[number];

/** A pod with the volumes `first` and `v`. */
function withVolume(v: Omit<Volume, 'name'> = { emptyDir: {} }): Pod {
  const volumeMounts = ['first', 'v'].map((name) => ({ name, mountPath: `/${name}` }));
  return pod({
    volumes: [
      { name: 'first', emptyDir: {} },
      { name: 'v', ...v },
    ],
    containers: [box('c', { volumeMounts })],
  });
}

const broken = (volume: string) => fails(`MountVolume.SetUp failed for volume "${volume}" : no space left`);

function running(then: (world: ToldWorld) => void): ToldWorld {
  const world = told(withVolume());
  world.run(3_000);
  then(world);
  return world;
}

/** Worlds in which the volume `v` is in that state, and what the explanation says of it; null: nothing, for all is well. */
const CASES: Record<string, { world: () => ToldWorld; text: RegExp | null }> = {
  'pending.waitForAttachOrMount': {
    world: () => begun((w) => (w.answers['host.SetUpVolumes'] = broken('first'))),
    text: /^volume "v" \(emptyDir\) waits to be set up$/,
  },
  'pending.mounting': {
    world: () => begun((w) => (w.answers['host.SetUpVolumes'] = () => 'hang')),
    text: /^volume "v" \(emptyDir\) is being set up$/,
  },
  'pending.mountFailed': {
    world: () => begun((w) => (w.answers['host.SetUpVolumes'] = broken('v'))),
    text: /^volume "v" \(emptyDir\): its set-up failed once \(no space left\); next try at \d{4}-/,
  },
  'pending.invalid': {
    world: () => begun(() => undefined, withVolume({ gitRepo: { repository: 'r' } })),
    text: /^volume "v" \(gitRepo\) cannot be set up as it is defined \(git-repo volume plugin has been disabled.*until the spec changes$/,
  },
  'mounted.upToDate': { world: () => running(() => undefined), text: null },
  'mounted.remountRequired': {
    world: () =>
      running((w) => {
        const { metadata } = w.definition;
        w.send({ type: 'runtime.state', at: w.at, runtimeReady: false, networkReady: false });
        w.send({
          type: 'pod.update',
          at: w.at,
          pod: { ...w.definition, metadata: { ...metadata, labels: { a: 'b' } } },
        });
      }),
    text: null,
  },
  'mounted.remounting': {
    world: () =>
      running((w) => {
        w.answers['host.SetUpVolumes'] = () => 'hang';
        w.send({ type: 'pod.refresh', at: w.at });
      }),
    text: null,
  },
  'mounted.remountFailed': {
    world: () =>
      running((w) => {
        w.answers['host.SetUpVolumes'] = broken('v');
        w.send({ type: 'pod.refresh', at: w.at });
        w.run(100);
      }),
    text: /^volume "v" \(emptyDir\) still shows what it did before: its renewal failed once \(no space left\); next try/,
  },
  'leaving.unmounting': {
    world: () => ending((w) => (w.answers['host.TearDownPod'] = () => 'hang')),
    text: /^volume "v" \(emptyDir\) is being unmounted and removed$/,
  },
  'leaving.unmountFailed': {
    world: () => ending((w) => (w.answers['host.TearDownPod'] = fails('device or resource busy'))),
    text: /^volume "v" \(emptyDir\): its removal failed .*\(device or resource busy\); next try at/,
  },
  'leaving.unmounted': { world: () => ending((w) => (w.answers['host.RemovePodCgroup'] = () => 'hang')), text: null },
};

function begun(prepare: (world: ToldWorld) => void, definition = withVolume()): ToldWorld {
  const world = told(definition, prepare);
  world.run(500);
  return world;
}

function ending(prepare: (world: ToldWorld) => void): ToldWorld {
  return running((world) => {
    prepare(world);
    world.remove();
    world.run(40_000);
  });
}

describe('why a volume is in its state', () => {
  for (const [state, { world: make, text }] of Object.entries(CASES)) {
    it(state, () => {
      const world = make();
      const { volumes } = world.snapshot.context;
      assert.equal(statePath(volumes['v']?.value), state);
      const { causes } = world.explain();
      const of = causes.filter((c) => c.kind === 'volume' && c.text.startsWith('volume "v"'));
      if (text === null) assert.deepEqual(of, []);
      else {
        assert.equal(of.length, 1, JSON.stringify(causes));
        assert.match(of[0]?.text ?? '', text);
        assert.ok((of[0]?.at ?? 0) > 0 && (of[0]?.at ?? Infinity) <= world.at);
      }
    });
  }
  after(() => assert.deepEqual(Object.keys(CASES).sort(), LEAVES, 'states without a case above'));
  it('the table of reasons names each state of the chart, and no other', () => {
    assert.deepEqual(Object.keys(VOLUME_REASONS).sort(), LEAVES);
  });
});
