import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodWorld, pod } from './pod-world.ts';

const HOST_IP = { env: [{ name: 'HOST', valueFrom: { fieldRef: { fieldPath: 'status.hostIPs' } } }] };
const container = { name: 'c', image: 'img:1', imagePullPolicy: 'IfNotPresent', ...HOST_IP };

test("status and environment have the addresses of the node's object, once they are others than at the start", () => {
  const world = new PodWorld(pod({ hostNetwork: true, containers: [container] }));
  world.run(5_000);
  const told = () => [world.status?.hostIP, world.status?.hostIPs, world.status?.podIPs];
  const hosts = () =>
    world.effects.flatMap((e) =>
      e.type === 'cri.CreateContainer' ? e.params.config.envs.map(({ value }) => value) : [],
    );
  assert.deepEqual(told(), ['10.99.0.1', [{ ip: '10.99.0.1' }], [{ ip: '10.99.0.1' }]]);
  assert.ok(hosts().includes('10.99.0.1'));
  world.send({ type: 'pod.sync', at: world.at, nodeIPs: ['192.0.2.1', 'fd00::1'] });
  const both = [{ ip: '192.0.2.1' }, { ip: 'fd00::1' }];
  assert.deepEqual(told(), ['192.0.2.1', both, both]);
  world.containers = world.containers.map((c) => ({
    ...c,
    state: 'exited' as const,
    finishedAt: world.at,
    exitCode: 1,
  }));
  world.pleg();
  world.run(60_000);
  assert.ok(hosts().includes('192.0.2.1,fd00::1'));
});

test('while the object has none, none is told, and a container that wants it is not made', () => {
  const world = new PodWorld(pod({ containers: [container] }), null, undefined, false);
  world.send({
    ...{ type: 'pod.start', at: world.at, pod: world.definition, source: 'file', observed: null, memory: null },
    ...{ runtimeReady: true, networkReady: true, nodeIPs: [] },
  });
  world.run(3_000);
  assert.equal(world.status?.hostIP, undefined);
  const waiting = world.status?.containerStatuses?.[0]?.state?.waiting;
  assert.deepEqual(waiting, {
    reason: 'CreateContainerConfigError',
    message: 'host IP unknown; known addresses: [{Hostname node1}]',
  });
  world.send({ type: 'pod.sync', at: world.at, nodeIPs: ['192.0.2.1'] });
  world.run(60_000);
  assert.equal(world.state, 'syncing.running');
  assert.equal(world.status?.hostIP, '192.0.2.1');
});

test("a pod's own addresses are sorted by --node-ip, IPv4 first without it", () => {
  for (const [givenIPs, first] of [
    [[], '10.88.0.2'],
    [['::'], 'fd00::2'],
  ] as const) {
    const over = { nodeIPs: ['fd00::9'], givenIPs: [...givenIPs] };
    const world = new PodWorld(pod({}), null, undefined, true, 'file', over);
    world.answers['cri.PodSandboxStatus'] = () => ({ result: { ips: ['fd00::2', '10.88.0.2'], ready: true } });
    world.run(5_000);
    world.sandboxes = world.sandboxes.map((s) => ({ ...s, ips: ['fd00::2', '10.88.0.2'] }));
    world.at += 1;
    world.pleg();
    assert.equal(world.status?.podIP, first);
  }
});
