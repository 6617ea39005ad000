/** What kubelet's topology manager counts where it has no CPUs or memory to align. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolveFeatureGates } from '../../../actors/configure/configuration/feature-gates.ts';
import { loadConfiguration } from '../../../actors/configure/configuration/load-configuration.ts';
import { resourceRulesOf } from '../../../actors/resources/admission/resource-rules.ts';
import { nodeResources } from '../../../machines/admission/node-resources.ts';
import type { ResourceRules } from '../../../machines/resource-managers/resource-ground.ts';
import { RULES } from '../admission/admission-rules.ts';
import { configOf, factsOf } from '../node-object/facts.ts';
import { admissionRules } from '../../../actors/resources/admission/admission-rules.ts';
import { NodeAdmission } from '../../../actors/resources/admission/node-admission.ts';
import { createMetrics } from '../../../actors/record/metrics/metrics-registry.ts';
import { node, pod as podWith } from '../admission/admission-input.ts';
import { folder, memoryLog } from '../journal/journal-fixture.ts';
import { nodeSettings } from '../qos/node-settings.ts';

const pod = {
  metadata: { uid: 'u' },
  spec: { initContainers: [{ name: 'init' }], containers: [{ name: 'a' }, { name: 'b' }] },
};

function rulesWith(policy: ResourceRules['topology']['policy'], scope: 'container' | 'pod'): ResourceRules {
  const { config } = loadConfiguration({ flags: [], cgroupVersion: 2 });
  const nodes = [0, 1].map((id) => ({
    ...{ id, memory: 2 ** 30, hugePages: [], distances: id === 0 ? [10, 20] : [20, 10] },
    cores: [{ socket: id, threads: [id] }],
  }));
  const topology = { topologyManagerPolicy: policy, topologyManagerScope: scope };
  const rules = resourceRulesOf(
    { ...config, ...topology },
    resolveFeatureGates({}).gates,
    { cpus: 2, sockets: 2, nodes },
    { facts: factsOf().machine, shape: configOf() },
  );
  assert.ok(rules);
  return rules;
}

test('with policy single-numa-node each container, or pod, that is let in counts as aligned, whatever there is to align', () => {
  const counted = (resources: ResourceRules) => nodeResources.allocate(null, pod, { ...RULES, resources });
  assert.deepEqual(counted(rulesWith('single-numa-node', 'container')), {
    state: null,
    counts: { alignedNodesOfContainer: 3 },
  });
  assert.deepEqual(counted(rulesWith('single-numa-node', 'pod')), { state: null, counts: { alignedNodesOfPod: 1 } });
  assert.deepEqual(counted(rulesWith('restricted', 'container')), { state: null });
  const { countsAlone: _new, ...older } = rulesWith('single-numa-node', 'pod');
  assert.deepEqual(counted(older), { state: null }, 'as older logs have it');
});

test('a pod that is judged once more, with the node of this moment or when others have gone for it, counts once', async (t) => {
  const metrics = createMetrics({ processMetrics: false });
  const config = { allowedUnsafeSysctls: [], maxPods: 110, podsPerCore: 0 };
  const admission = new NodeAdmission({
    rules: admissionRules(config, nodeSettings(), { resources: rulesWith('single-numa-node', 'pod') }),
    ...{ rootDir: folder(t), log: memoryLog().log, now: () => 1, metrics, sourcesReady: () => true },
    ...{ node: () => node(), freshNode: () => Promise.resolve(node({ labels: { zone: 'a' } })) },
    ...{ record: () => undefined, makeRoom: () => undefined, changed: () => undefined },
  });
  t.after(() => admission.close());
  const one = podWith('one', { containers: [{ name: 'c' }], nodeSelector: { zone: 'a' } });
  const refusal = admission.admit(one);
  assert.equal(refusal?.retryWithFreshNode, true);
  assert.equal(await admission.admitAfterAll(one, refusal), null);
  assert.equal(admission.admitAfterRoom(podWith('two', { containers: [{ name: 'c' }] })), null);
  const { values } = await metrics.alignedResources.get();
  assert.equal(values.find(({ labels }) => labels['scope'] === 'pod')?.value, 1);
});
