import type { Pod } from '../../../../machines/protocol/api-types.ts';
import { IMAGE } from '../../agent/support/bench.ts';

/** Sorts of pods; a pod's name begins with that of its sort. */
export const SHAPES = [
  ...['full', 'job', 'crash', 'image', 'init', 'static', 'probed', 'full', 'job', 'sidecar'],
  'evicted',
] as const;

/** What a pod that is to be evicted may have in its volume `data`, bytes. */
export const SIZE_LIMIT = 4096;

const often = { periodSeconds: 1, timeoutSeconds: 30, failureThreshold: 100 };
const exec = { exec: { command: ['true'] }, ...often };

/** A pod of the API, with a secret of its name. */
export function podOf(name: string, namespace: string, probePort: number): { metadata: object } {
  const [shape = ''] = name.split('-');
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels: { app: name }, annotations: { note: 'x'.repeat(200) } },
    spec: {
      nodeName: 'node',
      restartPolicy: shape === 'job' ? 'Never' : 'Always',
      terminationGracePeriodSeconds: 1,
      serviceAccountName: 'default',
      ...specOf(shape, name, probePort),
    },
    status: { phase: 'Pending' },
  } as { metadata: object };
}

/** A pod of a manifest. */
export function staticPodOf(name: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: name } },
    spec: { terminationGracePeriodSeconds: 1, containers: [container('c')] },
  };
}

function container(name: string, more: object = {}): object {
  return { name, image: IMAGE, imagePullPolicy: 'IfNotPresent', ...more };
}

function specOf(shape: string, name: string, probePort: number): object {
  switch (shape) {
    case 'full':
      return {
        containers: [
          container('c', {
            env: [{ name: 'KEY', valueFrom: { secretKeyRef: { name, key: 'key' } } }],
            volumeMounts: ['empty', 'config', 'secret', 'all'].map((n) => ({ name: n, mountPath: `/${n}` })),
            lifecycle: { postStart: { exec: { command: ['true'] } }, preStop: { exec: { command: ['true'] } } },
          }),
        ],
        volumes: [
          { name: 'empty', emptyDir: {} },
          { name: 'config', configMap: { name: 'shared' } },
          { name: 'secret', secret: { secretName: name } },
          {
            name: 'all',
            projected: { sources: [{ serviceAccountToken: { path: 'token', expirationSeconds: 3600 } }] },
          },
        ],
      };
    case 'job':
      return { containers: [container('ends')] };
    case 'crash':
      return { containers: [container('crashes'), container('c')] };
    case 'image':
      return { containers: [container('c', { image: `registry.example/none:${name}` })] };
    case 'init':
      return { initContainers: [container('ends')], containers: [container('c')] };
    case 'sidecar':
      return { initContainers: [container('s', { restartPolicy: 'Always' })], containers: [container('c')] };
    case 'evicted':
      return {
        containers: [container('c', { volumeMounts: [{ name: 'data', mountPath: '/data' }] })],
        volumes: [{ name: 'data', emptyDir: { sizeLimit: String(SIZE_LIMIT) } }],
      };
    case 'probed': {
      const httpGet = { host: '127.0.0.1', port: probePort, path: '/' };
      const probes = {
        startupProbe: exec,
        readinessProbe: { httpGet, ...often },
        livenessProbe: { httpGet, ...often },
      };
      const tcp = { tcpSocket: { host: '127.0.0.1', port: probePort }, ...often };
      return { containers: [container('c', probes), container('d', { readinessProbe: tcp })] };
    }
    default:
      throw new Error(`no such shape: ${shape}`);
  }
}

/** The pod is what its shape is to become. */
export function hasItsFate(name: string, pod: Pod | undefined): boolean {
  const { phase, conditions = [], containerStatuses = [] } = pod?.status ?? {};
  const waits = (reason: RegExp) => containerStatuses.some((c) => reason.test(c.state?.waiting?.reason ?? ''));
  switch (name.split('-')[0]) {
    case 'job':
      return phase === 'Succeeded';
    case 'crash':
      return waits(/^CrashLoopBackOff$/);
    case 'image':
      return waits(/^ImagePullBackOff$|^ErrImagePull$/);
    case 'evicted':
      return phase === 'Failed' && pod?.status?.reason === 'Evicted';
    default:
      return conditions.some((c) => c.type === 'Ready' && c.status === 'True');
  }
}
