import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { SystemdBus } from '../../../actors/host/cgroups/systemd-bus.ts';
import type { SystemdBusOptions } from '../../../actors/host/cgroups/systemd-bus.ts';
import { fakeSystemd } from './support/fake-systemd.ts';
import type { FakeSystemd } from './support/fake-systemd.ts';

const JOB = '/org/freedesktop/systemd1/job/7';

function busTo(t: TestContext, fake: FakeSystemd, options: SystemdBusOptions = {}): SystemdBus {
  const bus = new SystemdBus({ addresses: [{ socket: fake.socket, direct: false }], ...options });
  t.after(() => bus.close());
  return bus;
}

test('a unit is made with its properties, and is there when its job has ended', async (t) => {
  const order: string[] = [];
  const fake = await fakeSystemd(t, (_member, _body, reply) => {
    reply.answer('o', JOB);
    setImmediate(() => {
      order.push('job ends');
      reply.jobEnds(JOB, 'done');
    });
  });
  await busTo(t, fake).startTransientUnit('a.slice', [
    ['Wants', 'as', ['-.slice']],
    ['TasksAccounting', 'b', true],
    ['MemoryMax', 't', 2n ** 64n - 1n],
    ['AllowedCPUs', 'ay', [15, 1]],
  ]);
  order.push('made');
  assert.deepEqual(order, ['job ends', 'made']);
  assert.deepEqual(fake.calls, [
    {
      member: 'StartTransientUnit',
      body: [
        'a.slice',
        'replace',
        [
          ['Wants', ['-.slice']],
          ['TasksAccounting', true],
          ['MemoryMax', 2n ** 64n - 1n],
          ['AllowedCPUs', Buffer.from([15, 1])],
        ],
        [],
      ],
    },
  ]);
});

test('a job that has ended before its name is told, among others', async (t) => {
  const fake = await fakeSystemd(t, (_member, _body, reply) => {
    reply.jobEnds('/other', 'failed');
    reply.jobEnds(JOB, 'done');
    reply.answer('o', JOB);
  });
  await busTo(t, fake).startTransientUnit('a.slice', []);
});

test('a unit that exists stays, one that is not there is stopped, and the memory of failed ones is cleared', async (t) => {
  const fake = await fakeSystemd(t, (member, _body, reply) =>
    reply.fail(member === 'StartTransientUnit' ? 'UnitExists' : 'NoSuchUnit'),
  );
  const bus = busTo(t, fake);
  await bus.startTransientUnit('a.slice', []);
  await bus.stopUnit('a.slice');
  assert.deepEqual(
    fake.calls.map(({ member }) => member),
    ['StartTransientUnit', 'StopUnit', 'ResetFailedUnit'],
  );
});

test('limits are set until the machine restarts', async (t) => {
  const fake = await fakeSystemd(t, (_member, _body, reply) => reply.answer());
  await busTo(t, fake).setUnitProperties('a.slice', [['CPUWeight', 't', 39n]]);
  assert.deepEqual(fake.calls, [{ member: 'SetUnitProperties', body: ['a.slice', true, [['CPUWeight', 39n]]] }]);
});

test('what systemd refuses, a job that fails, one that does not end: HOST021, with the unit', async (t) => {
  const fake = await fakeSystemd(t, (_member, [unit], reply) => {
    if (unit === 'refused.slice') return reply.fail('BadUnitSetting');
    reply.answer('o', JOB);
    if (unit === 'failed.slice') reply.jobEnds(JOB, 'failed');
  });
  const bus = busTo(t, fake, { jobTimeoutMs: 50 });
  for (const [unit, text] of [
    ['refused.slice', /could not make refused.slice: .*it is BadUnitSetting/],
    ['failed.slice', /could not make failed.slice: its job ended with "failed"/],
    ['endless.slice', /could not make endless.slice: no answer within 0.05 s/],
  ] as const)
    await assert.rejects(bus.startTransientUnit(unit, []), { code: 'HOST021', message: text });
  assert.equal(fake.connections, 1);
});

test('a connection that is lost, before the answer or before the job has ended, is made again', async (t) => {
  let calls = 0;
  const fake = await fakeSystemd(t, (_member, _body, reply) => {
    calls++;
    if (calls === 1) return reply.hangUp();
    reply.answer('o', JOB);
    if (calls === 2) setImmediate(() => reply.hangUp());
    else reply.jobEnds(JOB, 'done');
  });
  await busTo(t, fake).startTransientUnit('a.slice', []);
  assert.deepEqual([fake.connections, calls], [3, 3]);
});

test('one that is lost each time is told of, and the next call tries anew', async (t) => {
  let lost = true;
  const fake = await fakeSystemd(t, (_member, _body, reply) => (lost ? reply.hangUp() : reply.answer()));
  const bus = busTo(t, fake);
  await assert.rejects(bus.setUnitProperties('a.slice', []), { code: 'HOST020' });
  lost = false;
  await bus.setUnitProperties('a.slice', []);
});

test('where there is no bus systemd is asked directly; without either the error names both', async (t) => {
  const fake = await fakeSystemd(t, (_member, _body, reply) => reply.answer());
  const nowhere = { socket: '/nowhere/bus', direct: false };
  const bus = busTo(t, fake, { addresses: [nowhere, { socket: fake.socket, direct: true }] });
  await bus.setUnitProperties('a.slice', []);
  assert.equal(fake.calls.length, 1);
  await assert.rejects(new SystemdBus({ addresses: [nowhere] }).setUnitProperties('a.slice', []), {
    code: 'HOST020',
    message: /cannot be reached over D-Bus: .*\/nowhere\/bus/,
  });
});

test('a bus that takes connections and says nothing is given up, and meanwhile all wait for the same connection', async (t) => {
  const fake = await fakeSystemd(t, (_member, _body, reply) => reply.answer());
  const heard = new Set<Socket>();
  const silent = createServer((client) => void heard.add(client.resume()));
  const socket = `${fake.socket}-silent`;
  silent.listen(socket);
  await once(silent, 'listening');
  t.after(() => silent.close());
  const addresses = [
    { socket, direct: false },
    { socket: fake.socket, direct: false },
  ];
  const bus = busTo(t, fake, { addresses, connectMs: 100 });
  const change = (): Promise<void> => bus.setUnitProperties('a.slice', []);
  // The time of the connections goes on when the test says so.
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const calls = [change()];
  if (heard.size === 0) await once(silent, 'connection');
  calls.push(...Array.from({ length: 5 }, change));
  t.mock.timers.tick(100);
  for (let i = 0; i < 5; i++) {
    calls.push(change());
    await turn();
  }
  await Promise.all(calls);
  assert.deepEqual([fake.calls.length, fake.connections], [11, 1]);
});

test('many at once go over one connection', async (t) => {
  let next = 0;
  const fake = await fakeSystemd(t, (_member, _body, reply) => {
    const job = `${JOB}${next++}`;
    reply.answer('o', job);
    setImmediate(() => reply.jobEnds(job, 'done'));
  });
  const bus = busTo(t, fake);
  await Promise.all(Array.from({ length: 50 }, (_, i) => bus.startTransientUnit(`a${i}.slice`, [])));
  assert.deepEqual([fake.calls.length, fake.connections], [50, 1]);
});
