import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { drawFailure } from '../../../actors/node/fleet/failures.ts';
import { sumUntil, valueAt } from '../../../actors/node/fleet/curve.ts';
import { planNodes } from '../../../actors/node/fleet/profile/plan-nodes.ts';
import { checkProfile, readProfile } from '../../../actors/node/fleet/profile/read-profile.ts';

const EXAMPLES = new URL('../../../docs/profiles/', import.meta.url).pathname;

test('a profile that says nothing has one group of nodes', () => {
  const profile = checkProfile({});
  const nodes = planNodes(profile, { count: 3, first: 0 });
  assert.deepEqual(
    nodes.map(({ name, podCIDR }) => [name, podCIDR]),
    [
      ['node-0', '10.128.0.0/24'],
      ['node-1', '10.128.1.0/24'],
      ['node-2', '10.128.2.0/24'],
    ],
  );
  assert.equal(profile.groups[0]?.machine.memory, 32 * 2 ** 30);
  assert.equal(profile.files, false);
});

test('every wrong field is named, with the file', () => {
  const wrong = {
    groups: [
      { name: 'Bad_Name', machine: { cpus: 1.5, memory: '8 GB' }, taints: [{ key: 'a', effect: 'Never' }] },
      { name: 'twice', colour: 'red' },
    ],
    podCIDR: '10.0.0.0/30',
    files: 'some',
    failures: [{ does: 'explode', at: '1s' }, { does: 'die' }],
    probes: [{ match: {}, answers: [{ from: '5s' }, { from: '5s' }] }],
  };
  assert.throws(
    () => checkProfile(wrong, 'fleet.yaml'),
    (error: Error) => {
      for (const part of [
        /NDS003: The profile fleet\.yaml has wrong values/,
        /groups\[0\]\.name: must be a DNS label/,
        /groups\[0\]\.machine\.cpus: must be a whole number of CPUs/,
        /groups\[0\]\.machine\.memory: must be an amount of bytes/,
        /groups\[0\]\.taints\[0\]\.effect: .*"NoSchedule"\|"PreferNoSchedule"\|"NoExecute"/,
        /groups\[1\]: .*colour/,
        /files: .*expected boolean/,
        /podCIDR: must be as 10\.128\.0\.0\/9/,
        /failures\[0\]\.does: .*"die"/,
        /failures\[1\]: needs exactly one of at and every/,
        /probes\[0\]\.answers: each `from` must be later/,
      ])
        assert.match(error.message, part);
      return true;
    },
  );
});

test('wrong devices are named with what is accepted', () => {
  const gpu = { resource: 'example.com/gpu', count: 2 };
  const group = (...devices: object[]) => ({ groups: [{ name: 'n', devices }] });
  const failure = (rule: object) => ({ ...group(gpu), failures: [{ at: '1s', ...rule }] });
  for (const [profile, problem] of [
    [
      group({ ...gpu, resource: 'gpu' }),
      'groups[0].devices[0].resource: must be an extended resource as example.com/gpu',
    ],
    [group({ ...gpu, resource: 'x.kubernetes.io/gpu' }), 'groups[0].devices[0].resource: must be an extended resource'],
    [group({ ...gpu, count: 0 }), 'groups[0].devices[0].count: must be a whole number from 1 to 1000'],
    [group({ ...gpu, count: 1.5 }), 'groups[0].devices[0].count: must be a whole number from 1 to 1000'],
    [group({ ...gpu, count: 'many' }), 'groups[0].devices[0].count: must be a whole number from 1 to 1000'],
    [group({ ...gpu, unhealthy: 3 }), 'groups[0].devices[0].unhealthy: must not be above `count`'],
    [group({ ...gpu, numa: [] }), 'groups[0].devices[0].numa: must name at least one NUMA node'],
    [group({ ...gpu, numa: [64] }), 'groups[0].devices[0].numa[0]: must be a whole number from 0 to 63'],
    [group({ ...gpu, env: 'A-B' }), 'groups[0].devices[0].env: must be the name of a variable'],
    [group({ ...gpu, takes: 'long' }), 'groups[0].devices[0].takes: '],
    [group({ ...gpu, colour: 'red' }), 'groups[0].devices[0]: Unrecognized key: "colour"'],
    [group(gpu, gpu), 'groups[0].devices: must name each resource once'],
    [
      { groups: [{ name: 'n', machine: { cpus: 8, numa: 3 } }] },
      'groups[0].machine.numa: must divide `cpus`, from 1 to 8',
    ],
    [
      failure({ does: 'die', resource: '*' }),
      'failures[0].resource: goes with fail-devices and stop-device-plugin alone',
    ],
    [
      failure({ does: 'stop-device-plugin', devices: 1 }),
      'failures[0].devices: goes with fail-devices, fail-driver-devices and taint-driver-devices alone',
    ],
    [
      failure({ does: 'fail-devices', resource: 'example.com/fpga' }),
      'failures[0].resource: strikes no devices: groups have example.com/gpu',
    ],
    [{ failures: [{ at: 0, does: 'fail-devices' }] }, 'failures[0].does: strikes no devices: no group has any'],
  ] as const)
    assert.throws(
      () => checkProfile(profile, 'gpus.yaml'),
      ({ message }: Error) => {
        assert.ok(message.startsWith('NDS003: The profile gpus.yaml has wrong values: '), message);
        assert.ok(message.includes(problem), `${message}\nhas not: ${problem}`);
        return true;
      },
    );
  checkProfile(failure({ does: 'fail-devices', resource: 'example.com/*', devices: 1 }));
});

