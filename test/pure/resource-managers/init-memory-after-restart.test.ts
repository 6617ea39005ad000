/** Who comes again with its agent, and whose init containers have given their memory back, gets it for them anew: the books must be right of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { groundOf, nodeResources } from '../../../machines/admission/node-resources.ts';
import type { Container, Pod } from '../../../machines/protocol/api-types.ts';
import { checkMemory } from '../../../machines/resource-managers/memory/check-memory.ts';
import type { MemoryState } from '../../../machines/resource-managers/memory/memory-state.ts';
import { bornResources } from '../../../machines/resource-managers/resource-ground.ts';
import type { ResourceRules } from '../../../machines/resource-managers/resource-ground.ts';
import type { ResourceState } from '../../../machines/resource-managers/admit-resources.ts';
import { uidEntries } from '../../../machines/supervisor/uid-table.ts';
import { resourceRules } from '../../simulation/world/node-settings.ts';
import { RULES } from '../admission/admission-rules.ts';

const MIB = 2 ** 20;

function container(name: string, mib: number, more: Partial<Container> = {}): Container {
  const amounts = { cpu: '100m', memory: `${mib}Mi` };
  return { name, resources: { requests: amounts, limits: amounts }, ...more };
}

const POD: Pod = {
  metadata: { uid: 'u' },
  spec: {
    initContainers: [
      container('init0', 64),
      container('side0', 64, { restartPolicy: 'Always' }),
      container('init1', 64),
    ],
    containers: [container('main0', 64)],
  },
};

function asked(state: ResourceState | null | undefined, resources: ResourceRules): ResourceState | null | undefined {
  const answer = nodeResources.allocate(state, POD, { ...RULES, resources });
  assert.ok('state' in answer);
  return answer.state;
}

/** MiB that nodes have given, and that the pod's containers have. */
function sums(state: ResourceState | null | undefined): [number, number] {
  const { nodes, pods } = state?.memory as MemoryState;
  const given = nodes.reduce((sum, { memoryMap }) => sum + (memoryMap['memory']?.reserved ?? 0), 0);
  const blocks = uidEntries(pods).flatMap(([, grants]) => grants.flatMap((grant) => grant.blocks));
  return [given / MIB, blocks.reduce((sum, { size }) => sum + size, 0) / MIB];
}

/** Comes, has initialized, comes again with the next agent, tells again that it has. */
function livesOn(resources: ResourceRules) {
  const born = bornResources(resources, groundOf(resources));
  const first = asked(born, resources);
  const runs = nodeResources.initialized?.(first, POD);
  const again = asked(runs, resources);
  return { born, first, runs, again, told: nodeResources.initialized?.(again, POD) };
}

test('after a restart of the agent nodes have given what the pod has, and it all comes back', () => {
  const { born, first, runs, again, told } = livesOn(resourceRules());
  assert.deepEqual([first, runs].map(sums), [
    [128, 128],
    [128, 128],
  ]);
  assert.deepEqual(sums(again), [256, 256], 'the sidecar has what it had: neither init container has any of that');
  assert.deepEqual(sums(told), [128, 128]);
  for (const { memory } of [first, runs, again, told].map((state) => state as ResourceState))
    assert.equal(
      checkMemory(born.memory as MemoryState, memory as MemoryState),
      memory,
      'the next agent begins with it',
    );
  assert.deepEqual(nodeResources.release(told, 'u'), born);
});

test('older logs are replayed with the books as they were', () => {
  const { reuseIsExact: _new, ...older } = resourceRules();
  assert.deepEqual(sums(livesOn(older).told), [192, 128]);
});
