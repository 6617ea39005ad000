import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolveFeatureGates } from '../../../actors/configure/configuration/feature-gates.ts';
import { loadConfiguration } from '../../../actors/configure/configuration/load-configuration.ts';
import { resourceRulesOf } from '../../../actors/resources/admission/resource-rules.ts';
import { configOf, factsOf } from '../node-object/facts.ts';

test('the static CPU policy asks for a reservation, in the words of kubelet', () => {
  const { config } = loadConfiguration({ flags: [], cgroupVersion: 2 });
  const cores = [{ socket: 0, threads: [0, 1] }];
  const nodes = [{ id: 0, memory: 2 ** 30, hugePages: [], cores, distances: [10] }];
  const make = () =>
    resourceRulesOf(
      { ...config, cpuManagerPolicy: 'static' },
      resolveFeatureGates({}).gates,
      { cpus: 2, sockets: 1, nodes },
      { facts: factsOf().machine, shape: { ...configOf(), systemReserved: {}, kubeReserved: {} } },
    );
  assert.throws(make, /\[cpumanager\] unable to determine reserved CPU resources for static policy/);
});