test('wrong drivers are named with what is accepted', () => {
  const gpus = { name: 'gpu', count: 2 };
  const gpu = { driver: 'gpu.example.com', devices: [gpus] };
  const group = (...drivers: object[]) => ({ groups: [{ name: 'n', drivers }] });
  const sorts = (...devices: object[]) => group({ ...gpu, devices });
  const failure = (rule: object) => ({ ...group(gpu), failures: [{ at: '1s', ...rule }] });
  const at = 'groups[0].drivers[0]';
  for (const [profile, problem] of [
    [group({ ...gpu, driver: 'GPU' }), `${at}.driver: must be a DNS subdomain as gpu.example.com`],
    [group({ ...gpu, driver: `${'a'.repeat(64)}` }), `${at}.driver: must have at most 63 letters`],
    [group(gpu, gpu), 'groups[0].drivers: must name each driver once'],
    [sorts(), `${at}.devices: must name at least one sort of devices`],
    [sorts(gpus, gpus), `${at}.devices: must name each sort once`],
    [sorts({ ...gpus, count: 600 }, { name: 'b', count: 600 }), `${at}.devices: must be at most 1000 together`],
    [sorts({ ...gpus, name: 'a_b' }), `${at}.devices[0].name: must be a DNS label`],
    [sorts({ ...gpus, count: 0 }), `${at}.devices[0].count: must be a whole number from 1 to 1000`],
    [group({ ...gpu, unhealthy: 3 }), `${at}.unhealthy: must not be above the \`count\` of its devices`],
    [sorts({ ...gpus, capacity: { memory: 'much' } }), `${at}.devices[0].capacity.memory: must be a quantity as 80Gi`],
    [
      sorts({ ...gpus, attributes: { model: { version: 'one' } } }),
      `${at}.devices[0].attributes.model.version: must be a version as 1.2.3`,
    ],
    [sorts({ ...gpus, attributes: { model: [] } }), `${at}.devices[0].attributes.model: must be a text of at most 64`],
    [sorts({ ...gpus, attributes: { 'a-b': 1 } }), `${at}.devices[0].attributes.a-b: must be a name as model`],
    [group({ ...gpu, takes: 'long' }), `${at}.takes: `],
    [group({ ...gpu, colour: 'red' }), `${at}: Unrecognized key: "colour"`],
    [
      failure({ does: 'die', driver: '*' }),
      'failures[0].driver: goes with fail-driver-devices, taint-driver-devices, refuse-claims and stop-driver alone',
    ],
    [failure({ does: 'stop-driver', devices: 1 }), 'failures[0].devices: goes with fail-devices, '],
    [
      failure({ does: 'stop-driver', driver: 'x' }),
      'failures[0].driver: strikes no drivers: groups have gpu.example.com',
    ],
    [failure({ does: 'fail-devices' }), 'failures[0].does: strikes no devices: no group has any'],
    [{ failures: [{ at: 0, does: 'refuse-claims' }] }, 'failures[0].does: strikes no drivers: no group has any'],
  ] as const)
    assert.throws(
      () => checkProfile(profile, 'claims.yaml'),
      ({ message }: Error) => {
        assert.ok(message.startsWith('NDS003: The profile claims.yaml has wrong values: '), message);
        assert.ok(message.includes(problem), `${message}\nhas not: ${problem}`);
        return true;
      },
    );
  checkProfile(failure({ does: 'fail-driver-devices', driver: '*.example.com', devices: 1 }));
});

