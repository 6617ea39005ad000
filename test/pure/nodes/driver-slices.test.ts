import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DeviceTaints } from '../../../actors/node/fleet/device-taints.ts';
import { deviceNames, slicesOf } from '../../../actors/node/fleet/driver-slices.ts';
import type { PoolState } from '../../../actors/node/fleet/driver-slices.ts';
import { droppedFields } from '../../../actors/node/fleet/dropped-fields.ts';
import { checkProfile } from '../../../actors/node/fleet/profile/read-profile.ts';

const DRIVER = 'gpu.example.com';
const PLAIN: PoolState = { generation: 1, taints: new Map() };
const BROKEN = { key: 'example.com/broken', effect: 'NoExecute' } as const;

/** The one driver of a profile. */
function ruleOf(driver: Record<string, unknown>) {
  const { groups } = checkProfile({ groups: [{ name: 'n', drivers: [{ driver: DRIVER, ...driver } as never] }] });
  const [rule] = groups[0]?.drivers ?? [];
  assert.ok(rule !== undefined);
  return rule;
}

/** What the profile's check says of a driver. */
function problemsOf(driver: Record<string, unknown>, failures: object[] = []): string {
  const groups = [{ name: 'n', drivers: [{ driver: DRIVER, ...driver }] }];
  try {
    checkProfile({ groups, failures }, 'parts.yaml');
  } catch (error) {
    return (error as Error).message;
  }
  return '';
}

test("a driver's devices are told in slices of 64, each fact by its kind", () => {
  const attributes = { model: 'a100', cores: 4, shared: true, 'example.com/firmware': { version: '1.2.3' } };
  const sort = { name: 'gpu', count: 66, attributes, capacity: { memory: '80Gi' } };
  const slices = slicesOf(ruleOf({ devices: [sort, { name: 'nic', count: 1 }] }), 'n-0', PLAIN);
  assert.deepEqual(
    slices.map(({ metadata, spec }) => [metadata.name, spec.devices?.length]),
    [
      ['n-0-gpu.example.com-0', 64],
      ['n-0-gpu.example.com-1', 3],
    ],
  );
  assert.deepEqual(slices[0]?.spec.pool, { name: 'n-0', generation: 1, resourceSliceCount: 2 });
  assert.deepEqual(slices[0]?.spec.devices?.[0], {
    name: 'gpu-0',
    attributes: {
      ...{ model: { string: 'a100' }, cores: { int: 4 }, shared: { bool: true } },
      'example.com/firmware': { version: '1.2.3' },
    },
    capacity: { memory: { value: '80Gi' } },
  });
  assert.deepEqual(slices[1]?.spec.devices?.at(-1), { name: 'nic-0', attributes: {}, capacity: {} });
});

test('parts take of their cards in turns; cards lie in slices of their own, eight in each', () => {
  const consumesCounters = [{ counterSet: 'card', counters: { memory: '10Gi', slices: 1 } }];
  const rule = ruleOf({
    sharedCounters: [{ name: 'card', count: 9, counters: { memory: '80Gi', slices: 7 } }],
    devices: [{ name: 'part', count: 10, consumesCounters }],
  });
  const slices = slicesOf(rule, 'n-0', PLAIN);
  assert.deepEqual(
    slices.map(({ spec }) => [spec.devices?.length, spec.sharedCounters?.length, spec.pool.resourceSliceCount]),
    [
      [10, undefined, 3],
      [undefined, 8, 3],
      [undefined, 1, 3],
    ],
  );
  const counters = { memory: { value: '10Gi' }, slices: { value: '1' } };
  const [devices] = slices.map(({ spec }) => spec.devices ?? []);
  assert.deepEqual(devices?.at(8)?.consumesCounters, [{ counterSet: 'card-8', counters }]);
  assert.deepEqual(devices?.at(9)?.consumesCounters, [{ counterSet: 'card-0', counters }]);
  assert.deepEqual(slices[2]?.spec.sharedCounters, [
    { name: 'card-8', counters: { memory: { value: '80Gi' }, slices: { value: '7' } } },
  ]);
});

test('a device that several claims may have says how its capacity is shared out', () => {
  const requestPolicy = { default: '1Gi', validRange: { min: '1Gi', max: '8Gi', step: '1Gi' } };
  const capacity = { memory: { value: '16Gi', requestPolicy }, cores: 4 };
  const rule = ruleOf({ devices: [{ name: 'nic', count: 1, allowMultipleAllocations: true, capacity }] });
  assert.deepEqual(slicesOf(rule, 'n-0', PLAIN)[0]?.spec.devices, [
    {
      ...{ name: 'nic-0', attributes: {}, allowMultipleAllocations: true },
      capacity: { memory: { value: '16Gi', requestPolicy }, cores: { value: '4' } },
    },
  ]);
});

