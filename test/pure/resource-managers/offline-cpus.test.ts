/**
 * kubernetes#124066: with a CPU of a core offline kubelet goes by the mean size of cores (isCoreFree), so that a core counts as free of
 * which a CPU is reserved or given away, and that CPU is given again. The record's cases with CPUs offline are compared with kubelet's answers in
 * kubelet-vectors.test.ts only up to there; here all of them are judged by what must hold.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { admitResources, releaseResources } from '../../../machines/resource-managers/admit-resources.ts';
import type { ResourceGround, ResourceState } from '../../../machines/resource-managers/admit-resources.ts';
import { checkCpus } from '../../../machines/resource-managers/cpu/check-cpus.ts';
import { allCpus, bornShared } from '../../../machines/resource-managers/cpu/cpu-ground.ts';
import { cpuSetText, parseCpuSetList } from '../../../machines/resource-managers/cpu/cpu-set.ts';
import { Refusal } from '../../../machines/resource-managers/refusal.ts';
import { bornResources, resourceGroundOf } from '../../../machines/resource-managers/resource-ground.ts';
import { Tally } from '../../../machines/resource-managers/tally.ts';
import { ManagerConfigError } from '../../../machines/resource-managers/topology/topology-options.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { uidEntries } from '../../../machines/supervisor/uid-table.ts';
import type { DrawnCase } from './drawn-case.ts';
import { drawnCases, drawnPod, drawnRules, inMiB } from './drawn-case.ts';

/** Every CPU is one pod's, or shared, and none is offline; the system's is nobody's; and a restart would find nothing wrong. */
function sound(ground: ResourceGround, { cpu }: ResourceState, at: string): void {
  const rules = ground.cpu;
  if (rules === null || cpu === null) return;
  const owners = new Map<number, string>();
  const take = (cpus: Iterable<number>, who: string): void => {
    for (const one of cpus) {
      assert.ok(
        [undefined, who].includes(owners.get(one)),
        `${at}: CPU ${one} is ${owners.get(one) ?? ''}'s and ${who}'s`,
      );
      owners.set(one, who);
    }
  };
  take(parseCpuSetList(cpu.shared), 'all');
  for (const [uid, grants] of uidEntries(cpu.pods)) {
    for (const { cpus } of grants) {
      const own = parseCpuSetList(cpus);
      for (const one of own) assert.ok(!rules.reserved.has(one), `${at}: ${uid} has CPU ${one} of the system`);
      take(own, uid);
    }
  }
  const born = parseCpuSetList(cpuSetText(bornShared(rules)));
  assert.equal(cpuSetText(owners.keys()), cpuSetText(born), at);
  for (const one of owners.keys()) assert.ok(allCpus(rules.topology).has(one), `${at}: CPU ${one} is offline`);
  if (parseCpuSetList(cpu.shared).size > 0) assert.equal(checkCpus(rules, cpu), cpu, at);
}

test('with CPUs offline no CPU is given twice, none of the system is given away, and each restart finds that so', () => {
  let [judged, given] = [0, 0];
  for (const [index, drawn] of drawnCases().entries()) {
    if (drawn.machine.off === undefined || drawn.rules.cpu !== true) continue;
    const rules = drawnRules(drawn);
    let ground: ResourceGround;
    try {
      ground = resourceGroundOf(rules, inMiB);
    } catch (error) {
      if (!(error instanceof ManagerConfigError)) throw error;
      continue;
    }
    let state = bornResources(rules, ground);
    let number = 0;
    judged++;
    for (const step of drawn.steps ?? []) {
      if (step.gone !== undefined) state = releaseResources(state, `uid-${step.gone}`);
      if (step.pod !== undefined) {
        try {
          state = admitResources(ground, state, drawnPod(step.pod, ++number), new Tally());
          given++;
        } catch (error) {
          if (!(error instanceof Refusal)) throw error;
        }
      }
      sound(ground, state, `case ${index}, pod ${number}`);
    }
    for (let uid = 1; uid <= number; uid++) state = releaseResources(state, `uid-${uid}`);
    assert.deepEqual(state.cpu, bornResources(rules, ground).cpu, `case ${index}: each grant returns`);
  }
  assert.ok(judged > 100 && given > 200, `${judged} machines, ${given} pods`);
});

/** Whole CPUs for one container. */
function asking(name: string, cpu: string): Pod {
  const amounts = { cpu, memory: '64Mi' };
  return {
    metadata: { uid: `uid-${name}`, name, namespace: 'default' },
    spec: { containers: [{ name: 'main', resources: { requests: amounts, limits: amounts } }] },
  } as Pod;
}

test('kubernetes#124066: four cores of two threads, CPU 5 offline, CPU 0 of the system', () => {
  const drawn: DrawnCase = {
    machine: { s: 1, n: 1, c: 4, t: 2, u: 1, off: [5], m: 1024 },
    rules: { cpu: true, reserved: 1, which: '0', topology: 'none', scope: 'container' },
  };
  const rules = drawnRules(drawn);
  const ground = resourceGroundOf(rules, inMiB);
  let state = bornResources(rules, ground);
  const has = (): string[] => uidEntries(state.cpu?.pods ?? {}).flatMap(([, grants]) => grants.map(({ cpus }) => cpus));
  for (const [name, cpu] of [
    ['a', '1'],
    ['b', '2'],
    ['c', '1'],
    ['d', '2'],
  ] as const) {
    state = admitResources(ground, state, asking(name, cpu), new Tally());
    sound(ground, state, name);
  }
  const all = has().flatMap((cpus) => [...parseCpuSetList(cpus)]);
  assert.deepEqual(
    all.toSorted((a, b) => a - b),
    [1, 2, 3, 4, 6, 7],
  );
  assert.equal(state.cpu?.shared, '0');
  assert.throws(() => admitResources(ground, state, asking('e', '1'), new Tally()), /not enough cpus available/);
  state = releaseResources(state, 'uid-b');
  sound(ground, state, 'without b');
  state = admitResources(ground, state, asking('e', '2'), new Tally());
  sound(ground, state, 'e');
});