test('a file that is not there and one that is no YAML are told apart', () => {
  assert.throws(() => readProfile('/nowhere/profile.yaml'), /NDS001.*\/nowhere\/profile\.yaml.*ENOENT/);
  assert.throws(() => readProfile(new URL('support/no-yaml.txt', import.meta.url).pathname), /NDS002/);
});

test('every example of the documentation is a profile', () => {
  const names = readdirSync(EXAMPLES).filter((name) => name.endsWith('.yaml'));
  assert.ok(names.length >= 3, names.join());
  for (const name of names) planNodes(readProfile(join(EXAMPLES, name)), { count: 50, first: 0 });
});

test('groups mix by weight, counted ones come first, and zones take turns', () => {
  const profile = checkProfile({
    groups: [
      { name: 'system', count: 2 },
      { name: 'small', weight: 3, zones: ['a', 'b'] },
      { name: 'large', weight: 1 },
    ],
  });
  const nodes = planNodes(profile, { count: 10, first: 0 });
  const of = (group: string) => nodes.filter((node) => node.group.name === group);
  assert.deepEqual(
    nodes.slice(0, 2).map(({ name }) => name),
    ['system-0', 'system-1'],
  );
  assert.equal(of('small').length, 6);
  assert.equal(of('large').length, 2);
  assert.deepEqual(
    of('small').map(({ zone }) => zone),
    ['a', 'b', 'a', 'b', 'a', 'b'],
  );
  assert.equal(of('small')[1]?.labels['topology.kubernetes.io/zone'], 'b');
  assert.equal(of('large')[0]?.zone, null);
});

test('processes that share a fleet have the nodes that one would have', () => {
  const profile = checkProfile({ groups: [{ name: 'a', weight: 2 }, { name: 'b' }] });
  const whole = planNodes(profile, { count: 12, first: 0 });
  const halves = [...planNodes(profile, { count: 5, first: 0 }), ...planNodes(profile, { count: 7, first: 5 })];
  assert.deepEqual(halves, whole);
  assert.equal(new Set(whole.map(({ podCIDR }) => podCIDR)).size, 12);
});

test('a range that is too small is refused', () => {
  const profile = checkProfile({ podCIDR: '10.1.0.0/22' });
  assert.equal(planNodes(profile, { count: 4, first: 0 }).length, 4);
  assert.throws(() => planNodes(profile, { count: 5, first: 0 }), /NDS005.*room for 4 nodes, and 5/);
});

test('a curve begins at its base, comes back after a period, and sums up to what it said', () => {
  const curve = { base: 100, wave: 50, period: 10_000, grows: 60 };
  assert.equal(valueAt(curve, 0), 100);
  assert.equal(Math.round(valueAt(curve, 5_000)), 155);
  assert.equal(Math.round(valueAt(curve, 10_000)), 110);
  assert.equal(valueAt({ ...curve, most: 120 }, 5_000), 120);
  let sum = 0;
  for (let ms = 0; ms < 7_300; ms++) sum += valueAt(curve, ms + 0.5) / 1000;
  assert.ok(Math.abs(sumUntil(curve, 7_300) - sum) < 0.01, `${sumUntil(curve, 7_300)} ${sum}`);
});

test('failures strike the same nodes at the same times with the same seed, and others with another', () => {
  const nodes = Array.from({ length: 40 }, (_, i) => ({ name: `n-${i}`, zone: i % 2 === 0 ? 'a' : 'b' }));
  const { failures } = checkProfile({
    failures: [
      { does: 'die', every: '1m', count: 3, for: '10s', zone: 'a' },
      { does: 'lose-network', at: '30s', nodes: ['n-1', 'n-2*'] },
    ],
  });
  const [dies, parts] = failures;
  assert.ok(dies !== undefined && parts !== undefined);
  const first = drawFailure(dies, 0, 0, 0, nodes, 7);
  assert.deepEqual(drawFailure(dies, 0, 0, 0, nodes, 7), first);
  assert.notDeepEqual(drawFailure(dies, 0, 0, 0, nodes, 8), first);
  assert.equal(first?.nodes.length, 3);
  assert.ok(first.nodes.every((name) => Number(name.slice(2)) % 2 === 0));
  const second = drawFailure(dies, 0, 1, first.at, nodes, 7);
  assert.ok(second !== null && second.at > first.at);
  const once = drawFailure(parts, 1, 0, 0, nodes, 7);
  assert.deepEqual(new Set(once?.nodes), new Set(['n-1', 'n-2', ...Array.from({ length: 10 }, (_, i) => `n-2${i}`)]));
  assert.deepEqual([once?.at, once?.for], [30_000, null]);
  assert.equal(drawFailure(parts, 1, 1, 30_000, nodes, 7), null);
});