test('taints come with failures and illness and go with them; each keeps the time of its beginning', () => {
  const kept = { key: 'old', value: 'yes', effect: 'NoSchedule' };
  const rule = ruleOf({
    devices: [
      { name: 'old', count: 1, taints: [kept] },
      { name: 'gpu', count: 3 },
    ],
    taintsUnhealthy: BROKEN,
  });
  let now = Date.UTC(2026, 0, 1);
  const taints = new DeviceTaints({ rule, seed: 3, names: deviceNames(rule), now: () => now });
  const none = new Set<string>();
  assert.equal(taints.look(none), true);
  assert.deepEqual([...taints.now], [['old-0', [{ ...kept, timeAdded: '2026-01-01T00:00:00Z' }]]]);
  now += 60_000;
  assert.equal(taints.look(none), false);
  const out = { key: 'out', effect: 'NoSchedule' } as const;
  taints.add(out, 2);
  assert.equal(taints.look(new Set(['gpu-1'])), true);
  const timeAdded = '2026-01-01T00:01:00Z';
  const struck = [...taints.now].flatMap(([name, of]) => (of.some(({ key }) => key === 'out') ? [name] : []));
  assert.equal(struck.length, 2);
  assert.deepEqual(taints.now.get('gpu-1')?.at(-1), { ...BROKEN, timeAdded });
  assert.equal(taints.now.get('old-0')?.[0]?.timeAdded, '2026-01-01T00:00:00Z');
  now += 60_000;
  taints.remove(out, 2);
  assert.equal(taints.look(new Set(['gpu-1'])), true);
  assert.deepEqual(taints.now.get('gpu-1'), [{ ...BROKEN, timeAdded }]);
  assert.equal(taints.look(none), true);
  assert.deepEqual([...taints.now.keys()], ['old-0']);
});

test('what a server without the features leaves out is named with its gate', () => {
  const rule = ruleOf({
    sharedCounters: [{ name: 'card', counters: { memory: '80Gi' } }],
    devices: [
      { name: 'part', count: 2, consumesCounters: [{ counterSet: 'card', counters: { memory: '40Gi' } }] },
      { name: 'nic', count: 1, allowMultipleAllocations: true },
    ],
  });
  const [devices, cards] = slicesOf(rule, 'n-0', {
    generation: 1,
    taints: new Map([['nic-0', [{ ...BROKEN, timeAdded: '' }]]]),
  });
  const gates = (all: { gate: string }[]) => all.map(({ gate }) => gate);
  assert.deepEqual(gates(droppedFields(devices?.spec ?? {}, devices?.spec)), []);
  const bare = {
    devices: (devices?.spec.devices ?? []).map(({ name, attributes, capacity }) => ({ name, attributes, capacity })),
  };
  assert.deepEqual(gates(droppedFields(devices?.spec ?? {}, bare)), [
    ...['DRADeviceTaints', 'DRAPartitionableDevices', 'DRAConsumableCapacity'],
  ]);
  assert.deepEqual(gates(droppedFields(cards?.spec ?? {}, {})), ['DRAPartitionableDevices']);
});

