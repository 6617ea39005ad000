import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { containerEnv } from '../../../machines/container-config/env.ts';
import type { EnvEntry } from '../../../machines/protocol/cri-shapes.ts';
import { envPlan } from '../../../machines/container-config/env-plan.ts';
import { filesOf, objectsOf, resolveEnv } from '../../../machines/container-config/resolve-env.ts';
import type { EnvFile, EnvObject, ResolvedEnv } from '../../../machines/container-config/resolve-env.ts';
import { expandCommand } from '../../../machines/container-config/container-config.ts';
import type { Container } from '../../../machines/protocol/api-types.ts';
import type { EnvPlan, EnvStep } from '../../../machines/protocol/effects.ts';
import { nodeSettings } from '../qos/node-settings.ts';

const object = (data: Record<string, string>, binaryData: Record<string, string> = {}): EnvObject => ({
  data,
  binaryData,
});
const OBJECTS = {
  'configMap/cm': object({ a: '1', b: '2', 'not.a-name': 'n', '1digit': 'd' }, { bin: '/w==' }),
  'configMap/over': object({ a: 'over' }),
  'secret/s': object({ password: 'hunter2' }),
  'secret/bin': object({ text: 't' }, { raw: '/w==' }),
};
const SERVICES: EnvEntry[] = [
  { key: 'KUBERNETES_SERVICE_HOST', value: '10.0.0.1' },
  { key: 'KUBERNETES_PORT', value: 'tcp://10.0.0.1:443' },
];

function resolve(steps: EnvStep[], more: Partial<EnvPlan> = {}, serviceEnvs: EnvEntry[] = SERVICES) {
  const plan: EnvPlan = { namespace: 'ns', serviceLinks: true, steps, command: [], args: [], ...more };
  const objects = new Map<string, EnvObject | null>(Object.entries(OBJECTS));
  for (const key of objectsOf(plan).keys()) if (!objects.has(key)) objects.set(key, null);
  return resolveEnv(plan, { objects, files: FILES, serviceEnvs });
}
/** Env files of the volume /v. */
const FILES = new Map<string, EnvFile | Error>([
  [
    '/v\0good',
    {
      path: '/v/real "name"',
      values: new Map([
        ['k', 'fk'],
        ['empty', ''],
        ['raw', null],
      ] as [string, string | null][]),
    },
  ],
  ['/v\0bad', { path: '/v/bad', values: new Map([['k', 'before']]), fault: 'line 2' }],
  ['/v\0loop', new Error('SecureJoin /v/loop: too many levels of symbolic links')],
]);
const file = (name: string, path: string, key: string, optional = false): EnvStep => {
  return { step: 'file', name, volumePath: '/v', path, key, optional };
};
/** The environment as text, or the fault. */
function envOf(steps: EnvStep[], serviceEnvs: EnvEntry[] = []): Record<string, string> | string {
  const made = resolve(steps, {}, serviceEnvs);
  if ('fault' in made) return `${made.fault.code}: ${made.fault.message}`;
  return Object.fromEntries(made.envs.map(({ key, value }) => [key, value]));
}
const all = (of: string, prefix = '', optional = false): EnvStep => {
  const [kind, name = ''] = of.split('/');
  return { step: 'all', kind: kind as 'secret', object: name, prefix, optional };
};
const key = (name: string, of: string, k: string, optional = false): EnvStep => {
  const [kind, o = ''] = of.split('/');
  return { step: 'key', name, kind: kind as 'secret', object: o, key: k, optional };
};
const set = (name: string, value: string): EnvStep => ({ step: 'set', name, value });
const expand = (name: string, value: string): EnvStep => ({ step: 'expand', name, value });

test('envFrom: all keys as they are, with a prefix, later sources over earlier ones; no binaryData of a configMap', () => {
  assert.deepEqual(envOf([all('configMap/cm', 'P_'), all('configMap/cm'), all('configMap/over')]), {
    P_a: '1',
    P_b: '2',
    'P_not.a-name': 'n',
    P_1digit: 'd',
    a: 'over',
    b: '2',
    'not.a-name': 'n',
    '1digit': 'd',
  });
  assert.deepEqual(envOf([all('secret/s')]), { password: 'hunter2' });
});

test('env over envFrom; a variable is once there, at its first place, with its last value', () => {
  const made = resolve([all('configMap/cm'), set('a', 'own'), set('z', '1'), set('b', 'own'), set('z', '2')], {}, []);
  assert.ok('envs' in made);
  assert.deepEqual(
    made.envs.filter(({ key: k }) => k.length === 1),
    [
      { key: 'a', value: 'own' },
      { key: 'b', value: 'own' },
      { key: 'z', value: '2' },
    ],
  );
});

