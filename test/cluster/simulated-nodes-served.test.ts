/** What kubectl and the control plane ask of a simulated node beside pods: usage, tunnels, resizes, ephemeral containers, room for others. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { DaemonProcess } from '../../bin/control-plane/daemon-process.ts';
import { waitFor } from '../tools/wait-for.ts';
import { startMetricsServer } from './kubelet-api/support/metrics-server.ts';
import type { Deployment, Node } from './support/api-objects.ts';
import { ControlPlane } from './support/control-plane.ts';
import { workload } from './support/manifests.ts';
import { startNodes } from './support/nodes-process.ts';
import { isReadyPod } from './support/seen-pods.ts';
import { takesPods } from './support/seen-nodes.ts';
import { Space } from './support/space.ts';

const PROFILE = {
  // One node: all of a process have one address, by which metrics-server asks for their pages.
  groups: [{ name: 'sim', machine: { cpus: 4, memory: '8Gi' } }],
  runtime: { containers: [{ match: { container: 'debugger*' }, attempts: [{ exit: { after: '1s', code: 0 } }] }] },
  usage: [{ match: { labels: { app: 'busy' } }, cpu: { base: '150m' }, memory: { base: '64Mi' } }],
};
/** The autoscaler's own waits are minutes: here it looks and believes at once. */
const SOON = [
  ...['--horizontal-pod-autoscaler-sync-period', '2s', '--horizontal-pod-autoscaler-cpu-initialization-period', '1s'],
  ...['--horizontal-pod-autoscaler-initial-readiness-delay', '1s'],
];

let plane: ControlPlane;
let nodes: DaemonProcess;
const space = (name: string): Promise<Space> => Space.make(plane, name, () => nodes.tail(40));
const containers = (cpu: string) => [{ name: 'c', image: 'app:1', resources: { requests: { cpu } } }];

before(async () => {
  plane = await ControlPlane.start({ controllerManagerFlags: SOON });
  nodes = await startNodes(plane, PROFILE, 1);
  await waitFor('the node to be free', async () => {
    await nodes.mustRun();
    return takesPods(await plane.api.get<Node>('/api/v1/nodes/sim-0')) ? true : undefined;
  });
});

after(async () => {
  await nodes?.kill();
  await plane?.stop();
});

describe('what is asked of a simulated node', { concurrency: true }, () => {
  test('kubectl top shows what the profile says, and an autoscaler goes by it', async () => {
    const own = await space('busy');
    const template = { metadata: { labels: { app: 'busy' } }, spec: { containers: containers('100m') } };
    await own.create(workload('Deployment', 'busy', template, { replicas: 1 }));
    await plane.api.post(`/apis/autoscaling/v2/namespaces/${own.name}/horizontalpodautoscalers`, {
      metadata: { name: 'busy' },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'busy' },
        ...{ minReplicas: 1, maxReplicas: 3 },
        metrics: [
          { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 100 } } },
        ],
      },
    });
    const server = await startMetricsServer(plane);
    try {
      const top = await waitFor(
        'the pod in kubectl top',
        async () =>
          /^busy-\S+ +c +(\d+)m +(\d+)Mi *$/m.exec(await own.kubectl('top', 'pod', '--containers', '--no-headers')),
        () => server.tail(),
      );
      assert.ok(Number(top?.[1]) > 140 && Number(top?.[1]) < 160, top?.[0]);
      assert.equal(top?.[2], '64');
      // Each of them takes half as much again as it asks for: two are too few, and three are the most.
      await own.wait<Deployment>('Deployment', 'busy', 'three replicas', ({ status }) => status?.readyReplicas === 3);
      assert.match(await own.kubectl('top', 'node', '--no-headers'), /^sim-0 +\d+m +\d+% +\d+Mi +\d+% *$/m);
    } finally {
      await server.terminate();
      await plane.api.delete('/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.metrics.k8s.io');
    }
  });

  test('kubectl port-forward leads to an echo', async () => {
    const own = await space('forward');
    await own.create({ kind: 'Pod', metadata: { name: 'p' }, spec: { containers: containers('10m') } });
    await own.waitPod('p', 'ready', isReadyPod);
    const forward = plane.kubectl.start(['-n', own.name, 'port-forward', 'p', ':80']);
    try {
      const [, port] = await forward.waitFor(/Forwarding from 127\.0\.0\.1:(\d+) -> 80/);
      const socket = connect(Number(port), '127.0.0.1');
      try {
        await once(socket, 'connect');
        socket.write('hello');
        assert.equal(String((await once(socket, 'data'))[0]), 'hello');
      } finally {
        socket.destroy();
      }
    } finally {
      await forward.kill('SIGINT');
    }
  });

  test('a resize by the API, and kubectl debug', async () => {
    const own = await space('changed');
    await own.create({ kind: 'Pod', metadata: { name: 'p' }, spec: { containers: containers('100m') } });
    const { status: before } = await own.waitPod('p', 'ready', isReadyPod);
    const patch = JSON.stringify({ spec: { containers: [{ name: 'c', resources: { requests: { cpu: '200m' } } }] } });
    await own.kubectl('patch', 'pod', 'p', '--subresource', 'resize', '-p', patch);
    const { status } = await own.waitPod('p', 'to have it', (pod) => {
      const [c] = pod.status?.containerStatuses ?? [];
      return c?.resources?.requests?.['cpu'] === '200m' && c.allocatedResources?.['cpu'] === '200m';
    });
    assert.equal(status?.containerStatuses?.[0]?.containerID, before?.containerStatuses?.[0]?.containerID);
    await own.waitEvent('p', 'ResizeCompleted');
    await own.kubectl('debug', 'p', '--image', 'busybox:1', '--target', 'c', '--attach=false');
    const debugged = await own.waitPod('p', 'to have been debugged', (pod) => {
      const [debug] = pod.status?.ephemeralContainerStatuses ?? [];
      return debug?.state?.terminated?.exitCode === 0;
    });
    assert.equal(debugged.status?.phase, 'Running');
  });

  test('the scheduler takes the room of a pod of less weight, which has its grace period there', async () => {
    const own = await space('preempted');
    await plane.api.post('/apis/scheduling.k8s.io/v1/priorityclasses', { metadata: { name: 'heavy' }, value: 1000 });
    const spec = { containers: containers('2500m'), terminationGracePeriodSeconds: 10 };
    await own.create({ kind: 'Pod', metadata: { name: 'light' }, spec });
    await own.waitPod('light', 'ready', isReadyPod);
    await own.create({ kind: 'Pod', metadata: { name: 'heavy' }, spec: { ...spec, priorityClassName: 'heavy' } });
    await own.waitPod('heavy', 'ready', isReadyPod);
    await own.waitEvent('light', 'Preempted');
    await own.waitEvent('light', 'Killing', /^Stopping container c$/);
    assert.equal(await own.pod('light'), undefined);
  });
});
