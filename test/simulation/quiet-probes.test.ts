/** A step that takes the short way must come to what the whole step comes to. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { registerSimulationHooks } from './loader/register.ts';
import type { Fact } from './world/facts.ts';

registerSimulationHooks();
const { advanceWhole } = await import('../../machines/pod/advance.ts');
const { quietProbe } = await import('../../machines/pod/quiet-probe.ts');
const { drawPlan } = await import('./draw/draw-plan.ts');
const { runInScratch } = await import('./run/in-scratch.ts');

test('a quiet probe changes what the whole step changes, and asks for what it asks for', async () => {
  let quiet = 0;
  const compare = (fact: Fact): void => {
    if (fact.f !== 'step') return;
    const { before, message } = fact;
    const short = quietProbe(before.context, message);
    if (short === null) return;
    quiet++;
    assert.deepEqual(short, advanceWhole(before.context, message), `${message.type} in ${before.context.focus}`);
  };
  for (let seed = 1; seed <= 12; seed++) await runInScratch(drawPlan(seed), { onFact: compare });
  assert.ok(quiet > 1_000, `${quiet} steps took the short way`);
});
