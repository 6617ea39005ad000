/** ResourceClaims (KEP-4381) in the life of a pod: prepared before its sandbox, given back when nothing of it runs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pod, PodWorld } from './pod-world.ts';

const claiming = () => pod({ resourceClaims: [{ name: 'gpu', resourceClaimName: 'gpu-1' }] });
const types = (world: PodWorld) => world.effects.map(({ type }) => type);
const end = (world: PodWorld) =>
  world.send({ type: 'pod.terminate', at: world.at, order: { reason: 'Removed', message: '' } });

test('claims are prepared before the sandbox is made, and given back when it is gone', () => {
  const world = new PodWorld(claiming());
  world.run(2_000);
  assert.deepEqual(world.running(), ['c']);
  const began = types(world);
  assert.equal(began.filter((type) => type === 'host.PrepareClaims').length, 1);
  assert.ok(began.indexOf('host.PrepareClaims') < began.indexOf('cri.RunPodSandbox'));
  end(world);
  world.run(60_000);
  const all = types(world);
  assert.equal(all.filter((type) => type === 'host.UnprepareClaims').length, 1);
  assert.ok(all.indexOf('host.UnprepareClaims') > all.lastIndexOf('cri.StopContainer'));
  assert.equal(world.state, 'terminated.finished');
});

test('a claim that cannot be prepared holds the sandbox up, is tried again, and says why', () => {
  const world = new PodWorld(claiming(), null, undefined, false);
  world.answers['host.PrepareClaims'] = () => ({
    error: { code: 'Claims', message: 'claim default/gpu-1 not allocated' },
  });
  world.begin(null, false);
  world.run(20_000);
  assert.equal(world.state, 'syncing.preparingClaims');
  assert.ok(!types(world).includes('cri.RunPodSandbox'));
  assert.ok(types(world).filter((type) => type === 'host.PrepareClaims').length > 1);
  assert.ok(
    world.events.some((each) => each.includes('claim default/gpu-1 not allocated')),
    world.events.join('\n'),
  );
  delete world.answers['host.PrepareClaims'];
  world.run(120_000);
  assert.deepEqual(world.running(), ['c']);
});

test('a pod that is to end while its claims are being prepared waits for that, and gives them back', () => {
  const world = new PodWorld(claiming(), null, undefined, false);
  world.answers['host.PrepareClaims'] = () => 'hang';
  world.begin(null, false);
  world.run(1_000);
  end(world);
  world.run(5_000);
  assert.ok(!types(world).includes('host.UnprepareClaims'));
  assert.notEqual(world.state, 'terminated.finished');
});

test('a pod without claims asks nobody', () => {
  const world = new PodWorld(pod({}));
  world.run(2_000);
  end(world);
  world.run(60_000);
  assert.ok(!types(world).some((type) => type.endsWith('Claims')));
});
