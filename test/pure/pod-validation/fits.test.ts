/** The quick look at a pod (`fits`, `lacks`) agrees with the thorough one, which says where and what. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lacking, lacks } from '../../../machines/pod-validation/lacking.ts';
import { podProblem } from '../../../machines/pod-validation/pod-problem.ts';
import { POD_SHAPE } from '../../../machines/pod-validation/pod-shape.ts';
import { fits, readShape } from '../../../machines/pod-validation/shape.ts';

const POD = {
  metadata: { name: 'web', namespace: 'default', uid: 'uid-1', generation: 3, labels: { app: 'web' }, foreign: 1 },
  spec: {
    hostNetwork: false,
    terminationGracePeriodSeconds: 30,
    volumes: [{ name: 'v', emptyDir: { sizeLimit: '1Gi' } }],
    containers: [
      {
        name: 'c',
        image: 'web:1',
        command: ['sh', '-c'],
        env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'm', key: 'k' } } }],
        ports: [{ containerPort: 80 }],
        volumeMounts: [{ name: 'v', mountPath: '/v' }],
        resources: { limits: { cpu: '500m', memory: 1 } },
        readinessProbe: { httpGet: { path: '/', port: 'http' }, periodSeconds: 5 },
      },
    ],
  },
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }], containerStatuses: [{ name: 'c' }] },
};

const ODD: readonly unknown[] = [
  null,
  0,
  1.5,
  2 ** 40,
  true,
  '',
  'x',
  '5q',
  [],
  [null],
  [1],
  {},
  { a: 1 },
  { a: null },
];

/** The value with each of its parts in turn replaced by each odd one, or taken out. */
function* variants(value: unknown): Generator<unknown> {
  yield* ODD;
  if (typeof value !== 'object' || value === null) return;
  for (const key of Object.keys(value)) {
    const inner = (value as Record<string, unknown>)[key];
    const put = (other: unknown): unknown =>
      Array.isArray(value)
        ? value.map((each: unknown, i) => (String(i) === key ? other : each))
        : { ...value, [key]: other };
    for (const other of variants(inner)) yield put(other);
    if (!Array.isArray(value)) yield Object.fromEntries(Object.entries(value).filter(([name]) => name !== key));
  }
}

test('whatever is wrong with a pod, the quick look sees it exactly when the thorough one does', () => {
  const seen = { well: 0, misfit: 0, lacking: 0, useless: 0 };
  for (const pod of [POD, ...variants(POD)]) {
    const text = JSON.stringify(pod);
    const fitting = readShape(pod, POD_SHAPE).problems.length === 0;
    const lacksSome = [...lacking(pod)].length > 0;
    assert.equal(fits(pod, POD_SHAPE), fitting, text);
    assert.equal(lacks(pod), lacksSome, text);
    const useful = podProblem(pod) === undefined;
    assert.ok(!useful || (fitting && !lacksSome), text);
    seen[useful ? 'well' : !fitting ? 'misfit' : lacksSome ? 'lacking' : 'useless']++;
  }
  for (const [kind, count] of Object.entries(seen)) assert.ok(count > 0, kind);
});

test('a pod without what tells it apart is refused, each with its words', () => {
  const without = (field: string) => ({ ...POD, metadata: { ...POD.metadata, [field]: undefined } });
  assert.match(podProblem(without('uid')) ?? '', /metadata\.uid: Invalid value/);
  assert.match(podProblem(without('name')) ?? '', /metadata\.name: Required value/);
  assert.match(podProblem(without('namespace')) ?? '', /metadata\.namespace: Required value/);
  assert.match(podProblem({ ...POD, spec: { containers: [] } }) ?? '', /spec\.containers: Required value/);
  assert.equal(podProblem(POD), undefined);
});

test('a container or a volume that no plain object can hold is refused', () => {
  // The pod's worker ended with a TypeError, and each next one did so too.
  for (const list of ['containers', 'initContainers', 'ephemeralContainers', 'volumes'] as const) {
    const before = list === 'containers' ? POD.spec.containers : [];
    const named = { ...POD, spec: { ...POD.spec, [list]: [...before, { name: '__proto__' }] } };
    const index = before.length;
    assert.equal(podProblem(named), `spec.${list}[${index}].name: Invalid value: "__proto__": is no name`);
  }
  const [first] = POD.spec.containers;
  const env = {
    ...POD,
    spec: { containers: [{ ...first, volumeMounts: [], env: [{ name: '__proto__', value: 'x' }] }] },
  };
  assert.equal(podProblem(env), undefined);
});
