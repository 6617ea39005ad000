import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import type { Ask, AskCatalog } from '../../../machines/protocol/ask.ts';
import { expandedSubPaths, withEnvironment } from '../../../actors/host/effects/container-env.ts';
import type { ContainerPreparation, EffectCatalog, EnvPlan, EnvStep } from '../../../machines/protocol/effects.ts';

type Create = EffectCatalog['cri.CreateContainer']['params'];

const planOf = (...steps: EnvStep[]): EnvPlan => ({
  namespace: 'ns',
  serviceLinks: false,
  steps,
  command: ['$(PW)'],
  args: [],
});
const password: EnvStep = { step: 'key', name: 'PW', kind: 'secret', object: 's', key: 'k', optional: false };
const create = (env?: EnvPlan) =>
  ({ podSandboxId: 's1', config: { envs: [], command: [], args: [] }, sandboxConfig: {}, env }) as unknown as Create;

/** Main as the test wants it: values by name, an Error where it refuses. */
function main(objects: Record<string, Record<string, string> | Error | null>, services: Error | string[] = []) {
  const asked: string[] = [];
  const ask = ((what: string, params: AskCatalog['object.Get']['params']) => {
    asked.push(`${what} ${JSON.stringify(params)}`);
    if (what === 'services.Env') {
      if (services instanceof Error) return Promise.reject(services);
      return Promise.resolve({ envs: services.map((key) => ({ key, value: 'service' })) });
    }
    const found = objects[params.name] ?? null;
    if (found instanceof Error) return Promise.reject(found);
    return Promise.resolve({ found: found && { data: found, binaryData: {}, type: '' } });
  }) as Ask;
  return { ask, asked };
}
const log = pino({ level: 'silent' });
const noClient = Object.assign(new Error('no API server'), { code: 'NoClient' });

test('the request is filled in; the effect, which is journaled, stays as it is', async () => {
  const params = create(planOf(password, { step: 'all', kind: 'secret', object: 's', optional: false, prefix: '' }));
  const before = structuredClone(params);
  const { ask, asked } = main({ s: { k: 'hunter2' } }, ['SVC']);
  const made = await withEnvironment(params, log, ask);
  assert.deepEqual(made.config.envs, [
    { key: 'PW', value: 'hunter2' },
    { key: 'k', value: 'hunter2' },
    { key: 'SVC', value: 'service' },
  ]);
  assert.deepEqual(made.config.command, ['hunter2']);
  assert.equal('env' in made, false);
  assert.deepEqual(params, before);
  assert.deepEqual(asked.sort(), [
    'object.Get {"kind":"secret","namespace":"ns","name":"s"}',
    'services.Env {"namespace":"ns","enableServiceLinks":false}',
  ]);
});

test('without a plan nobody is asked', async () => {
  const params = create();
  assert.equal((await withEnvironment(params, log, undefined)).config, params.config);
});

test('failures: what the API server said, and the first object in the plan’s order', async () => {
  const code = 'CreateContainerConfigError';
  const steps = ['a', 'b'].map((object): EnvStep => ({ ...password, object, name: object }));
  const refused = (name: string) => Object.assign(new Error(`secrets "${name}" is forbidden`), { code: 'Forbidden' });
  const both = main({ a: refused('a'), b: refused('b') });
  await assert.rejects(withEnvironment(create(planOf(...steps)), log, both.ask), {
    code,
    message: refused('a').message,
  });
  await assert.rejects(withEnvironment(create(planOf(password)), log, main({}).ask), {
    code,
    message: 'secret "s" not found',
  });
  const early = new Error('services have not yet been read at least once, cannot construct envvars');
  await assert.rejects(withEnvironment(create(planOf()), log, main({}, early).ask), { code, message: early.message });
});

test('no API server: no service variables, and kubelet’s words for an object', async () => {
  const message = "couldn't get secret ns/s, no kubeClient defined";
  for (const ask of [undefined, main({ s: noClient }, noClient).ask]) {
    await assert.rejects(withEnvironment(create(planOf(password)), log, ask), { message });
    assert.deepEqual((await withEnvironment(create(planOf()), log, ask)).config.envs, []);
  }
});

test('a static pod says so', async () => {
  const { ask, asked } = main({});
  await withEnvironment(create({ ...planOf(), staticPod: true }), log, ask);
  assert.match(asked.join(), /"staticPod":true/);
});

test('a sub path expression names variables of plugins, over which the container’s own count', async () => {
  const asked: unknown[] = [];
  const ask = (what: string, params: unknown): Promise<unknown> => {
    if (what === 'devices.Envs') asked.push(params);
    const envs =
      what === 'devices.Envs'
        ? [
            { key: 'GPUS', value: 'g0' },
            { key: 'OWN', value: 'no' },
          ]
        : [];
    return Promise.resolve({ envs });
  };
  const env = planOf({ step: 'set', name: 'OWN', value: 'yes' });
  const sub = { key: 'v/c/0', volumePath: '/v', readOnly: false };
  const params = {
    podUid: 'u',
    containerName: 'c',
    subPaths: [{ ...sub, subPath: '$(GPUS)/$(OWN)', expand: true }],
    env,
  };
  const of = (more: object) => expandedSubPaths({ ...params, ...more } as ContainerPreparation, log, ask as Ask);
  assert.deepEqual(await of({ devices: true }), [{ ...sub, subPath: 'g0/yes' }]);
  assert.deepEqual(asked, [{ podUid: 'u', container: 'c' }]);
  await assert.rejects(of({}), { message: 'missing value for GPUS' });
});

test('sub path expressions are expanded and checked; a refusal names the expression, not the value', async () => {
  const { ask } = main({ s: { k: 'hunter2', up: '..', abs: '/etc' } });
  const env = planOf(
    password,
    { ...password, name: 'UP', key: 'up' },
    { ...password, name: 'ABS', key: 'abs' },
    { step: 'set', name: 'EMPTY', value: '' },
  );
  const sub = { key: 'v/c/0', volumePath: '/v', readOnly: false };
  const expanded = (...subPaths: ContainerPreparation['subPaths']) =>
    expandedSubPaths({ subPaths, env } as ContainerPreparation, log, ask);
  assert.deepEqual(await expanded({ ...sub, subPath: 'x/$(PW)', expand: true }, { ...sub, subPath: '$(PW)' }), [
    { ...sub, subPath: 'x/hunter2' },
    { ...sub, subPath: '$(PW)' },
  ]);
  const refusals: Record<string, string> = {
    '$(NONE)$(EMPTY)': 'missing value for EMPTY, NONE',
    '$(ABS)': 'error SubPath `$(ABS)` must not be an absolute path',
    'a/$(UP)': "unable to provision SubPath `a/$(UP)`: must not contain '..'",
  };
  for (const [subPath, message] of Object.entries(refusals)) {
    const one = expanded({ ...sub, subPath, expand: true });
    await assert.rejects(one, { code: 'CreateContainerConfigError', message });
  }
});
