import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolveFeatureGates } from '../../../actors/configure/configuration/feature-gates.ts';
import { loadConfiguration } from '../../../actors/configure/configuration/load-configuration.ts';
import { resourceRulesOf } from '../../../actors/resources/admission/resource-rules.ts';
import { configOf, factsOf } from '../node-object/facts.ts';

/** What CPUs and memory are given by on a machine of one NUMA node. */
function rulesWith(gate: boolean, topologyManagerPolicyOptions: Record<string, string>) {
  const { config } = loadConfiguration({ flags: [], cgroupVersion: 2 });
  const cores = [{ socket: 0, threads: [0, 1] }];
  const node = { id: 0, memory: 2 ** 30, hugePages: [], cores, distances: [10] };
  return resourceRulesOf(
    { ...config, topologyManagerPolicyOptions },
    resolveFeatureGates({ TopologyManagerPolicyOptions: gate }).gates,
    { cpus: 2, sockets: 1, nodes: [node] },
    { facts: factsOf().machine, shape: configOf() },
  );
}

test('TopologyManagerPolicyOptions=false: a node with options of the topology manager does not start', () => {
  const options = { 'prefer-closest-numa-nodes': 'true', 'max-allowable-numa-nodes': '9' };
  assert.deepEqual(rulesWith(true, options).topology.options, options);
  assert.deepEqual(rulesWith(false, {}).topology.options, {});
  assert.throws(
    () => rulesWith(false, options),
    /topology manager policy options map\[max-allowable-numa-nodes:9 prefer-closest-numa-nodes:true\] require feature gates "TopologyManagerPolicyOptions" enabled/,
  );
});
