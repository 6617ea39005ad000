import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALL_BEHAVIOUR, BEHAVIOUR } from '../../../machines/protocol/behaviour.ts';
import { PodWorld, pod } from './pod-world.ts';

test('a pod without a valid host name gets no sandbox: told, named as the reason, and tried again after a growing pause', () => {
  const world = new PodWorld(pod({ hostname: 'h'.repeat(60), subdomain: 's', setHostnameAsFQDN: true }));
  world.run(500);
  const failures = () =>
    world.events.filter((e) =>
      e.startsWith('FailedCreatePodSandBox: Failed to create pod sandbox: failed to construct FQDN from pod hostname'),
    );
  assert.equal(world.state, 'syncing.creatingSandbox');
  assert.match(world.snapshot.context.why, /^failed to construct FQDN .* is too long/);
  assert.equal(failures().length, 1);
  world.run(1_000);
  assert.equal(failures().length, 2, 'after one second');
  world.run(1_400);
  assert.equal(failures().length, 2, 'the pause has doubled');
  world.run(1_000);
  assert.equal(failures().length, 3);
  assert.equal(world.count('cri.RunPodSandbox'), 0);
  // A message that comes during the pause does not make it try.
  world.pleg();
  assert.equal(failures().length, 3);
  world.send({ type: 'pod.terminate', at: world.at, order: { reason: 'Removed', message: '' } });
  world.run(60_000);
  assert.ok(world.finished);
});

test('a pod whose host name is put right goes on by itself', () => {
  const world = new PodWorld(pod({ hostname: 'Not_A_Label' }));
  world.run(500);
  assert.match(world.snapshot.context.why, /^pod Hostname "Not_A_Label" is not a valid DNS label/);
  world.send({ type: 'pod.update', at: world.at, pod: pod({ hostname: 'fine' }) });
  world.run(5_000);
  assert.equal(world.state, 'syncing.running');
});

test('resolver warnings come once with each sandbox that is made, before the call', () => {
  const world = new PodWorld(pod({ dnsConfig: { nameservers: ['10.0.0.1', '10.0.0.2', '10.0.0.3'] } }));
  world.run(2_000);
  const warnings = () => world.events.filter((e) => /^(MissingClusterDNS|DNSConfigForming): /.test(e));
  assert.deepEqual(warnings(), [
    'MissingClusterDNS: pod: "web-node1_default(u1)". kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.',
    'DNSConfigForming: Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: 1.1.1.1 10.0.0.1 10.0.0.2',
  ]);
  world.pleg();
  world.run(120_000);
  assert.equal(warnings().length, 2);
  world.sandboxes = world.sandboxes.map((s) => ({ ...s, state: 'notReady' as const, ips: [] }));
  world.at += 1;
  world.pleg();
  world.run(60_000);
  assert.equal(world.count('cri.RunPodSandbox'), 2);
  assert.equal(warnings().length, 4);
});

test('resolver warnings are told again at each round of a pod that has a sandbox, as it was made', () => {
  const told = (world: PodWorld) => world.events.filter((e) => e.startsWith('DNSConfigForming: '));
  const round = (world: PodWorld) => {
    const before = told(world).length;
    world.send({ type: 'pod.sync', at: world.at });
    world.run(100);
    return told(world).slice(before);
  };
  const long = pod({ dnsConfig: { nameservers: ['10.0.0.1', '10.0.0.2', '10.0.0.3'] } });
  const world = new PodWorld(long, null, undefined, true, 'api');
  world.run(2_000);
  assert.deepEqual(round(world), told(world).slice(0, 1));
  const next = new PodWorld(long, world.memory, world, true, 'api');
  next.run(2_000);
  assert.equal(round(next).length, 1, 'a later agent goes by the file that it has read');
  next.send({ type: 'pod.terminate', at: next.at, order: { reason: 'Removed', message: '' } });
  assert.deepEqual(round(next), []);
  const before = ALL_BEHAVIOUR.filter((change) => change !== BEHAVIOUR.triesAreToldOf);
  const old = new PodWorld(long, null, undefined, true, 'api', { behaviour: before });
  old.run(2_000);
  assert.deepEqual(round(old), [], 'as logs of before have it');
  const alone = new PodWorld(long);
  alone.run(2_000);
  assert.deepEqual(round(alone), [], 'without an API server the log has them');

  const read = (atStart: string[], now: string[]) => {
    const hostResolver = { nameservers: atStart, searches: [], options: [] };
    const over = { hostResolver, resolvConf: '/run/resolv.conf' };
    const made = new PodWorld(pod({ dnsPolicy: 'Default' }), null, undefined, false, 'api', over);
    made.answers['host.ReadResolver'] = () => ({ result: { nameservers: now, searches: [], options: [] } });
    made.begin(null, false);
    made.run(2_000);
    return round(made).length;
  };
  const four = ['1.0.0.1', '1.0.0.2', '1.0.0.3', '1.0.0.4'];
  assert.deepEqual([read(four, ['1.0.0.1']), read(['1.0.0.1'], four), read(four, four)], [0, 1, 1]);
});

