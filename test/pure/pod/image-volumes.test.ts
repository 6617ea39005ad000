import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Effect } from '../../../machines/protocol/effects.ts';
import { pod, PodWorld } from './pod-world.ts';

type Spec = Parameters<typeof pod>[0];
const ARTIFACT = 'registry.example/model:3';

/** Two containers, of which `c` mounts the image volume; the pod carries a pull secret. */
function artifactPod(pullPolicy: string, more: Spec = {}) {
  return pod({
    imagePullSecrets: [{ name: 'robot' }],
    volumes: [
      { name: 'model', image: { reference: ARTIFACT, pullPolicy } },
      { name: 'tmp', emptyDir: {} },
    ],
    containers: [
      {
        name: 'c',
        image: 'img:1',
        imagePullPolicy: 'IfNotPresent',
        volumeMounts: [
          { name: 'model', mountPath: '/model', subPath: 'weights', readOnly: false },
          { name: 'tmp', mountPath: '/tmp' },
        ],
      },
      { name: 'other', image: 'img:2', imagePullPolicy: 'IfNotPresent' },
    ],
    ...more,
  });
}

const waitingOf = (world: PodWorld, name: string) =>
  world.status?.containerStatuses?.find((c) => c.name === name)?.state?.waiting;
const created = (world: PodWorld, name: string) =>
  world.effects.flatMap((e) =>
    e.type === 'cri.CreateContainer' && e.params.config.metadata.name === name ? [e.params.config] : [],
  );
/** Refuses pulls of the artifact as long as `refuses()`. */
const refuse = (refuses: () => boolean) => (effect: Effect) =>
  effect.type === 'image.Pull' && effect.params.image === ARTIFACT && refuses()
    ? { error: { code: 'NotFound', message: 'no such artifact' } }
    : undefined;

test("the volume's image is pulled with the pod's secrets, and handed to the runtime to mount, read-only", () => {
  const world = new PodWorld(artifactPod('IfNotPresent'));
  world.run(2_000);
  assert.deepEqual(world.running().sort(), ['c', 'other']);
  const pull = world.effects.find((e) => e.type === 'image.Pull');
  assert.deepEqual(pull?.type === 'image.Pull' && [pull.params.image, pull.params.pullSecrets], [ARTIFACT, ['robot']]);
  const [config] = created(world, 'c');
  const mounts = config?.mounts.filter(
    (m) => m.containerPath !== '/dev/termination-log' && m.containerPath !== '/etc/hosts',
  );
  assert.deepEqual(mounts, [
    {
      containerPath: '/model',
      hostPath: '',
      readonly: true,
      selinuxRelabel: false,
      propagation: 0,
      image: {
        image: ARTIFACT,
        userSpecifiedImage: ARTIFACT,
        runtimeHandler: '',
        annotations: { 'kubernetes.io/config.source': 'file' },
      },
      imageSubPath: 'weights',
    },
    { containerPath: '/tmp', hostPath: '/vol/tmp', readonly: false, selinuxRelabel: false, propagation: 0 },
  ]);
  // Nothing of it is set up on the node.
  const setUp = world.effects.find((e) => e.type === 'host.SetUpVolumes');
  assert.deepEqual(setUp?.type === 'host.SetUpVolumes' && setUp.params.volumes.map((v) => v.name), ['tmp']);
  assert.ok(world.events.includes(`Pulling: Pulling image "${ARTIFACT}"`));
  assert.ok(world.events.some((e) => e.startsWith(`Pulled: Successfully pulled image "${ARTIFACT}" in 100ms`)));
});

test('an image that is there is not pulled, unless the policy is Always', () => {
  for (const [policy, pulls] of [
    ['IfNotPresent', 0],
    ['Always', 1],
  ] as const) {
    const world = new PodWorld(artifactPod(policy), null, undefined, false);
    world.images.add(ARTIFACT);
    world.begin(null, false);
    world.run(2_000);
    assert.deepEqual(world.running().sort(), ['c', 'other']);
    assert.equal(world.count('image.Pull'), pulls, policy);
  }
});

test('a pull that fails holds back the containers that mount the volume, with the reasons of a failed pull', () => {
  let refuses = true;
  const world = new PodWorld(artifactPod('IfNotPresent'), null, undefined, false);
  world.answers['image.Pull'] = refuse(() => refuses);
  world.begin(null, false);
  world.run(1_000);
  assert.deepEqual(world.running(), ['other']);
  assert.equal(world.state, 'syncing.imageBackOff');
  const message = 'rpc error: code = NotFound desc = no such artifact';
  assert.deepEqual(waitingOf(world, 'c'), { reason: 'ErrImagePull', message });
  world.run(2_000);
  assert.deepEqual(waitingOf(world, 'c'), {
    reason: 'ImagePullBackOff',
    message: `Back-off pulling image "${ARTIFACT}": ErrImagePull: ${message}`,
  });
  for (const told of [
    `Failed: Failed to pull image "${ARTIFACT}": ${message}`,
    'Failed: Error: ErrImagePull',
    `BackOff: Back-off pulling image "${ARTIFACT}"`,
    'Failed: Error: ImagePullBackOff',
  ])
    assert.ok(world.events.includes(told), `${told}\n${world.events.join('\n')}`);
  // 10 s, then 20 s: the second try comes after 10 s, the third one not before 30 s.
  world.run(8_000);
  assert.equal(world.count('image.Pull'), 2);
  world.run(18_000);
  assert.equal(world.count('image.Pull'), 2);
  refuses = false;
  world.run(5_000);
  assert.equal(world.count('image.Pull'), 3);
  assert.deepEqual(world.running().sort(), ['c', 'other']);
  assert.equal(waitingOf(world, 'c'), undefined);
});

