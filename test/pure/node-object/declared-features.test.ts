import assert from 'node:assert/strict';
import { test } from 'node:test';
import { declaredFeaturesOf } from '../../../actors/configure/configuration/declared-features-of.ts';
import { nodeObjectConfigOf } from '../../../actors/cluster/node-object/node-object-config.ts';
import type { KubeletFlags } from '../../../actors/configure/configuration/kubelet-flags.ts';
import { resolveFeatureGates } from '../../../actors/configure/configuration/feature-gates.ts';
import { loadConfiguration } from '../../../actors/configure/configuration/load-configuration.ts';
import { bornAdmission } from '../../../machines/admission/admission-state.ts';
import type { AdmissionState } from '../../../machines/admission/admission-state.ts';
import { stepAdmission } from '../../../machines/admission/admission-machine.ts';
import { admitPod } from '../../../machines/admission/admit-pod.ts';
import { claimOf, nodeClaim } from '../../../machines/admission/pod-claim.ts';
import { declaredFeatures, lackingForChange } from '../../../machines/node-object/declared-features.ts';
import { initialNode } from '../../../machines/node-object/initial-node.ts';
import { nodePatch } from '../../../machines/node-object/node-patch.ts';
import { setNodeStatus } from '../../../machines/node-object/set-node-status.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { container, input, node, pod } from '../admission/admission-input.ts';
import { RULES } from '../admission/admission-rules.ts';
import { configOf, factsOf } from './facts.ts';

const CPU = 'GuaranteedQoSPodCPUResize';
const RESTART = 'RestartAllContainersOnContainerExits';

/** What a node with these settings declares, by the way from the configuration to its object. */
function declaredWith(featureGates: Record<string, boolean>, cpuManagerPolicy = 'none'): string[] | undefined {
  const { config } = loadConfiguration({ flags: [], cgroupVersion: 2 });
  const flags = { nodeLabels: {}, cloudProvider: '' } as unknown as KubeletFlags;
  const configured = { ...config, featureGates, cpuManagerPolicy } as typeof config;
  const declared = declaredFeaturesOf(configured, resolveFeatureGates(featureGates).gates);
  assert.deepEqual(nodeObjectConfigOf('n', configured, flags).declaredFeatures, declared);
  return declared;
}

test('what a node declares follows from its gates and from its CPU policy', () => {
  assert.equal(declaredWith({}), undefined);
  assert.deepEqual(declaredWith({ NodeDeclaredFeatures: true }), [CPU]);
  assert.deepEqual(declaredWith({ NodeDeclaredFeatures: true }, 'static'), []);
  assert.deepEqual(
    declaredWith({ NodeDeclaredFeatures: true, InPlacePodVerticalScalingExclusiveCPUs: true }, 'static'),
    [CPU],
  );
  const all = [CPU, 'InPlacePodLevelResourcesVerticalScaling', RESTART];
  assert.deepEqual(declaredWith({ AllAlpha: true }), all);
  assert.deepEqual(declaredFeatures({ cpuManagerPolicy: 'none', enabled: () => true }), all);
});

test('the node object says it from its registration on, and a former one is told anew', () => {
  const { node: first } = initialNode(configOf({ declaredFeatures: [CPU] }), factsOf(), 0);
  assert.deepEqual(first.status?.declaredFeatures, [CPU]);
  const { node: next } = setNodeStatus(first, configOf({ declaredFeatures: [CPU, RESTART] }), factsOf(), 0);
  assert.deepEqual(nodePatch(first, next), { status: { declaredFeatures: [CPU, RESTART] } });
  // Kubelet never takes the list back: with the gate off, and where it declares nothing.
  for (const config of [configOf(), configOf({ declaredFeatures: [] })]) {
    assert.equal(nodePatch(next, setNodeStatus(next, config, factsOf(), 0).node), undefined);
  }
  assert.ok(!('declaredFeatures' in (initialNode(configOf(), factsOf(), 0).node.status ?? {})));
});

