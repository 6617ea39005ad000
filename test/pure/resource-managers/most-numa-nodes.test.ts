/** Option max-allowable-numa-nodes of the topology manager (kubelet's topologymanager: policy_options.go, NewManager): no drawn machine has it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MachineTopology } from '../../../machines/resource-managers/machine/machine-topology.ts';
import { ManagerConfigError, topologyRulesOf } from '../../../machines/resource-managers/topology/topology-options.ts';
import type { TopologyPolicy } from '../../../machines/resource-managers/topology/topology-options.ts';

function machineOf(nodes: number): MachineTopology {
  return {
    cpus: nodes,
    sockets: 1,
    nodes: Array.from({ length: nodes }, (_, id) => ({
      ...{ id, memory: 2 ** 30, hugePages: [], cores: [{ socket: 0, threads: [id] }] },
      distances: Array.from({ length: nodes }, (_other, to) => (to === id ? 10 : 20)),
    })),
  };
}

/** The words in which a node of so many NUMA nodes does not start; null when it does. */
function problem(nodes: number, most?: string, policy: TopologyPolicy = 'best-effort'): string | null {
  try {
    topologyRulesOf(
      machineOf(nodes),
      policy,
      'container',
      most === undefined ? {} : { 'max-allowable-numa-nodes': most },
    );
    return null;
  } catch (error) {
    if (!(error instanceof ManagerConfigError)) throw error;
    return error.message;
  }
}

test('a machine of more NUMA nodes than eight, or than the option allows, is none for the topology manager', () => {
  assert.equal(problem(8), null);
  assert.equal(problem(9), 'unsupported on machines with more than 8 NUMA Nodes');
  assert.equal(problem(8, '8'), null);
  assert.equal(problem(9, '8'), 'unsupported on machines with more than 8 NUMA Nodes');
  for (const policy of ['best-effort', 'restricted', 'single-numa-node'] as const) {
    assert.equal(problem(12, '12', policy), null, policy);
    assert.equal(problem(13, '12', policy), 'unsupported on machines with more than 12 NUMA Nodes', policy);
  }
  assert.equal(problem(16, undefined, 'none'), null, 'policy none counts no nodes');
});

test('the option is a whole number of at least eight', () => {
  const least = 'the minimum value of "max-allowable-numa-nodes" should not be less than 8';
  for (const value of ['7', '0', '-9']) assert.equal(problem(1, value), least, value);
  for (const value of ["can't parse to int", '', '8.0', ' 8', '0x10'])
    assert.equal(
      problem(1, value),
      `unable to convert policy option to integer "max-allowable-numa-nodes": strconv.Atoi: parsing ${JSON.stringify(value)}: invalid syntax`,
      value,
    );
  assert.equal(problem(9, '+9'), null);
  assert.equal(problem(9, '009'), null);
});
