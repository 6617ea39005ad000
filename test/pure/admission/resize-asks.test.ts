/** What CPU manager and its like have to say of a pod that is resized: kubelet asks all that it asks about one that comes (allocation.canResizePod). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stepAdmission } from '../../../machines/admission/admission-machine.ts';
import type { AdmissionMessage, AdmissionOrder, HeldDevices } from '../../../machines/admission/admission-messages.ts';
import type { AdmissionRules } from '../../../machines/admission/admission-rules.ts';
import { bornAdmission } from '../../../machines/admission/admission-state.ts';
import { RESOURCE_MANAGERS } from '../../../machines/admission/all-managers.ts';
import { resourcesOf } from '../../../machines/admission/node-resources.ts';
import { claimOf, nodeClaim } from '../../../machines/admission/pod-claim.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { heldHints } from '../../../machines/devices/held-hints.ts';
import { NO_DEVICES } from '../../../machines/devices/device-state.ts';
import type { DeviceState } from '../../../machines/devices/device-state.ts';
import type { TopologyHint } from '../../../machines/resource-managers/topology/hints.ts';
import { atUid, withUid } from '../../../machines/supervisor/uid-table.ts';
import { container, node, pod } from './admission-input.ts';
import { RULES } from './admission-rules.ts';
import { fourCpus, socketsOfFourCpus } from './four-cpus.ts';

type WithoutTime<M> = M extends unknown ? Omit<M, 'at'> : never;

/** A Guaranteed pod of one container. */
function guaranteed(cpu: string, memory: string, generation = 1): Pod {
  const amounts = { cpu, memory };
  const spec = { containers: [{ ...container('main'), resources: { requests: amounts, limits: amounts } }] };
  return pod('a', spec, { name: 'a', namespace: 'default', uid: 'uid-a', generation });
}

function resized(rules: AdmissionRules, from: Pod, to: Pod, more: { held?: HeldDevices } = {}) {
  let state = { ...bornAdmission(rules, RESOURCE_MANAGERS), node: nodeClaim(node()) };
  const take = (message: WithoutTime<AdmissionMessage>): AdmissionOrder[] => {
    const step = stepAdmission(state, { ...message, at: 1_000 } as AdmissionMessage, RESOURCE_MANAGERS);
    state = step.state as typeof state;
    return step.outputs;
  };
  take({ type: 'pod.asks', pod: claimOf(from) });
  take({ type: 'pod.comes', pod: claimOf(from) });
  const orders = take({ type: 'pod.changed', pod: claimOf(to), ready: true, ...more });
  const { pending } = atUid(state.pods, 'uid-a') ?? {};
  const has = atUid(resourcesOf(state.managed)?.cpu?.pods ?? {}, 'uid-a');
  const cpus = has?.map((grant) => grant.cpus).join();
  return { pending: pending && `${pending.reason}: ${pending.message}`, cpus, orders };
}

const outcome = ({ pending, cpus }: ReturnType<typeof resized>) => ({ pending, cpus });

test('a pod that is resized to whole CPUs gets them alone, with the gate that allows that', () => {
  const allowed = fourCpus({}, { InPlacePodVerticalScalingExclusiveCPUs: true });
  const [from, to] = [guaranteed('1500m', '1Gi'), guaranteed('2', '1Gi', 2)];
  const rules = { ...RULES, resources: allowed };
  assert.deepEqual(outcome(resized({ ...rules, resizesAsk: true }, from, to)), { pending: null, cpus: '2-3' });
  assert.deepEqual(outcome(resized(rules, from, to)), { pending: null, cpus: undefined }, 'as older logs have it');
  assert.match(
    resized({ ...RULES, resources: fourCpus({}), resizesAsk: true }, from, to).pending ?? '',
    /^Infeasible: Resize is infeasible for Guaranteed Pods alongside CPU Manager policy "static"/,
  );
});

test('what a pod has stays with it; option full-pcpus-only looks for as many free CPUs as if it had none', () => {
  const [from, to] = [guaranteed('2', '1Gi'), guaranteed('2', '2Gi', 2)];
  const rules = { ...RULES, resizesAsk: true as const };
  assert.deepEqual(outcome(resized({ ...rules, resources: fourCpus({}) }, from, to)), { pending: null, cpus: '2-3' });
  const whole = fourCpus({ 'full-pcpus-only': 'true' });
  assert.deepEqual(outcome(resized({ ...rules, resources: whole }, from, to)), {
    pending:
      'Deferred: SMT Alignment Error: not enough free physical CPUs: available physical CPUs = 0, requested CPUs = 2, CPUs per core = 2',
    cpus: '2-3',
  });
});

test('CPUs that a pod gets by a resize are near the devices that it has, and managers count as asked', () => {
  const gates = { InPlacePodVerticalScalingExclusiveCPUs: true };
  const near = socketsOfFourCpus(2, { topologyManagerPolicy: 'restricted' }, gates);
  const [from, to] = [guaranteed('1500m', '1Gi'), guaranteed('2', '1Gi', 2)];
  const rules: AdmissionRules = { ...RULES, resources: near, resizesAsk: true, resizesCount: true };
  const hints = (held: readonly TopologyHint[]) => ({ held: { 'uid-a': { main: { 'example.com/gpu': held } } } });
  const on = (nodeMask: number) => hints([{ nodes: nodeMask, preferred: true }]);
  assert.equal(resized(rules, from, to).cpus, '2-3');
  assert.equal(resized(rules, from, to, on(0b01)).cpus, '2-3');
  const there = resized(rules, from, to, on(0b10));
  assert.deepEqual([there.pending, there.cpus], [null, '4-5']);
  assert.match(
    resized(rules, from, to, hints([])).pending ?? '',
    /^Deferred: Resources cannot be allocated with Topology locality/,
    'other devices than it asks for are nowhere',
  );
  const asked = (its: AdmissionRules): number =>
    resized(its, from, to).orders.filter(({ type }) => type === 'managers.asked').length;
  const { resizesCount: _new, ...older } = rules;
  assert.deepEqual([asked(rules), asked(older)], [1, 0]);
});

test('a pod that runs can be where its devices are, by container or as a whole', () => {
  const state: DeviceState = {
    ...NO_DEVICES,
    resources: {
      gpu: {
        ...{ plugin: { preStart: false, prefers: false }, stoppedAt: null },
        devices: { a: { healthy: true, nodes: [0] }, b: { healthy: true, nodes: [1] } },
      },
    },
    grants: withUid({}, 'uid-a', { main: { gpu: { ids: { 1: ['b'] }, response: null } } }),
  } as unknown as DeviceState;
  const limits = { 'example.com/gpu': '1' };
  const one = pod('a', { containers: [{ ...container('main'), resources: { limits } }] }, { uid: 'uid-a', name: 'a' });
  const named = JSON.parse(JSON.stringify(state).replaceAll('"gpu"', '"example.com/gpu"')) as DeviceState;
  const there = {
    'example.com/gpu': [
      { nodes: 0b10, preferred: true },
      { nodes: 0b11, preferred: false },
    ],
  };
  assert.deepEqual(heldHints(named, one, { nodes: [0, 1], ofPod: null }, false), { main: there });
  const ofPod = { 'example.com/gpu': 1 };
  assert.deepEqual(heldHints(named, one, { nodes: [0, 1], ofPod }, false), { '': there });
  assert.equal(heldHints(named, { ...one, metadata: { uid: 'other' } }, { nodes: [0, 1], ofPod: null }, false), null);
});
