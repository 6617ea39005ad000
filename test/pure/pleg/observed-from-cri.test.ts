import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ContainerStatus, PodSandboxStatus, Signal } from '../../../cri/generated/runtime/v1/api.ts';
import { observedContainer, observedSandbox } from '../../../actors/runtime/pleg/observed-from-cri.ts';
import { PodWorld, pod } from '../pod/pod-world.ts';

/** As containerd 1.6 answers for a container that has ended: it keeps the mounts. */
const ended = ContainerStatus.fromPartial({
  id: 'c9',
  metadata: { name: 'c', attempt: 2 },
  state: 2,
  createdAt: '1795232628013659833',
  startedAt: '1795232628170088285',
  finishedAt: '1795232629169754657',
  exitCode: 1,
  image: { image: 'img:1' },
  imageRef: 'sha256:65e4',
  reason: 'Error',
  labels: { 'io.kubernetes.container.name': 'c' },
  annotations: {
    'io.kubernetes.container.terminationMessagePath': '/dev/termination-log',
    'io.kubernetes.container.restartCount': '2',
  },
  mounts: [
    { containerPath: '/etc/hosts', hostPath: '/pods/u1/etc-hosts' },
    { containerPath: '/dev/termination-log', hostPath: '/pods/u1/containers/c/00000002' },
  ],
  logPath: '/var/log/pods/default_web-node1_u1/c/2.log',
});

test('the termination log’s place on the node is found among the mounts that the runtime tells', () => {
  const seen = observedContainer(ended, 's1');
  assert.equal(seen.terminationLogHostPath, '/pods/u1/containers/c/00000002');
  assert.equal(seen.state, 'exited');
  assert.equal(seen.createdAt, 1_795_232_628_013);
  assert.equal(seen.restartCount, 2);
  assert.equal(observedContainer({ ...ended, mounts: [] }, 's1').terminationLogHostPath, undefined);
  assert.equal(observedContainer({ ...ended, annotations: {} }, 's1').terminationLogHostPath, undefined);
});

test('the place of last words is found by the shortest form of their path, and where an earlier agent mounted it as written', () => {
  const place = (written: string, containerPath: string) => {
    const annotations = { 'io.kubernetes.container.terminationMessagePath': written };
    const mounts = [{ ...ended.mounts[1], containerPath }] as typeof ended.mounts;
    return observedContainer({ ...ended, annotations, mounts }, 's1').terminationLogHostPath;
  };
  for (const written of ['tmp/words', '//tmp//words', '/tmp/words/', '/tmp/x/../words', './tmp/./words'])
    assert.equal(place(written, '/tmp/words'), '/pods/u1/containers/c/00000002', written);
  assert.equal(place('/tmp/words/', '/tmp/words/'), '/pods/u1/containers/c/00000002');
  assert.equal(place('', '/'), undefined);
  assert.equal(place('/tmp/words', '/tmp/other'), undefined);
});

test('what a container is stopped by is told where that is asked for, and the runtime says it', () => {
  const told = (stopSignal: Signal, asked: boolean) =>
    observedContainer({ ...ended, stopSignal }, 's1', asked).stopSignal;
  assert.equal(told(Signal.SIGRTMINPLUS3, true), 'SIGRTMIN+3');
  assert.equal(told(Signal.SIGRTMINPLUS3, false), undefined);
  assert.equal(told(Signal.RUNTIME_DEFAULT, true), undefined);
});

test('of a ready sandbox the runtime may say that it has no address; one that knows of no network says nothing', () => {
  const told = (over: Parameters<typeof PodSandboxStatus.fromPartial>[0]) =>
    observedSandbox(PodSandboxStatus.fromPartial({ id: 's', state: 0, network: { ip: '' }, ...over })).unaddressed;
  assert.equal(told({}), true);
  assert.equal(told({ network: { ip: '10.0.0.1' } }), undefined);
  assert.equal(told({ network: undefined }), undefined);
  assert.equal(told({ state: 1 }), undefined);
  assert.equal(told({ linux: { namespaces: { options: { network: 2 } } } }), undefined);
});

test('an agent that takes over a pod reads the message of a container that ended before it', () => {
  const first = new PodWorld(pod({ restartPolicy: 'Never' }));
  first.run(3_000);
  const container = first.containers[0];
  assert.ok(container !== undefined);
  // It ends while no agent runs; the next one knows only what the runtime tells.
  first.containers = [
    { ...observedContainer(ended, container.sandboxId), id: container.id, createdAt: container.createdAt },
  ];
  const second = new PodWorld(pod({ restartPolicy: 'Never' }), null, first);
  second.run(3_000);
  assert.equal(second.count('host.ReadTerminationMessage'), 1);
  const read = second.effects.find((e) => e.type === 'host.ReadTerminationMessage');
  assert.ok(read?.type === 'host.ReadTerminationMessage' && read.params.path === '/pods/u1/containers/c/00000002');
  assert.equal(second.status?.phase, 'Failed');
});