test('expansion sees envFrom, what stands before, then services; a fetched value is never expanded', () => {
  assert.deepEqual(
    envOf(
      [
        all('configMap/cm'),
        expand('X', '$(a) $(LATER) $(KUBERNETES_SERVICE_HOST) $$(a)'),
        set('LATER', 'l'),
        set('KUBERNETES_SERVICE_HOST', 'mine'),
        expand('Y', '$(KUBERNETES_SERVICE_HOST) $(X)'),
        set('RAW', '$(a)'),
        expand('EMPTY_IS_KNOWN', '[$(E)]'),
      ],
      SERVICES,
    ),
    {
      a: '1',
      b: '2',
      'not.a-name': 'n',
      '1digit': 'd',
      X: '1 $(LATER) 10.0.0.1 $(a)',
      LATER: 'l',
      KUBERNETES_SERVICE_HOST: 'mine',
      Y: 'mine 1 $(LATER) 10.0.0.1 $(a)',
      RAW: '$(a)',
      EMPTY_IS_KNOWN: '[$(E)]',
      KUBERNETES_PORT: 'tcp://10.0.0.1:443',
    },
  );
});

test('service variables come last and only where nothing replaced them; commands see them too', () => {
  const made = resolve([set('KUBERNETES_PORT', 'own'), key('PW', 'secret/s', 'password')], {
    command: ['$(KUBERNETES_SERVICE_HOST)', '$(PW)'],
    args: ['$(KUBERNETES_PORT)', '$(NONE)', '$$(PW)'],
  });
  assert.deepEqual(made, {
    envs: [
      { key: 'KUBERNETES_PORT', value: 'own' },
      { key: 'PW', value: 'hunter2' },
      { key: 'KUBERNETES_SERVICE_HOST', value: '10.0.0.1' },
    ],
    command: ['10.0.0.1', 'hunter2'],
    args: ['own', '$(NONE)', '$(PW)'],
  });
});

test('what device plugins gave is seen by the command, behind the container’s own, and by no variable', () => {
  const steps: EnvStep[] = [
    { step: 'set', name: 'OWN', value: 'o' },
    { step: 'expand', name: 'V', value: '$(GIVEN)' },
  ];
  const plan = { namespace: 'ns', serviceLinks: true, steps, command: ['$(GIVEN)', '$$(GIVEN)'], args: ['$(OWN)'] };
  const givenEnvs = [
    { key: 'GIVEN', value: 'g' },
    { key: 'OWN', value: 'not this' },
  ];
  const { command, args, envs } = resolveEnv(plan, {
    objects: new Map(),
    files: FILES,
    serviceEnvs: [],
    givenEnvs,
  }) as ResolvedEnv;
  assert.deepEqual([command, args], [['g', '$(GIVEN)'], ['o']]);
  assert.deepEqual(envs, [
    { key: 'OWN', value: 'o' },
    { key: 'V', value: '$(GIVEN)' },
  ]);
});

test('what is missing, in kubelet’s words', () => {
  const C = 'CreateContainerConfigError: ';
  assert.equal(envOf([all('configMap/none')]), `${C}configmap "none" not found`);
  assert.equal(envOf([all('secret/none')]), `${C}secret "none" not found`);
  assert.equal(envOf([key('X', 'configMap/none', 'k')]), `${C}configmap "none" not found`);
  assert.equal(envOf([key('X', 'secret/none', 'k')]), `${C}secret "none" not found`);
  assert.equal(envOf([key('X', 'configMap/cm', 'k')]), `${C}couldn't find key k in ConfigMap ns/cm`);
  assert.equal(envOf([key('X', 'configMap/cm', 'bin')]), `${C}couldn't find key bin in ConfigMap ns/cm`);
  assert.equal(envOf([key('X', 'secret/s', 'toString')]), `${C}couldn't find key toString in Secret ns/s`);
  // The first in order speaks.
  assert.equal(envOf([all('secret/none'), key('X', 'configMap/cm', 'k')]), `${C}secret "none" not found`);
});

test('optional: left out, and what had the name before stays', () => {
  assert.deepEqual(
    envOf([
      all('configMap/none', '', true),
      all('secret/none', '', true),
      all('configMap/over'),
      key('a', 'configMap/none', 'k', true),
      key('a', 'secret/s', 'none', true),
      key('X', 'configMap/cm', 'none', true),
    ]),
    { a: 'over' },
  );
});

