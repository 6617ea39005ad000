import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stepAdmission } from '../../../machines/admission/admission-machine.ts';
import { bornAdmission } from '../../../machines/admission/admission-state.ts';
import type { AdmissionState } from '../../../machines/admission/admission-state.ts';
import { claimOf, nodeClaim } from '../../../machines/admission/pod-claim.ts';
import { unregisteredNode } from '../../../machines/node-object/initial-node.ts';
import type { NodeObjectConfig } from '../../../machines/node-object/node-types.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { configOf, factsOf } from '../node-object/facts.ts';
import { RULES } from './admission-rules.ts';

/** A node without an API server, which judges by the object that it would register. */
function standalone(change: Partial<NodeObjectConfig> = {}, rules = RULES): AdmissionState {
  const node = nodeClaim(unregisteredNode(configOf(change), factsOf().machine, false));
  return stepAdmission(bornAdmission(rules, []), { type: 'node.told', at: 1, node }, []).state;
}

/** What the node says of a static pod: null when it takes it, and `reason: message` else. */
function verdict(state: AdmissionState, spec: Partial<NonNullable<Pod['spec']>>): string | null {
  const pod: Pod = {
    metadata: { uid: 'u', name: 'p', namespace: 'default', annotations: { 'kubernetes.io/config.source': 'file' } },
    spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
    status: { phase: 'Pending' },
  };
  const { outputs } = stepAdmission(state, { type: 'pod.asks', at: 2, pod: claimOf(pod) }, []);
  const refused = outputs.find((order) => order.type === 'pod.refuse');
  return refused === undefined ? null : `${refused.reason}: ${refused.message}`;
}

const asks = (requests: Record<string, string>) => ({
  containers: [{ name: 'c', image: 'i', resources: { requests } }],
});
const AFFINITY = "NodeAffinity: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector";

test('a standalone node has the labels that it would register with, --node-labels among them', () => {
  const state = standalone({ labels: { disk: 'fast' } });
  assert.equal(verdict(state, { nodeSelector: { disk: 'fast', 'kubernetes.io/arch': 'amd64' } }), null);
  assert.equal(verdict(state, { nodeSelector: { 'kubernetes.io/hostname': 'node1' } }), null);
  assert.equal(verdict(state, { nodeSelector: { disk: 'slow' } }), AFFINITY);
});

test('a standalone node refuses what does not fit into it: cpu, pods, huge pages that it has none of', () => {
  const of = (requested: number, capacity: number, resource: string) =>
    `OutOf${resource}: Node didn't have enough resource: ${resource}, requested: ${requested}, used: 0, capacity: ${capacity}`;
  assert.equal(verdict(standalone(), asks({ cpu: '1900m' })), null);
  // two cores, 100m of them reserved
  assert.equal(verdict(standalone(), asks({ cpu: '1901m' })), of(1901, 1900, 'cpu'));
  assert.equal(verdict(standalone({ maxPods: 0 }), {}), of(1, 0, 'pods'));
  const huge = { ...asks({ 'hugepages-2Mi': '2Mi' }) };
  assert.equal(verdict(standalone(), huge), of(2 ** 21, 0, 'hugepages-2Mi'));
  assert.equal(
    verdict(standalone(), asks({ 'example.com/gpu': '1' })),
    null,
    'an extended resource may be the cluster’s',
  );
});

test('taints of registerWithTaints are for pods of the scheduler, not for static ones', () => {
  const taints = [{ key: 'dedicated', value: 'infra', effect: 'NoExecute' as const }];
  assert.equal(verdict(standalone({ taints }), {}), null);
});

test('a standalone node refuses AppArmor that it has not, sysctls that are not allowed, and strict groups', () => {
  const confined = { securityContext: { appArmorProfile: { type: 'RuntimeDefault' } } };
  assert.equal(
    verdict(standalone(), confined),
    'AppArmor: Cannot enforce AppArmor: AppArmor is not enabled on the host',
  );
  assert.equal(verdict(standalone({}, { ...RULES, appArmorEnabled: true }), confined), null);
  assert.equal(verdict(standalone(), { securityContext: { appArmorProfile: { type: 'Unconfined' } } }), null);
  assert.equal(
    verdict(standalone(), { securityContext: { sysctls: [{ name: 'kernel.msgmax', value: '1' }] } }),
    'SysctlForbidden: forbidden sysctl: "kernel.msgmax" not allowlisted',
  );
  assert.equal(
    verdict(standalone(), { securityContext: { supplementalGroupsPolicy: 'Strict' } }),
    'SupplementalGroupsPolicyNotSupported: SupplementalGroupsPolicy=Strict is not supported in this node',
  );
});
