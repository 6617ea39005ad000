/** A pod that ends keeps its CPUs and memory for as long as its containers run: nobody else may be given them before. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { createMetrics } from '../../../actors/record/metrics/metrics-registry.ts';
import { NodeAdmission } from '../../../actors/resources/admission/node-admission.ts';
import { stepAdmission } from '../../../machines/admission/admission-machine.ts';
import type { AdmissionMessage } from '../../../machines/admission/admission-messages.ts';
import { bornAdmission } from '../../../machines/admission/admission-state.ts';
import { RESOURCE_MANAGERS } from '../../../machines/admission/all-managers.ts';
import { resourcesOf } from '../../../machines/admission/node-resources.ts';
import { claimOf, nodeClaim } from '../../../machines/admission/pod-claim.ts';
import { atUid } from '../../../machines/supervisor/uid-table.ts';
import { resourceRules } from '../../simulation/world/node-settings.ts';
import { folder, memoryLog } from '../journal/journal-fixture.ts';
import { container, node, pod } from './admission-input.ts';
import { RULES } from './admission-rules.ts';

type WithoutTime<M> = M extends unknown ? Omit<M, 'at'> : never;
const ENDED = { type: 'pod.reported', uid: 'uid-a', status: {}, generation: 1, ended: true } as const;

/** A Guaranteed pod of two CPUs. */
function guaranteed() {
  const amounts = { cpu: '2', memory: '64Mi' };
  const spec = { containers: [{ ...container('main'), resources: { requests: amounts, limits: amounts } }] };
  return pod('a', spec, { name: 'a', namespace: 'default', uid: 'uid-a', generation: 1 });
}

/** Has it come, and hear these. */
function after(...messages: WithoutTime<AdmissionMessage>[]) {
  let state = {
    ...bornAdmission({ ...RULES, resources: resourceRules() }, RESOURCE_MANAGERS),
    node: nodeClaim(node()),
  };
  const claim = claimOf(guaranteed());
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

/** An agent begins where the one before it died; returns how many CPUs it says that the pod has. */
function nextAgent(t: TestContext, rootDir: string) {
  const admission = new NodeAdmission({
    rules: { ...RULES, resources: resourceRules() },
    ...{ rootDir, log: memoryLog().log, now: () => 1, metrics: createMetrics({ processMetrics: false }) },
    ...{ node: () => node(), freshNode: () => Promise.resolve(null), sourcesReady: () => true },
    ...{ record: () => undefined, makeRoom: () => undefined, changed: () => undefined },
  });
  t.after(() => admission.close());
  return { admission, cpus: () => atUid(admission.resources.state?.cpu?.pods ?? {}, 'uid-a')?.[0]?.cpus };
}

test('a pod that was given up while no agent was there keeps them until nothing of it runs any more', (t) => {
  const rootDir = folder(t);
  const first = nextAgent(t, rootDir).admission;
  assert.equal(first.admit(guaranteed()), null);
  first.admitted(guaranteed());
  first.close();

  const { admission, cpus } = nextAgent(t, rootDir);
  assert.equal(cpus(), '1,129', 'found in the checkpoint');
  admission.allSourcesSpoke([], () => true);
  assert.equal(cpus(), '1,129', 'its container may run on them');
  admission.listed(new Set(['uid-a']), () => []);
  assert.equal(cpus(), '1,129', 'it does');
  admission.listed(new Set(['uid-a']), () => ['uid-a']);
  assert.equal(cpus(), '1,129', 'its actor will tell of its end');
  admission.gone('uid-a');
  assert.equal(cpus(), undefined);
});

test('of one that the runtime does not know nobody tells the end: a list without it is that', (t) => {
  const rootDir = folder(t);
  const first = nextAgent(t, rootDir).admission;
  first.admit(guaranteed());
  first.close();

  const early = nextAgent(t, rootDir);
  early.admission.allSourcesSpoke([], () => true);
  early.admission.listed(new Set(), () => []);
  assert.equal(early.cpus(), undefined, 'the sources were faster than the first list');

  const again = nextAgent(t, folder(t));
  again.admission.admit(guaranteed());
  again.admission.allSourcesSpoke([], () => false);
  assert.equal(again.cpus(), undefined, 'the list was there first');
});

test('logs of before replay that what nobody names is free at once', () => {
  const spoke = (left: readonly string[]) => {
    const born = bornAdmission({ ...RULES, resources: resourceRules() }, RESOURCE_MANAGERS);
    const asked = stepAdmission(born, { type: 'pod.asks', at: 1, pod: claimOf(guaranteed()) }, RESOURCE_MANAGERS);
    const message = { type: 'sources.spoke', at: 2, ...(left.length > 0 && { left }) } as const;
    const { managed } = stepAdmission(asked.state, message, RESOURCE_MANAGERS).state;
    return atUid(resourcesOf(managed)?.cpu?.pods ?? {}, 'uid-a')?.length;
  };
  assert.deepEqual([spoke([]), spoke(['uid-a']), spoke(['uid-b'])], [undefined, 1, undefined]);
});