test("failures are told in kubelet's words: of a look that names no image, and of a pull with what the runtime said", () => {
  const world = new PodWorld(artifactPod('IfNotPresent'), null, undefined, false);
  let fails = true;
  world.answers['image.Status'] = (effect) =>
    effect.type === 'image.Status' && effect.params.image === ARTIFACT && fails
      ? { error: { code: 'Unavailable', message: 'connection refused' } }
      : undefined;
  const refused = 'RegistryUnavailable: no route';
  world.answers['image.Pull'] = (effect) =>
    effect.type === 'image.Pull' && effect.params.image === ARTIFACT
      ? { error: { code: 'Unknown', message: refused } }
      : undefined;
  world.begin(null, false);
  world.run(5_000);
  const message = 'Failed to inspect image "": rpc error: code = Unavailable desc = connection refused';
  assert.deepEqual(waitingOf(world, 'c'), { reason: 'ImageInspectError', message });
  assert.ok(world.events.includes(`InspectFailed: ${message}`));
  assert.equal(world.events.filter((e) => e === 'Failed: Error: ImageInspectError').length, 1);
  fails = false;
  world.run(6_000);
  assert.ok(world.events.includes(`Failed: Failed to pull image "${ARTIFACT}": ${refused}`), world.events.join('\n'));
  assert.equal(
    waitingOf(world, 'c')?.message,
    `image pull failed for ${ARTIFACT} because the registry is unavailable: no route`,
  );
});

test('while a pull is held back the image is looked for: it may have come another way', () => {
  const world = new PodWorld(artifactPod('IfNotPresent'), null, undefined, false);
  world.answers['image.Pull'] = refuse(() => true);
  world.begin(null, false);
  // Three pulls have failed after 30 s: the next one would be made at 70 s.
  world.run(45_000);
  assert.equal(world.count('image.Pull'), 3);
  assert.equal(world.state, 'syncing.imageBackOff');
  assert.equal(waitingOf(world, 'c')?.reason, 'ImagePullBackOff');
  world.images.add(ARTIFACT);
  world.run(11_000);
  assert.equal(world.count('image.Pull'), 3);
  assert.ok(world.events.some((e) => e.startsWith(`Pulled: Container image "${ARTIFACT}" already present`)));
  assert.deepEqual(world.running().sort(), ['c', 'other']);
});

test('policy Never: the volume waits until somebody brings the image', () => {
  const world = new PodWorld(artifactPod('Never'));
  world.run(3_000);
  const message = `Container image "${ARTIFACT}" is not present with pull policy of Never`;
  assert.deepEqual(waitingOf(world, 'c'), { reason: 'ErrImageNeverPull', message });
  assert.ok(world.events.includes(`ErrImageNeverPull: ${message}`));
  assert.ok(world.events.includes('Failed: Error: ErrImageNeverPull'));
  world.images.add(ARTIFACT);
  world.run(10_000);
  assert.deepEqual(world.running().sort(), ['c', 'other']);
  assert.equal(world.count('image.Pull'), 0);
});

test('a reference that is none', () => {
  const world = new PodWorld(
    artifactPod('', { volumes: [{ name: 'model', image: { reference: 'Bad:Ref:1' } }, { name: 'tmp' }] }),
  );
  world.run(3_000);
  assert.equal(waitingOf(world, 'c')?.reason, 'InvalidImageName');
  assert.ok(world.events.some((e) => e.startsWith('InspectFailed: Failed to apply default image tag "Bad:Ref:1": ')));
  assert.ok(world.count('image.Status') <= 2 && world.count('image.Pull') === 0);
});

test('an image that has gone when a container is made is looked for again', () => {
  let gone = true;
  const world = new PodWorld(artifactPod('IfNotPresent'), null, undefined, false);
  world.images.add(ARTIFACT);
  world.answers['cri.CreateContainer'] = (effect) => {
    if (effect.type !== 'cri.CreateContainer' || effect.params.config.metadata.name !== 'c' || !gone) return undefined;
    gone = false;
    world.images.delete(ARTIFACT);
    return { error: { code: 'Unknown', message: 'ImageVolumeMountFailed: no such image' } };
  };
  world.begin(null, false);
  world.run(20_000);
  assert.equal(world.count('image.Pull'), 1);
  assert.deepEqual(world.running().sort(), ['c', 'other']);
});

test('a pod that runs already does not look for its images when another agent takes it over', () => {
  const before = new PodWorld(artifactPod('Always'));
  before.run(2_000);
  const world = new PodWorld(artifactPod('Always'), before.memory, before);
  world.run(5_000);
  assert.deepEqual(world.running().sort(), ['c', 'other']);
  assert.equal(world.count('image.Pull') + world.count('image.Status'), 0);
});
