import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultPod } from '../../../machines/pod-defaults/default-pod.ts';
import { defaultPullPolicy } from '../../../machines/pod-defaults/image-reference.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';

const bare: Pod = { metadata: { name: 'web' }, spec: { containers: [{ name: 'a', image: 'busybox:1.36' }] } };

test('a bare pod gets the defaults of the API server', () => {
  assert.deepEqual(defaultPod(bare).spec, {
    containers: [
      {
        name: 'a',
        image: 'busybox:1.36',
        resources: {},
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
        imagePullPolicy: 'IfNotPresent',
      },
    ],
    enableServiceLinks: true,
    dnsPolicy: 'ClusterFirst',
    restartPolicy: 'Always',
    securityContext: {},
    terminationGracePeriodSeconds: 30,
    schedulerName: 'default-scheduler',
  });
});

test('pull policy by tag', () => {
  const table: [string, string][] = [
    ['busybox', 'Always'],
    ['busybox:latest', 'Always'],
    ['busybox:1', 'IfNotPresent'],
    ['localhost:5000/busybox', 'Always'],
    ['localhost:5000/busybox:v1', 'IfNotPresent'],
    ['busybox@sha256:0123', 'IfNotPresent'],
    ['busybox:latest@sha256:0123', 'Always'],
    ['Busybox', 'IfNotPresent'],
    ['', 'IfNotPresent'],
  ];
  for (const [image, want] of table) assert.equal(defaultPullPolicy(image), want, image);
});

test('probes, hooks, ports, env, resources and volumes', () => {
  const pod = defaultPod({
    spec: {
      hostNetwork: true,
      serviceAccount: 'old',
      containers: [
        {
          name: 'a',
          image: 'x:1',
          ports: [{ containerPort: 80 }],
          env: [{ name: 'N', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
          resources: { limits: { cpu: '1000m', memory: '0.5Gi' }, requests: { cpu: '0.0001' } },
          livenessProbe: { httpGet: { port: 80 } },
          readinessProbe: { grpc: { port: 1 }, periodSeconds: 3 },
          lifecycle: { preStop: { httpGet: { port: 'x' } } },
        },
      ],
      volumes: [
        { name: 'e' },
        { name: 'h', hostPath: { path: '/x' } },
        { name: 'c', configMap: { name: 'c' } },
        { name: 'd', downwardAPI: { items: [{ path: 'p', fieldRef: { fieldPath: 'metadata.name' } }] } },
        { name: 'p', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } },
        { name: 'i', image: { reference: 'r' } },
      ],
    },
  });
  const container = pod.spec?.containers[0];
  assert.deepEqual(container?.ports, [{ containerPort: 80, protocol: 'TCP', hostPort: 80 }]);
  assert.deepEqual(container?.env?.[0]?.valueFrom, { fieldRef: { fieldPath: 'metadata.name', apiVersion: 'v1' } });
  assert.deepEqual(container?.resources, {
    limits: { cpu: '1', memory: '512Mi' },
    requests: { cpu: '1m', memory: '512Mi' },
  });
  assert.deepEqual(container?.livenessProbe, {
    httpGet: { port: 80, path: '/', scheme: 'HTTP' },
    timeoutSeconds: 1,
    periodSeconds: 10,
    successThreshold: 1,
    failureThreshold: 3,
  });
  assert.equal(container?.readinessProbe?.grpc?.service, '');
  assert.equal(container?.readinessProbe?.periodSeconds, 3);
  assert.equal(container?.lifecycle?.preStop?.httpGet?.path, '/');
  assert.deepEqual(pod.spec?.volumes, [
    { name: 'e', emptyDir: {} },
    { name: 'h', hostPath: { path: '/x', type: '' } },
    { name: 'c', configMap: { name: 'c', defaultMode: 420 } },
    {
      name: 'd',
      downwardAPI: {
        items: [{ path: 'p', fieldRef: { fieldPath: 'metadata.name', apiVersion: 'v1' } }],
        defaultMode: 420,
      },
    },
    {
      name: 'p',
      projected: { sources: [{ serviceAccountToken: { path: 't', expirationSeconds: 3600 } }], defaultMode: 420 },
    },
    { name: 'i', image: { reference: 'r', pullPolicy: 'Always' } },
  ]);
  assert.equal(pod.spec?.serviceAccountName, 'old');
  assert.deepEqual(defaultPod(pod), pod, 'applied twice changes nothing');
});

test('pod-level resources take what the containers need', () => {
  const pod = defaultPod({
    spec: {
      resources: { limits: { cpu: '2', memory: '1Gi' } },
      containers: [{ name: 'a', image: 'x', resources: { requests: { cpu: '250m' } } }],
      initContainers: [
        { name: 's', image: 'x', restartPolicy: 'Always', resources: { requests: { cpu: '100m' } } },
        { name: 'i', image: 'x', resources: { requests: { cpu: '300m' } } },
      ],
    },
  });
  assert.deepEqual(pod.spec?.resources, {
    limits: { cpu: '2', memory: '1Gi' },
    requests: { cpu: '400m', memory: '1Gi' },
  });
});
