import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containerConfig } from '../../../machines/container-config/container-config.ts';
import { envPlan } from '../../../machines/container-config/env-plan.ts';
import { subPathsNeeded } from '../../../machines/container-config/mounts-needed.ts';
import type { Container, Pod } from '../../../machines/protocol/api-types.ts';
import { ALL_BEHAVIOUR } from '../../../machines/protocol/behaviour.ts';
import { nodeSettings } from '../qos/node-settings.ts';

const settings = nodeSettings({ cluster: true, nodeIPs: ['192.168.0.2'], behaviour: [...ALL_BEHAVIOUR] });
const pod: Pod = {
  metadata: { name: 'web', namespace: 'shop', uid: 'u-1', labels: { app: 'web' } },
  spec: { containers: [], volumes: [{ name: 'v', emptyDir: {} }] },
};
const container: Container = {
  name: 'a',
  image: 'img',
  command: ['run', '$(A)'],
  args: ['$(PASSWORD)'],
  envFrom: [
    { prefix: 'P_', configMapRef: { name: 'cm' } },
    { secretRef: { name: 's', optional: true } },
    { prefix: 'NOTHING_' },
  ],
  env: [
    { name: 'A', value: 'x-$(B)' },
    { name: 'EMPTY' },
    { name: 'NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    { name: 'CPU', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
    { name: 'C', valueFrom: { configMapKeyRef: { name: 'cm', key: 'k' } } },
    { name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 's', key: 'password', optional: true } } },
  ],
};
const input = {
  pod,
  container,
  kind: 'regular' as const,
  attempt: 0,
  image: { imageRef: 'sha256:1', uid: null, username: '' },
  podIPs: ['10.0.0.9'],
  settings,
  volumePaths: { v: '/vols/v' },
  subPaths: { 'v/a/0': '/pods/u-1/volume-subpaths/v/a/0' },
  terminationLogPath: '/t',
};

function planOf(over: Partial<Container> = {}, of: Pod = pod) {
  const made = envPlan(of, { ...container, ...over }, ['10.0.0.9'], settings, { v: '/vols/v' });
  assert.ok('plan' in made);
  return made.plan;
}

test('a plan: what the machine knows as values, what it may not see as names, in kubelet’s order', () => {
  assert.deepEqual(planOf(), {
    namespace: 'shop',
    serviceLinks: true,
    steps: [
      { step: 'all', kind: 'configMap', object: 'cm', optional: false, prefix: 'P_' },
      { step: 'all', kind: 'secret', object: 's', optional: true, prefix: '' },
      { step: 'expand', name: 'A', value: 'x-$(B)' },
      { step: 'set', name: 'EMPTY', value: '' },
      { step: 'set', name: 'NAME', value: 'web' },
      { step: 'set', name: 'CPU', value: '4' },
      { step: 'key', name: 'C', kind: 'configMap', object: 'cm', key: 'k', optional: false },
      { step: 'key', name: 'PASSWORD', kind: 'secret', object: 's', key: 'password', optional: true },
    ],
    command: ['run', '$(A)'],
    args: ['$(PASSWORD)'],
  });
});

test('service links off, and a static pod', () => {
  assert.equal(planOf({}, { ...pod, spec: { containers: [], enableServiceLinks: false } }).serviceLinks, false);
  const annotations = { 'kubernetes.io/config.source': 'file' };
  assert.equal(planOf({}, { ...pod, metadata: { ...pod.metadata, annotations } }).staticPod, true);
});

test('the config of a cluster node: empty where the worker fills in; standalone as ever', () => {
  const made = containerConfig(input);
  assert.ok('config' in made);
  assert.deepEqual([made.config.envs, made.config.command, made.config.args], [[], [], []]);
  assert.deepEqual(made.env, planOf());

  const env = [{ name: 'A', value: 'x' }];
  const plain = { ...container, envFrom: [], env };
  const alone = containerConfig({ ...input, container: plain, settings: { ...settings, cluster: false } });
  assert.ok('config' in alone);
  assert.equal('env' in alone, false);
  assert.deepEqual(alone.config.envs, [{ key: 'A', value: 'x' }]);
  assert.deepEqual(alone.config.command, ['run', 'x']);
  const inCluster = containerConfig({ ...input, container: plain });
  assert.ok('config' in inCluster);
  assert.deepEqual(inCluster.config.annotations, alone.config.annotations, 'the hash of the container moved');
  assert.deepEqual(inCluster.config.labels, alone.config.labels);
});

test('a variable that cannot be made fails the config', () => {
  const of = (env: Container['env']) => {
    const made = containerConfig({ ...input, container: { ...container, env } });
    return 'error' in made ? made.error : null;
  };
  assert.deepEqual(of([{ name: 'X', valueFrom: { fieldRef: { fieldPath: 'spec.nope' } } }]), {
    reason: 'CreateContainerConfigError',
    message: 'field label not supported: spec.nope',
  });
});

