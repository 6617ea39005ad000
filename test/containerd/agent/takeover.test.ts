import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { rememberMachine } from '../../cluster/support/reference-remains.ts';
import { lacksTool, referenceTool } from '../../tools/reference-tool.ts';
import { assertNothingLeft, machineState } from '../support/machine-state.ts';
import type { MachineState } from '../support/machine-state.ts';
import { isReady, restartsOf } from './support/seen.ts';
import { PATIENT, podOf, runs, shell } from './support/test-pod.ts';
import { TestNode } from './support/test-node.ts';

/** What kubelet needs on a machine that is not its own; actorlet is given the same. */
const CONFIG = {
  makeIPTablesUtilChains: false,
  evictionHard: { 'memory.available': '1Mi' },
  imageGCHighThresholdPercent: 100,
  featureGates: { KubeletInUserNamespace: true },
};

const tools = podOf(
  'tools',
  [
    runs('main', {
      resources: { limits: { cpu: '0.5', memory: '64Mi' }, requests: { cpu: '10m' } },
      env: [{ name: 'CORES', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1m' } } }],
      readinessProbe: { ...PATIENT, exec: { command: ['true'] } },
      volumeMounts: [
        { name: 'labels', mountPath: '/labels' },
        { name: 'scratch', mountPath: '/scratch' },
      ],
    }),
    runs('second'),
  ],
  {
    initContainers: [shell('first', 'true'), runs('sidecar', { restartPolicy: 'Always' })],
    volumes: [
      { name: 'labels', downwardAPI: { items: [{ path: 'l', fieldRef: { fieldPath: 'metadata.labels' } }] } },
      { name: 'scratch', emptyDir: { sizeLimit: '10Mi' } },
    ],
  },
  { labels: { b: 'two', a: 'one' }, creationTimestamp: null },
);

/** As kubeadm writes a component of the control plane. */
const component = `apiVersion: v1
kind: Pod
metadata:
  annotations:
    kubeadm.kubernetes.io/etcd.advertise-client-urls: https://10.0.0.10:2379
  labels:
    component: plane
    tier: control-plane
  name: plane
  namespace: default
spec:
  containers:
  - command: ["sh", "-c", "trap 'exit 0' TERM; while :; do sleep 1; done"]
    image: localhost/actorlet/busybox:1
    imagePullPolicy: IfNotPresent
    name: plane
    resources:
      requests:
        cpu: 10m
        memory: 10Mi
    volumeMounts:
    - mountPath: /host-tmp
      name: tmp
  hostNetwork: true
  priority: 2000001000
  priorityClassName: system-node-critical
  securityContext:
    seccompProfile:
      type: RuntimeDefault
  terminationGracePeriodSeconds: 2
  volumes:
  - hostPath:
      path: /tmp
      type: DirectoryOrCreate
    name: tmp
status: {}
`;

describe('the same node under kubelet and actorlet in turn', { skip: await lacksTool('kubelet') }, () => {
  let clean: MachineState;
  let node: TestNode;
  let putBack: () => Promise<void>;
  before(async () => {
    clean = await machineState();
    putBack = await rememberMachine();
    node = await TestNode.make({ config: CONFIG });
  });
  after(async () => {
    await node.stop();
    await putBack();
    await assertNothingLeft(clean);
  });

  it('both name static pods the same, so nothing of them is restarted by a switch to actorlet and back', async () => {
    const kubelet = await referenceTool('kubelet');
    await node.startAgent({ kubelet });
    await node.write('tools.json', tools);
    await node.write('plane.yaml', component);
    const first = await seen();
    assert.deepEqual(first.restarts, [{ first: 0, sidecar: 0, main: 0, second: 0 }, { plane: 0 }]);
    await node.agent.terminate();

    await node.startAgent();
    assert.deepEqual(await seen(), first);
    await node.agent.terminate();
    assert.deepEqual((await seenByRuntime()).containers, first.containers, 'after actorlet has ended');

    await node.startAgent({ kubelet });
    assert.deepEqual(await seen(), first);
    await node.agent.terminate();

    await node.startAgent();
    assert.deepEqual(await seen(), first);
    await node.remove('tools.json');
    await node.remove('plane.yaml');
    await node.waitGone('tools', 'plane');
    await node.agent.terminate();
  });

  /** What there is of the two pods once the agent has told that they are ready with what the runtime runs. */
  async function seen() {
    const [one, other] = [await node.waitPod('tools', 'ready', isTold), await node.waitPod('plane', 'ready', isTold)];
    return {
      uids: [uidOf(one), uidOf(other)],
      restarts: [restartsOf(one), restartsOf(other)],
      ...(await seenByRuntime()),
    };
  }

  /** Each container and sandbox that is or was. */
  async function seenByRuntime() {
    const containers = (await node.containers()).map(({ id, podUid, name, running, attempt }) =>
      [podUid, name, attempt, running, id].join(' '),
    );
    const sandboxes = (await node.sandboxes()).map(({ id, state }) => `${id} ${state}`);
    return { containers: containers.sort(), sandboxes: sandboxes.sort() };
  }
});

const uidOf = (pod: Pod): string => pod.metadata?.uid ?? '';

function isTold(pod: Pod): boolean {
  return isReady(pod) && (pod.status?.containerStatuses ?? []).every(({ containerID }) => containerID);
}
