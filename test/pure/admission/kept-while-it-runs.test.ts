/** A pod that ends keeps its CPUs and memory for as long as its containers run: nobody else may be given them before. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stepAdmission } from '../../../machines/admission/admission-machine.ts';
import type { AdmissionMessage } from '../../../machines/admission/admission-messages.ts';
import { bornAdmission } from '../../../machines/admission/admission-state.ts';
import { RESOURCE_MANAGERS } from '../../../machines/admission/all-managers.ts';
import { resourcesOf } from '../../../machines/admission/node-resources.ts';
import { claimOf, nodeClaim } from '../../../machines/admission/pod-claim.ts';
import { atUid } from '../../../machines/supervisor/uid-table.ts';
import { resourceRules } from '../../simulation/world/node-settings.ts';
import { container, node, pod } from './admission-input.ts';
import { RULES } from './admission-rules.ts';

type WithoutTime<M> = M extends unknown ? Omit<M, 'at'> : never;
const ENDED = { type: 'pod.reported', uid: 'uid-a', status: {}, generation: 1, ended: true } as const;

/** Has a Guaranteed pod of two CPUs come, and hear these. */
function after(...messages: WithoutTime<AdmissionMessage>[]) {
  let state = {
    ...bornAdmission({ ...RULES, resources: resourceRules() }, RESOURCE_MANAGERS),
    node: nodeClaim(node()),
  };
  const amounts = { cpu: '2', memory: '64Mi' };
  const spec = { containers: [{ ...container('main'), resources: { requests: amounts, limits: amounts } }] };
  const claim = claimOf(pod('a', spec, { name: 'a', namespace: 'default', uid: 'uid-a', generation: 1 }));
  const asks = [
    { type: 'pod.asks' as const, pod: claim },
    { type: 'pod.comes' as const, pod: claim },
  ];
  for (const message of [...asks, ...messages])
    state = stepAdmission(state, { ...message, at: 1_000 } as AdmissionMessage, RESOURCE_MANAGERS)
      .state as typeof state;
  const { cpu, memory } = resourcesOf(state.managed) ?? {};
  return {
    cpus: atUid(cpu?.pods ?? {}, 'uid-a')?.map(({ cpus }) => cpus),
    memory: memory?.nodes.reduce((sum, { memoryMap }) => sum + (memoryMap['memory']?.reserved ?? 0), 0),
    counts: atUid(state.pods, 'uid-a')?.terminal === false,
  };
}

const HAS = { cpus: ['1,129'], memory: 64 * 2 ** 20 };
const NOTHING = { cpus: undefined, memory: 0 };

test('a pod that its source gave up keeps its CPUs and memory until it is gone', () => {
  assert.deepEqual(after(), { ...HAS, counts: true });
  const removed = { type: 'pod.removed', uid: 'uid-a', runs: true } as const;
  assert.deepEqual(after(removed), { ...HAS, counts: false }, 'what it asks for counts no more');
  assert.deepEqual(after(removed, ENDED), { ...NOTHING, counts: false });
  assert.deepEqual(after(removed, { type: 'pod.gone', uid: 'uid-a' }), { ...NOTHING, counts: false });
  assert.deepEqual(
    after({ type: 'pod.removed', uid: 'uid-a' }),
    { ...NOTHING, counts: false },
    'as older journals have it',
  );
});

test('a pod that will have failed keeps them until its containers have ended', () => {
  assert.deepEqual(after({ ...ENDED, runs: true }), { ...HAS, counts: false });
  assert.deepEqual(after({ ...ENDED, runs: true }, ENDED), { ...NOTHING, counts: false });
  assert.deepEqual(after(ENDED), { ...NOTHING, counts: false });
});