test('a pod that needs what the node does not declare is refused, after all else', () => {
  const rules = [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [1] } }];
  const asking = claimOf(
    pod('c', {
      containers: [container('main', { cpu: '1' }, { restartPolicy: 'Never', restartPolicyRules: rules })],
    }),
  );
  assert.equal(admitPod(input(asking)).admit, true, 'the gate is off');
  assert.equal(admitPod(input(asking, { declaredFeatures: [RESTART] })).admit, true);
  assert.deepEqual(admitPod(input(asking, { declaredFeatures: [CPU] })), {
    admit: false,
    reason: 'PodFeatureUnsupported',
    message: `Pod requires node features that are not available: ${RESTART}`,
  });
  const init = { initContainers: [container('first', {}, { restartPolicyRules: rules })] };
  assert.equal(admitPod(input(claimOf(pod('d', init)), { declaredFeatures: [] })).admit, false);
  const again = { containers: [container('main', {}, { restartPolicyRules: [{ action: 'Restart' }] })] };
  assert.equal(admitPod(input(claimOf(pod('e', again)), { declaredFeatures: [] })).admit, true);
  const much = claimOf(pod('c', { containers: [container('main', { cpu: '9' }, { restartPolicyRules: rules })] }));
  const first = admitPod(input(much, { declaredFeatures: [] }));
  assert.ok(!first.admit && first.reason === 'OutOfcpu');
});

/** A Guaranteed pod of a container with so many CPUs, as the API server has it. */
const guaranteed = (cpu: string, more: Partial<NonNullable<Pod['spec']>> = {}): Pod => ({
  ...pod('a', { containers: [container('main', { cpu })], ...more }),
  status: { phase: 'Running', qosClass: 'Guaranteed' },
});

test('a change that needs what the node does not declare is told, and made all the same', () => {
  const events = (declared: string[] | undefined, before: Pod, after: Pod) => {
    const rules = { ...RULES, ...(declared && { declaredFeatures: declared }) };
    let state: AdmissionState = { ...bornAdmission(rules, []), node: nodeClaim(node()) };
    ({ state } = stepAdmission(state, { type: 'pod.asks', at: 1, pod: claimOf(before) }, []));
    ({ state } = stepAdmission(state, { type: 'pod.comes', at: 2, pod: claimOf(before) }, []));
    const stepped = stepAdmission(state, { type: 'pod.changed', at: 3, pod: claimOf(after), ready: true }, []);
    assert.ok(stepped.state.pods !== state.pods);
    return stepped.outputs.flatMap((order) =>
      order.type === 'event.record' ? [`${order.reason}: ${order.message}`] : [],
    );
  };
  const told = `FailedNodeDeclaredFeaturesCheck: Pod requires node features that are not available: ${CPU}`;
  assert.deepEqual(events([], guaranteed('1'), guaranteed('2')), [told]);
  assert.deepEqual(events([CPU], guaranteed('1'), guaranteed('2')), []);
  assert.deepEqual(events(undefined, guaranteed('1'), guaranteed('2')), []);
  const level = { resources: { requests: { cpu: '3' } } };
  assert.deepEqual(events([CPU], guaranteed('1'), guaranteed('1', level)), [
    'FailedNodeDeclaredFeaturesCheck: Pod requires node features that are not available: InPlacePodLevelResourcesVerticalScaling',
  ]);
});

test('only CPUs of a Guaranteed pod count, however they are written', () => {
  const burstable = (cpu: string): Pod => ({ ...guaranteed(cpu), status: { qosClass: 'Burstable' } });
  assert.equal(lackingForChange([], burstable('1'), burstable('2')), null);
  assert.equal(lackingForChange([], guaranteed('1'), guaranteed('1000m')), null);
  const memory = guaranteed('1', { containers: [container('main', { cpu: '1', memory: '1Gi' })] });
  assert.equal(lackingForChange([], guaranteed('1'), memory), null);
});