test('a secret’s value that is no text: as gRPC refuses it, unless something replaces it', () => {
  const refused = 'Internal: grpc: error while marshaling: string field contains invalid UTF-8: environment variable ';
  assert.equal(envOf([all('secret/bin')]), `${refused}raw`);
  assert.equal(envOf([key('X', 'secret/bin', 'raw')]), `${refused}X`);
  assert.equal(envOf([key('X', 'secret/bin', 'raw'), expand('Y', 'a$(X)'), set('X', 'x')]), `${refused}Y`);
  assert.deepEqual(envOf([all('secret/bin'), set('raw', 'x')]), { raw: 'x', text: 't' });
});

test('a variable from a file: later ones and the command see it, and it replaces others', () => {
  const made = resolve([set('X', 'old'), file('X', 'good', 'k'), expand('Y', '$(X)!')], { command: ['$(X)'] }, []);
  assert.deepEqual(made, {
    envs: [
      { key: 'X', value: 'fk' },
      { key: 'Y', value: 'fk!' },
    ],
    command: ['fk'],
    args: [],
  });
  assert.match(String(envOf([file('X', 'good', 'raw')])), /^Internal: grpc: .* invalid UTF-8: environment variable X$/);
});

test('a file without the key, or with an empty value: in kubelet’s words, or left out when it is optional', () => {
  const C = 'CreateContainerConfigError: ';
  for (const key of ['none', 'empty', 'toString']) {
    const message = `${C}environment variable key "${key}" not found in file "/v/real \\"name\\""`;
    assert.equal(envOf([file('X', 'good', key)]), message);
    assert.deepEqual(envOf([set('X', 'stays'), file('X', 'good', key, true)]), { X: 'stays' });
  }
});

test('a file that cannot be read fails optional variables too, but not one that stands before what is wrong', () => {
  const C = 'CreateContainerConfigError: ';
  for (const optional of [false, true]) {
    assert.equal(envOf([file('X', 'bad', 'none', optional)]), `${C}couldn't parse env file`);
    assert.equal(envOf([file('X', 'loop', 'k', optional)]), `${C}${(FILES.get('/v\0loop') as Error).message}`);
  }
  assert.deepEqual(envOf([file('X', 'bad', 'k')]), { X: 'before' });
});

test('the first step in order that fails is told, of whatever kind', () => {
  const steps = [file('X', 'bad', 'none'), key('Y', 'secret/none', 'k')];
  assert.match(String(envOf(steps)), /couldn't parse env file/);
  assert.match(String(envOf(steps.reverse())), /secret "none" not found/);
  const objects = new Map([['secret/none', new Error('forbidden')]]);
  const plan = { namespace: 'ns', serviceLinks: true, command: [], args: [] };
  const fault = (of: EnvStep[]) => resolveEnv({ ...plan, steps: of }, { objects, files: FILES, serviceEnvs: [] });
  assert.match(JSON.stringify(fault(steps)), /forbidden/);
  assert.match(JSON.stringify(fault(steps.reverse())), /couldn't parse/);
});

test('each file is named once, with all its keys', () => {
  const steps = [file('A', 'good', 'k'), file('B', 'bad', 'k'), set('C', 'x'), file('D', 'good', 'none', true)];
  assert.deepEqual(
    [...filesOf({ namespace: 'ns', serviceLinks: true, steps, command: [], args: [] })],
    [
      ['/v\0good', { volumePath: '/v', path: 'good', keys: ['k', 'none'] }],
      ['/v\0bad', { volumePath: '/v', path: 'bad', keys: ['k'] }],
    ],
  );
});

test('without objects and services a plan comes to what a standalone node makes', () => {
  const settings = nodeSettings();
  const pod = { metadata: { name: 'p', namespace: 'ns', uid: 'u' }, spec: { containers: [] } };
  const text = fc.array(fc.constantFrom('$(A)', '$(B)', '$$', '$', 'x', '$(', ')'), { maxLength: 5 });
  const variable = fc.oneof(
    fc.record({ name: fc.constantFrom('A', 'B', 'C'), value: text.map((parts) => parts.join('')) }),
    fc.constant({ name: 'B', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }),
  );
  fc.assert(
    fc.property(fc.array(variable, { maxLength: 8 }), text, (env, command) => {
      const container: Container = { name: 'c', env, command, args: command };
      const alone = containerEnv(pod, container, [], settings, {});
      const planned = envPlan(pod, container, [], settings, {});
      assert.ok('envs' in alone && 'plan' in planned);
      assert.deepEqual(resolveEnv(planned.plan, { objects: new Map(), files: new Map(), serviceEnvs: [] }), {
        envs: alone.envs,
        ...expandCommand(container, alone.envs),
      });
    }),
  );
});
