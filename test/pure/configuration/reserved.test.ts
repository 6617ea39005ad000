/** What is reserved of the machine: processors by name, and never more than there is. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { loadConfiguration } from '../../../actors/configure/configuration/load-configuration.ts';
import { withReservedCpus } from '../../../actors/configure/configuration/reserved-cpus.ts';
import { allocatableOf, overReserved } from '../../../machines/node-object/node-resources.ts';
import { kubepodsLimits } from '../../../machines/qos/node-limits.ts';
import { configOf } from '../node-object/facts.ts';

const log = pino({ level: 'silent' });
const configured = (fields: Record<string, unknown>) =>
  loadConfiguration({
    flags: Object.entries(fields).map(([path, value]) => ({ flag: path, path, value })),
    cgroupVersion: 2,
  }).config;

test('named processors take the place of the cpu that is reserved, in allocatable and in the cgroup of all pods', () => {
  const given = configured({
    reservedSystemCPUs: '0,2-3',
    kubeReserved: { cpu: '500m', memory: '1Gi' },
    systemReserved: { cpu: '7', pid: '100' },
  });
  const { kubeReserved, systemReserved } = withReservedCpus(given, '0-7', log);
  assert.deepEqual(kubeReserved, { memory: '1Gi' });
  assert.deepEqual(systemReserved, { cpu: '3', pid: '100' });
  assert.equal(given.systemReserved['cpu'], '7', 'what was given stays as it was');
  const shape = configOf({ kubeReserved, systemReserved, evictionHard: {} });
  const capacity = { cpu: '8', memory: '4Gi', pods: '110' };
  assert.deepEqual(allocatableOf(capacity, {}, shape), { cpu: '5', memory: '3Gi', pods: '110' });
  const limits = kubepodsLimits(
    { ...capacity, pid: '1000' },
    { enforceNodeAllocatable: ['pods'], kubeReserved, systemReserved },
    [],
  );
  assert.equal(limits.cpuShares, 5 * 1024);
  assert.equal(limits.pidsLimit, 900);
});

test('a processor that the machine lacks is an error; without the field nothing changes', () => {
  const given = configured({ reservedSystemCPUs: '1-2' });
  assert.throws(() => withReservedCpus(given, '0-1', log), {
    code: 'CFG040',
    message: /reserved-cpus: 1-2 is not a subset of online-cpus: 0-1/,
  });
  assert.equal(withReservedCpus(given, '0-2', log).systemReserved['cpu'], '2');
  const none = configured({ systemReserved: { cpu: '1' } });
  assert.equal(withReservedCpus(none, '0', log), none);
});

test('more than the machine has is said in kubelet’s words', () => {
  const shape = (systemReserved: Record<string, string>) =>
    configOf({ systemReserved, kubeReserved: { cpu: '1' }, evictionHard: { 'memory.available': '100Mi' } });
  const capacity = { cpu: '2', memory: '1Gi' };
  assert.deepEqual(overReserved(capacity, shape({ cpu: '1', memory: '924Mi', pid: '1' })), []);
  assert.deepEqual(overReserved(capacity, shape({ cpu: '1500m', memory: '1Gi' })), [
    'Resource "cpu" has a reservation of 2500m but capacity of 2. Expected capacity >= reservation.',
    'Resource "memory" has a reservation of 1124Mi but capacity of 1Gi. Expected capacity >= reservation.',
  ]);
});

test('qosReserved: memory by percent', () => {
  assert.deepEqual(configured({ qosReserved: { memory: '50%' } }).qosReserved, { memory: '50%' });
  for (const bad of [{ cpu: '50%' }, { memory: '50' }, { memory: '101%' }])
    assert.throws(() => configured({ qosReserved: bad }), /qosReserved/);
});
