import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { withoutNulls } from '../../../actors/cluster/api/without-nulls.ts';
import type { MakeRoom } from '../../../actors/resources/admission/make-room.ts';
import type { NodeAdmission } from '../../../actors/resources/admission/node-admission.ts';
import { createMetrics } from '../../../actors/record/metrics/metrics-registry.ts';
import pino from 'pino';
import { PodIntake } from '../../../actors/node/pod-intake.ts';
import type { PodSources } from '../../../actors/pods/sources/pod-sources.ts';
import type { Supervisor } from '../../../actors/pods/supervisor/supervisor.ts';
import { admissionRules } from '../../../actors/resources/admission/admission-rules.ts';
import { stepAdmission } from '../../../machines/admission/admission-machine.ts';
import { bornAdmission } from '../../../machines/admission/admission-state.ts';
import type { AdmissionState } from '../../../machines/admission/admission-state.ts';
import { admitPod } from '../../../machines/admission/admit-pod.ts';
import { NO_USAGE, usageOf } from '../../../machines/admission/node-usage.ts';
import { claimOf, nodeClaim } from '../../../machines/admission/pod-claim.ts';
import { allocationOf } from '../../../machines/resize/allocation.ts';
import { nodeProblem } from '../../../machines/node-object/node-shape.ts';
import type { Node } from '../../../machines/node-object/node-types.ts';
import { podProblem } from '../../../machines/pod-validation/pod-problem.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { PodConfigUpdate } from '../../../machines/sources/pod-config.ts';
import { PodWorld, settings } from '../pod/pod-world.ts';
import { notPlain } from '../pod/chaos-world.ts';
import { changed, jsonChanges } from './support/mutate-json.ts';
import { fuzz } from './support/runs.ts';
import { wholePod } from './support/whole-pod.ts';

const node: Node = {
  metadata: { name: 'node1', labels: { 'kubernetes.io/os': 'linux', z: 'a' } },
  spec: { taints: [{ key: 'a', value: 'b', effect: 'NoSchedule' }] },
  status: { capacity: { cpu: '2', memory: '8Gi', pods: '110' }, allocatable: { cpu: '2', memory: '4Gi', pods: '110' } },
};

const config = { allowedUnsafeSysctls: [], maxPods: 110, podsPerCore: 0 };
const stateWith = (own: Node | null): AdmissionState => ({
  ...bornAdmission(admissionRules(config, settings)),
  node: own && nodeClaim(own),
});

/** Pods of which every field may be wrong, as far as the watch lets them through. */
const apiPod = jsonChanges
  .map((changes) => changed(wholePod('bad', 'uid-bad'), changes))
  .filter((pod) => !podProblem(pod))
  .map(withoutNulls);
const ownNode = jsonChanges
  .map((changes) => changed(node, changes) as Node)
  .filter((one) => !nodeProblem(one))
  .map(withoutNulls);

test('admission: judges whatever pod and node the API server may have', () => {
  fc.assert(
    fc.property(apiPod, ownNode, (pod, own) => {
      const claim = claimOf(pod as Pod);
      const [order] = stepAdmission(stateWith(own), { type: 'pod.asks', at: 0, pod: claim }).outputs;
      assert.ok(order?.type === 'pod.take' || (order?.type === 'pod.refuse' && order.reason !== ''));
      // A claim has all that admission looks at.
      const verdict = admitPod({ ...stateWith(own).rules, pod: pod as Pod, node: own, usage: NO_USAGE });
      assert.deepEqual(
        admitPod({ ...stateWith(own).rules, pod: claim, node: own && nodeClaim(own), usage: NO_USAGE }),
        verdict,
      );
      assert.deepEqual(order.type === 'pod.take' ? true : order.message, verdict.admit || verdict.message);
      assert.deepEqual(usageOf([claim]), usageOf([pod as Pod]));
      for (const podLevel of [false, true])
        assert.deepEqual(allocationOf(claim, podLevel), allocationOf(pod as Pod, podLevel));
    }),
    fuzz(500),
  );
});

test('a pod machine bears whatever pod the API server may have', () => {
  fc.assert(
    fc.property(apiPod, fc.boolean(), (pod, gated) => {
      const over = gated ? { podLevelResizes: true as const } : {};
      const world = new PodWorld(pod as Pod, null, undefined, true, 'api', over);
      world.run(20_000);
      for (const effect of world.effects)
        assert.equal(notPlain(effect), null, `${effect.type} ${notPlain(effect) ?? ''}`);
      if (!world.finished)
        world.send({ type: 'pod.terminate', at: world.at, order: { reason: 'Removed', message: '' } });
      for (let i = 0; i < 20 && !world.finished; i++) world.run(5_000);
    }),
    fuzz(200),
  );
});

test('a pod whose judging fails is refused, and the pods behind it are told', async () => {
  // The queue stood still for ever: no pod of the API server was started or ended any more.
  const told: unknown[] = [];
  const same = (pod: Pod): Pod => pod;
  const gate = {
    admit: ({ metadata }: Pod) => {
      if (metadata?.name === 'bad') throw new TypeError('broken');
      return metadata?.name === 'unsure' ? { reason: 'x', message: '', retryWithFreshNode: true } : null;
    },
    admitAfterAll: () => Promise.reject(new TypeError('broken, too')),
    ...{ arriving: same, admitted: same, updated: same, added: () => undefined },
  } as unknown as NodeAdmission;
  const intake = new PodIntake({
    mayRun: () => false,
    supervisor: {
      take: (message: { rejections?: unknown; update: PodConfigUpdate }) => {
        if (message.update.pods[0]?.metadata?.name === 'lost') throw new TypeError('broken as well');
        told.push(...message.update.pods.map((pod) => pod.metadata?.name), message.rejections);
      },
    } as unknown as Supervisor,
    cluster: null,
    admission: gate,
    room: {} as MakeRoom,
    devices: {
      wants: ({ metadata }) => {
        if (metadata?.name === 'odd') throw new TypeError('no limits');
        return false;
      },
      grant: () => Promise.reject(new Error('nobody is given any')),
      floor: () => null,
      gone: () => undefined,
    },
    metrics: createMetrics({ processMetrics: false }),
    log: pino({ level: 'silent' }),
    now: () => 0,
    sources: () => ({ allSourcesReady: () => false, staticPods: () => [] }) as unknown as PodSources,
  });
  for (const name of ['bad', 'lost', 'unsure', 'odd', 'good'])
    intake.take({ source: 'api', op: 'ADD', pods: [wholePod(name, name)] });
  for (let i = 0; i < 5; i++) await Promise.resolve();
  await new Promise((done) => setImmediate(done));
  const refusal = (why: string) => ({
    reason: 'UnexpectedAdmissionError',
    message: `Allocate failed due to ${why}, which is unexpected`,
  });
  assert.deepEqual(told, [
    'bad',
    { bad: refusal('broken') },
    'unsure',
    { unsure: refusal('broken, too') },
    'odd',
    undefined,
    'good',
    undefined,
  ]);
});