const fromFile = (more: object = {}): Container => ({
  name: 'a',
  command: ['run', '$(X)'],
  env: [
    { name: 'A', value: 'x' },
    { name: 'X', valueFrom: { fileKeyRef: { volumeName: 'v', path: 'f', key: 'k', ...more } } },
  ],
});
const fileStep = { step: 'file', name: 'X', volumePath: '/vols/v', path: 'f', key: 'k', optional: false };

test('a variable from a file: the plan names the file, on a standalone node too, which else needs none', () => {
  for (const cluster of [true, false]) {
    const made = containerConfig({ ...input, container: fromFile(), settings: { ...settings, cluster } });
    assert.ok('config' in made);
    assert.deepEqual(made.env?.steps, [{ step: 'expand', name: 'A', value: 'x' }, fileStep]);
    assert.deepEqual(made.env?.command, ['run', '$(X)']);
    assert.deepEqual([made.config.envs, made.config.command, made.config.args], [[], [], []]);
  }
  assert.deepEqual(planOf(fromFile({ optional: true })).steps.at(-1), { ...fileStep, optional: true });
});

test('a variable from a volume that the pod has not', () => {
  for (const volumeName of ['none', 'constructor']) {
    const made = containerConfig({ ...input, container: fromFile({ volumeName }) });
    const message = `cannot find the volume "${volumeName}" referenced by FileKeyRef`;
    assert.deepEqual(made, { error: { reason: 'CreateContainerConfigError', message } });
  }
});

test('with the gate EnvFiles off a variable from a file is empty, as kubelet sets it', () => {
  const container = fromFile({ volumeName: 'none' });
  const made = containerConfig({ ...input, container, settings: { ...settings, cluster: false, envFiles: false } });
  assert.ok('config' in made);
  assert.deepEqual(made.config.envs, [
    { key: 'A', value: 'x' },
    { key: 'X', value: '' },
  ]);
  assert.deepEqual(made.config.command, ['run', '']);
  const planned = envPlan(pod, container, [], { ...settings, envFiles: false }, {});
  assert.ok('plan' in planned);
  assert.deepEqual(planned.plan.steps.at(-1), { step: 'set', name: 'X', value: '' });
});

test('a log from before env files replays as it was', () => {
  const made = containerConfig({ ...input, container: fromFile(), settings: { ...settings, behaviour: [] } });
  const message = 'environment variable X: valueFrom.fileKeyRef is not supported by this agent yet';
  assert.deepEqual(made, { error: { reason: 'CreateContainerConfigError', message } });
});

test('a standalone node: what fails before a file is told, and subPathExpr goes to the worker with the plan', () => {
  const alone = { ...settings, cluster: false };
  const container = fromFile();
  const envFrom = [{ configMapRef: { name: 'cm', optional: true } }];
  const refused = containerConfig({ ...input, container: { ...container, envFrom }, settings: alone });
  assert.match(JSON.stringify(refused), /couldn't get configMap shop\/cm, no kubeClient defined/);

  const volumeMounts = [{ name: 'v', mountPath: '/d', subPathExpr: '$(X)' }];
  const needed = subPathsNeeded(pod, { ...container, volumeMounts }, [], alone, { v: '/vols/v' });
  const plan = envPlan(pod, container, [], alone, { v: '/vols/v' });
  assert.ok('plan' in plan);
  assert.deepEqual(needed, {
    subPaths: [{ key: 'v/a/0', volumePath: '/vols/v', subPath: '$(X)', readOnly: false, expand: true }],
    env: plan.plan,
  });
});

test('subPathExpr goes to the worker with the plan; a plain subPath alone needs none', () => {
  const needed = (volumeMounts: Container['volumeMounts']) =>
    subPathsNeeded(pod, { ...container, volumeMounts }, ['10.0.0.9'], settings, { v: '/vols/v' });
  const mount = { name: 'v', mountPath: '/d' };
  assert.deepEqual(needed([{ ...mount, subPathExpr: '$(NAME)/../x' }]), {
    subPaths: [{ key: 'v/a/0', volumePath: '/vols/v', subPath: '$(NAME)/../x', readOnly: false, expand: true }],
    env: planOf(),
  });
  assert.deepEqual(needed([{ ...mount, subPath: 'x' }]), {
    subPaths: [{ key: 'v/a/0', volumePath: '/vols/v', subPath: 'x', readOnly: false }],
  });
  assert.deepEqual(needed([mount]), { subPaths: [] });
  assert.match(JSON.stringify(needed([{ ...mount, subPath: '../x' }])), /must not contain '..'/);

  const made = containerConfig({
    ...input,
    container: { ...container, volumeMounts: [{ ...mount, subPathExpr: '$(NAME)' }] },
  });
  assert.ok('config' in made);
  assert.equal(made.config.mounts[0]?.hostPath, '/pods/u-1/volume-subpaths/v/a/0');
});
