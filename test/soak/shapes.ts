import { RUNS, runs, shell } from '../containerd/agent/support/test-pod.ts';
import { apiPod } from '../cluster/support/manifests.ts';
import type { Manifest, Pod } from '../cluster/support/api-objects.ts';

/** Kinds of pods. */
export type Shape =
  | 'plain'
  | 'two'
  | 'init'
  | 'sidecar'
  | 'probed'
  | 'hooks'
  | 'volumes'
  | 'slow'
  | 'job'
  | 'crash'
  | 'fails'
  | 'badImage';

/** How often each is drawn. */
export const SHAPES: Readonly<Record<Shape, number>> = {
  ...{ plain: 4, two: 2, init: 2, sidecar: 2, probed: 3, hooks: 2, volumes: 2, slow: 2 },
  ...{ job: 3, crash: 2, fails: 1, badImage: 1 },
};

/** Shapes whose containers run until their pod is deleted: nothing but an order may end one. */
export const STEADY: ReadonlySet<Shape> = new Set([
  'plain',
  'two',
  'init',
  'sidecar',
  'probed',
  'hooks',
  'volumes',
  'slow',
]);

/** Room enough for a machine that is busy: a probe that is late must not restart anything. */
const PATIENT = { periodSeconds: 2, timeoutSeconds: 20, failureThreshold: 10 };

/** The manifest of a pod of this shape on the node. */
export function podOfShape(shape: Shape, name: string, nodeName: string, graceSeconds: number): Manifest {
  const make = (containers: Parameters<typeof apiPod>[1], more: Record<string, unknown> = {}): Manifest =>
    apiPod(
      name,
      containers,
      { nodeName, terminationGracePeriodSeconds: graceSeconds, ...more },
      {
        labels: { soak: 'yes', shape },
      },
    );
  switch (shape) {
    case 'plain':
      return make([runs('a')]);
    case 'two':
      return make([runs('a'), runs('b')]);
    case 'init':
      return make([runs('a')], { initContainers: [shell('i', 'sleep 0.5'), shell('j', 'sleep 0.5')] });
    case 'sidecar':
      return make([runs('a')], { initContainers: [shell('s', RUNS, { restartPolicy: 'Always' })] });
    case 'probed':
      return make([
        runs('a', {
          livenessProbe: { exec: { command: ['true'] }, ...PATIENT },
          readinessProbe: { exec: { command: ['true'] }, ...PATIENT },
          startupProbe: { exec: { command: ['true'] }, ...PATIENT },
        }),
      ]);
    case 'hooks':
      return make([
        runs('a', {
          lifecycle: {
            postStart: { exec: { command: ['sleep', '0.2'] } },
            preStop: { exec: { command: ['sleep', '0.3'] } },
          },
        }),
      ]);
    case 'volumes':
      return make([runs('a', { volumeMounts: ['e', 'm', 'c', 'd'].map((n) => ({ name: n, mountPath: `/${n}` })) })], {
        volumes: [
          { name: 'e', emptyDir: {} },
          { name: 'm', emptyDir: { medium: 'Memory' } },
          { name: 'c', configMap: { name: 'kube-root-ca.crt' } },
          { name: 'd', downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] } },
        ],
      });
    case 'slow':
      return make([shell('a', 'trap "" TERM; while :; do sleep 1; done')]);
    case 'job':
      return make([shell('a', 'sleep 3; exit 0')], { restartPolicy: 'Never' });
    case 'crash':
      return make([shell('a', 'sleep 2; exit 1'), runs('b')]);
    case 'fails':
      return make([shell('a', 'sleep 1; exit 3')], { restartPolicy: 'Never' });
    case 'badImage':
      return make([{ ...runs('a'), image: 'localhost/actorlet/none:1', imagePullPolicy: 'Never' }]);
  }
}

/** '' when the pod is what its shape is to become, else what it lacks. */
export function lacks(shape: Shape, pod: Pod): string {
  const { phase, containerStatuses = [], conditions = [] } = pod.status ?? {};
  const first = containerStatuses[0];
  switch (shape) {
    case 'job':
      return phase === 'Succeeded' ? '' : `phase ${phase ?? ''}, not Succeeded`;
    case 'fails':
      return phase === 'Failed' ? '' : `phase ${phase ?? ''}, not Failed`;
    case 'crash':
      return containerStatuses.some((c) => c.name === 'a' && c.restartCount > 0) ? '' : 'no restart yet';
    case 'badImage':
      return first?.state?.waiting?.reason === 'ErrImageNeverPull' ? '' : 'no ErrImageNeverPull';
    default:
      return conditions.some((c) => c.type === 'Ready' && c.status === 'True') ? '' : 'not Ready';
  }
}
