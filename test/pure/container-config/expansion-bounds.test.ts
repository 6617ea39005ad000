import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expandSubPath } from '../../../machines/container-config/volume-mounts.ts';
import { resolveEnv } from '../../../machines/container-config/resolve-env.ts';
import type { EnvPlan } from '../../../machines/protocol/effects.ts';

const none = { objects: new Map(), files: new Map(), serviceEnvs: [] };
const plan = (steps: EnvPlan['steps'], args: string[] = []): EnvPlan => ({
  namespace: 'n',
  command: [],
  args,
  steps,
  serviceLinks: false,
});
const fault = {
  fault: { code: 'Internal', message: 'environment, command and arguments are longer than 16777216 bytes' },
};

test('variables that name each other twice, again and again, are refused before they take all memory', () => {
  // 40 of them are 2^40 characters: the worker died of it, and met the pod again in the next one.
  const steps = Array.from({ length: 40 }, (_, i) => ({
    ...{ step: 'expand' as const, name: `A${String(i)}` },
    value: i === 0 ? 'x' : `$(A${String(i - 1)})$(A${String(i - 1)})`,
  }));
  assert.deepEqual(resolveEnv(plan(steps), none), fault);
  const few = resolveEnv(plan(steps.slice(0, 11), ['$(A10)']), none);
  assert.ok('args' in few);
  assert.deepEqual(few.args, ['x'.repeat(1024)]);
});

test('what is together longer than a message to the runtime is refused, too', () => {
  const mega = { step: 'set' as const, name: 'A', value: 'x'.repeat(1024 * 1024) };
  const copies = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ step: 'expand' as const, name: `B${String(i)}`, value: '$(A)' }));
  assert.ok('envs' in resolveEnv(plan([mega, ...copies(15)]), none));
  assert.deepEqual(resolveEnv(plan([mega, ...copies(16)]), none), fault);
  assert.deepEqual(resolveEnv(plan([mega], ['$(A)'.repeat(17)]), none), fault);
  assert.deepEqual(expandSubPath('$(A)'.repeat(17), [{ key: 'A', value: mega.value }]), { fault: fault.fault.message });
});