test('wrong taints, counters and policies are named with what is accepted', () => {
  const gpu = { name: 'gpu', count: 2 };
  const card = { name: 'card', counters: { memory: '80Gi' } };
  const of = (more: object, sharedCounters: object[] = [card]) => ({ devices: [{ ...gpu, ...more }], sharedCounters });
  const takes = (counterSet: string, counters: object) => of({ consumesCounters: [{ counterSet, counters }] });
  const policy = (requestPolicy: object, value = '16Gi') =>
    of({ allowMultipleAllocations: true, capacity: { memory: { value, requestPolicy } } });
  const at = 'groups[0].drivers[0]';
  const device = `${at}.devices[0]`;
  const memory = `${device}.capacity.memory`;
  for (const [driver, problem] of [
    [of({ taints: [{ key: 'a/b/c', effect: 'None' }] }), `${device}.taints[0].key: must be a label name`],
    [of({ taints: [{ key: 'a', value: '-', effect: 'None' }] }), `${device}.taints[0].value: must be a label value`],
    [
      of({ taints: [{ key: 'a', effect: 'PreferNoSchedule' }] }),
      `${device}.taints[0].effect: must be None, NoSchedule or NoExecute`,
    ],
    [
      of({ taints: Array.from({ length: 17 }, (_, i) => ({ key: `t${i}`, effect: 'None' })) }),
      `${device}.taints: must be at most 16`,
    ],
    [
      takes('cord', { memory: '1Gi' }),
      `${device}.consumesCounters[0].counterSet: is none of \`sharedCounters\`: they are card`,
    ],
    [
      of({ consumesCounters: [{ counterSet: 'card', counters: { memory: 1 } }] }, []),
      `${device}.consumesCounters[0].counterSet: is none of \`sharedCounters\`: there are none`,
    ],
    [
      takes('card', { cores: 1 }),
      `${device}.consumesCounters[0].counters.cores: is no counter of card, which has memory`,
    ],
    [takes('card', {}), `${device}.consumesCounters[0].counters: must name from 1 to 32 counters`],
    [takes('card', { memory: 'much' }), `${device}.consumesCounters[0].counters.memory: must be a quantity`],
    [
      of({ consumesCounters: ['a', 'b', 'c'].map((counterSet) => ({ counterSet, counters: { memory: 1 } })) }),
      `${device}.consumesCounters: must be at most 2`,
    ],
    [of({}, [card, card]), `${at}.sharedCounters: must name each sort once`],
    [of({}, [{ ...card, count: 65 }]), `${at}.sharedCounters[0].count: must be a whole number from 1 to 64`],
    [of({}, [{ ...card, counters: { Memory: 1 } }]), `${at}.sharedCounters[0].counters.Memory: must be a DNS label`],
    [
      of({ capacity: { memory: { value: '1Gi', requestPolicy: {} } } }),
      `${memory}.requestPolicy: goes with \`allowMultipleAllocations: true\` alone`,
    ],
    [policy({ validValues: ['1Gi'] }), `${memory}.requestPolicy.default: is needed with \`validValues\``],
    [
      policy({ default: '1Gi', validValues: ['1Gi'], validRange: { min: '1Gi' } }),
      `${memory}.requestPolicy: must have one of`,
    ],
    [policy({ default: '2Gi', validValues: ['4Gi', '2Gi'] }), `${memory}.requestPolicy.validValues: must rise`],
    [
      policy({ default: '3Gi', validValues: ['2Gi'] }),
      `${memory}.requestPolicy.default: must be one of \`validValues\``,
    ],
    [
      policy({ default: '32Gi', validValues: ['32Gi'] }),
      `${memory}.requestPolicy.validValues: must not be above the capacity's value 16Gi`,
    ],
    [
      policy({ default: '1Gi', validRange: { min: '2Gi' } }),
      `${memory}.requestPolicy.default: must lie in \`validRange\``,
    ],
    [
      policy({ default: '3Gi', validRange: { min: '1Gi', step: '4Gi' } }),
      `${memory}.requestPolicy.default: must be so many steps above \`min\``,
    ],
    [
      policy({ default: '1Gi', validRange: { min: '1Gi', step: '16Gi' } }),
      `${memory}.requestPolicy.validRange.step: must leave room for one step up to 16Gi`,
    ],
    [policy({}, 'much'), `${memory}`],
  ] as const) {
    const message = problemsOf(driver);
    assert.ok(message.startsWith('NDS003: The profile parts.yaml has wrong values: '), `${problem}: ${message}`);
    assert.ok(message.includes(problem), `${message}\nhas not: ${problem}`);
  }
  assert.equal(problemsOf(takes('card', { memory: '40Gi' })), '');
  assert.equal(problemsOf(policy({ default: '1Gi' })), '');
});

test('failures taint with a taint, and never more than a device may have', () => {
  const devices = [
    { name: 'gpu', count: 1, taints: Array.from({ length: 15 }, (_, i) => ({ key: `t${i}`, effect: 'None' })) },
  ];
  const fails = { at: 0, does: 'taint-driver-devices' };
  assert.match(
    problemsOf({ devices }, [fails]),
    /failures\[0\]\.taint: goes with taint-driver-devices, which needs it/,
  );
  assert.match(problemsOf({ devices }, [{ ...fails, does: 'die', taint: BROKEN }]), /failures\[0\]\.taint: goes with/);
  assert.equal(problemsOf({ devices }, [{ ...fails, taint: BROKEN }]), '');
  assert.match(
    problemsOf({ devices, taintsUnhealthy: { key: 'ill', effect: 'NoSchedule' } }, [{ ...fails, taint: BROKEN }]),
    /devices\[0\]\.taints: must be at most 16 together with `taintsUnhealthy` and those of `failures`/,
  );
});