test('the resolver file of the node is read for each sandbox, and while it cannot be none is made', () => {
  const world = new PodWorld(pod({ dnsPolicy: 'Default' }), null, undefined, true, 'file', {
    resolvConf: '/run/resolv.conf',
  });
  const servers = () =>
    world.effects.flatMap((effect) =>
      effect.type === 'cri.RunPodSandbox' ? [effect.params.config.dnsConfig?.servers] : [],
    );
  let reads = 0;
  world.answers['host.ReadResolver'] = () => {
    reads += 1;
    if (reads <= 2) return { error: { code: 'ENOENT', message: 'open /run/resolv.conf: no such file or directory' } };
    return { result: { nameservers: [`10.0.0.${reads}`], searches: [], options: [] } };
  };
  world.run(900);
  const told = 'FailedCreatePodSandBox: Failed to create pod sandbox: open /run/resolv.conf: no such file or directory';
  assert.deepEqual(
    world.events.filter((e) => e.startsWith('FailedCreate')),
    [told],
  );
  assert.equal(world.state, 'syncing.creatingSandbox');
  assert.equal(world.snapshot.context.why, 'open /run/resolv.conf: no such file or directory');
  assert.deepEqual(servers(), []);
  world.run(2_000);
  assert.deepEqual(
    world.events.filter((e) => e.startsWith('FailedCreate')),
    [told, told],
  );
  world.run(10_000);
  assert.equal(world.state, 'syncing.running');
  assert.deepEqual(servers(), [['10.0.0.3']]);
  world.sandboxes = world.sandboxes.map((s) => ({ ...s, state: 'notReady' as const, ips: [] }));
  world.at += 1;
  world.pleg();
  world.run(60_000);
  assert.deepEqual(servers(), [['10.0.0.3'], ['10.0.0.4']]);
});

test('pauses of a sandbox that cannot be made go on growing while the resolver file is read in between', () => {
  const world = new PodWorld(pod({}), null, undefined, true, 'file', { resolvConf: '/run/resolv.conf' });
  world.answers['host.ReadResolver'] = () => ({ result: { nameservers: ['10.0.0.9'], searches: [], options: [] } });
  world.answers['cri.RunPodSandbox'] = () => ({ error: { code: 'Unknown', message: 'no network' } });
  world.run(30_000);
  // After 1, 2, 4, 8 s, and so on.
  assert.equal(world.count('cri.RunPodSandbox'), 5);
  assert.equal(world.count('host.ReadResolver'), 5);
});

test("a container on the host network gets the node's hosts file as it is when it is made", () => {
  const spec = { hostNetwork: true, hostAliases: [{ ip: '1.2.3.4', hostnames: ['x'] }] };
  const world = new PodWorld(pod(spec), null, undefined, true, 'file', { hostsPath: '/etc/hosts' });
  world.run(2_000);
  const [hosts] = world.effects.flatMap((e) => (e.type === 'host.PrepareContainer' ? [e.params.hostsFile] : []));
  assert.deepEqual(hosts?.nodes, { path: '/etc/hosts', tail: '\n# Entries added by HostAliases.\n1.2.3.4\tx\n' });
  assert.equal(hosts.content, '# Kubernetes-managed hosts file (host network).\n');
});
