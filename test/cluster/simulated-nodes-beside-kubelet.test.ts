/**
 * The same pods on a node of `actorlet nodes` and on one of kubelet 1.35.4 with the same simulated runtime, on one control plane: what both
 * tell the API server, and so what `kubectl describe` shows, is the same.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { DaemonProcess } from '../../bin/control-plane/daemon-process.ts';
import type { SimScript } from '../../cri/sim/script.ts';
import { SimulatedNode } from '../beside-kubelet/simulated-node.ts';
import { waitFor } from '../tools/wait-for.ts';
import type { Event, Node, Pod } from './support/api-objects.ts';
import { ControlPlane } from './support/control-plane.ts';
import { startNodes } from './support/nodes-process.ts';
import { isReadyPod } from './support/seen-pods.ts';
import { Space } from './support/space.ts';
import { describedForm, eventsForm, nodeForm, podForm, toldForm } from './support/told-form.ts';

const exit = (after: string, code: number) => ({ attempts: [{ exit: { after, code } }] });
const SCRIPT: SimScript = {
  images: [
    { image: 'absent:1', pull: { fail: { code: 'NotFound', message: 'absent:1: not found' } } },
    // There already, for both: how many pull at once is a question of its own.
    { image: 'app:1', present: true },
  ],
  containers: [
    { match: { container: 'crashing' }, ...exit('100ms', 3), logs: [{ text: 'no such table' }] },
    { match: { container: 'ends' }, ...exit('500ms', 0) },
    { match: { container: 'fails' }, ...exit('500ms', 7) },
    { match: { container: 'ailing' }, exec: [{ command: 'well?', results: [{ code: 1, stdout: 'not today' }] }] },
  ],
};

const c = (name: string, more: object = {}) => ({ name, image: 'app:1', ...more });
const status = ({ status: now }: Pod) => now;
const waits = (reason: string) => (pod: Pod) => status(pod)?.containerStatuses?.[0]?.state?.waiting?.reason === reason;
const is = (phase: string) => (pod: Pod) => status(pod)?.phase === phase;

/**
 * Pods by name: what they are, until when they are waited for, an event that must have come by then, and one that the agent tells earlier than
 * kubelet: images are looked for while volumes are set up.
 */
const PODS: Record<string, { spec: object; until: (pod: Pod) => boolean; event: string; early?: string }> = {
  plain: { spec: { containers: [c('c')] }, until: isReadyPod, event: 'Started' },
  full: {
    spec: {
      initContainers: [c('ends'), c('side', { restartPolicy: 'Always' })],
      containers: [
        c('c', {
          resources: { requests: { cpu: '10m', memory: '16Mi' }, limits: { cpu: '20m', memory: '16Mi' } },
          startupProbe: { exec: { command: ['true'] }, periodSeconds: 1 },
          readinessProbe: { exec: { command: ['true'] }, periodSeconds: 1 },
          volumeMounts: [{ name: 'v', mountPath: '/v' }],
          ports: [{ containerPort: 80 }],
        }),
      ],
      volumes: [{ name: 'v', emptyDir: {} }],
    },
    until: isReadyPod,
    event: 'Started',
  },
  ailing: {
    spec: { containers: [c('ailing', { readinessProbe: { exec: { command: ['well?'] }, periodSeconds: 1 } })] },
    until: is('Running'),
    event: 'Unhealthy',
  },
  crashing: { spec: { containers: [c('crashing')] }, until: waits('CrashLoopBackOff'), event: 'BackOff' },
  'no-image': {
    spec: { containers: [c('c', { image: 'absent:1' })] },
    until: waits('ImagePullBackOff'),
    event: 'BackOff',
  },
  done: { spec: { restartPolicy: 'Never', containers: [c('ends')] }, until: is('Succeeded'), event: 'Started' },
  failed: { spec: { restartPolicy: 'Never', containers: [c('fails')] }, until: is('Failed'), event: 'Started' },
  'no-volume': {
    spec: {
      containers: [c('c', { volumeMounts: [{ name: 'v', mountPath: '/v' }] })],
      volumes: [{ name: 'v', configMap: { name: 'none' } }],
    },
    until: waits('ContainerCreating'),
    event: 'FailedMount',
    early: 'Pulled',
  },
  'too-large': {
    spec: { containers: [c('c', { resources: { requests: { cpu: '900' } } })] },
    until: is('Failed'),
    event: 'OutOfcpu',
  },
  late: {
    spec: { activeDeadlineSeconds: 3, containers: [c('c')] },
    until: is('Failed'),
    event: 'DeadlineExceeded',
  },
};

let plane: ControlPlane;
let nodes: DaemonProcess;
let kubelet: SimulatedNode;
const sides: { node: string; space: Space }[] = [];

before(async () => {
  plane = await ControlPlane.start();
  const profile = { groups: [{ name: 'sim' }], runtime: SCRIPT };
  [nodes, kubelet] = await Promise.all([
    startNodes(plane, profile, 1),
    // The devices of plugins that other tests have beside are not the node's.
    SimulatedNode.start(plane, 'ref', 'kubelet', SCRIPT, { ownDevicePlugins: true }),
  ]);
  await waitFor('sim-0 to be Ready', async () => {
    await nodes.mustRun();
    const { status: now } = await nodeNamed('sim-0');
    return now?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True') === true ? true : undefined;
  });
  for (const node of ['ref', 'sim-0']) {
    const space = await Space.make(plane, `on-${node}`, () =>
      node === 'ref' ? kubelet.node.lastWords() : nodes.tail(),
    );
    sides.push({ node, space });
    for (const [name, { spec }] of Object.entries(PODS))
      await space.create({
        ...{ kind: 'Pod', metadata: { name, labels: { app: name } } },
        spec: { nodeName: node, terminationGracePeriodSeconds: 2, ...spec },
      });
  }
});

after(async () => {
  await nodes?.kill();
  await kubelet?.stop();
  await plane?.stop();
});

const nodeNamed = (name: string): Promise<Node> => plane.api.get<Node>(`/api/v1/nodes/${name}`);

/** The same of both sides: the kubelet's first. */
async function both<T>(
  of: (side: (typeof sides)[number], form: ReturnType<typeof toldForm>) => Promise<T>,
): Promise<[T, T]> {
  const [first, second] = await Promise.all(
    sides.map((side) =>
      of(
        side,
        toldForm([
          [side.space.name, 'SPACE'],
          [side.node, 'NODE'],
        ]),
      ),
    ),
  );
  if (first === undefined || second === undefined) throw new Error('a side is missing');
  return [first, second];
}

describe('a node of `actorlet nodes` beside a kubelet', { concurrency: true }, () => {
  for (const [name, { until, event, early }] of Object.entries(PODS))
    test(`pod ${name}: status, events and what kubectl describe shows are the same`, async () => {
      const [reference, own] = await both(async ({ space }, form) => {
        await space.waitPod(name, 'as far as it gets', until);
        await space.waitEvent(name, event);
        // A container that crashes has another state while it runs.
        const told = await waitFor('it to be described as it was seen', async () => {
          const pod = await space.pod(name);
          if (pod === undefined || !until(pod)) return undefined;
          const described = await space.kubectl('describe', 'pod', name);
          const after = await space.pod(name);
          return after?.metadata?.resourceVersion === pod.metadata?.resourceVersion ? { pod, described } : undefined;
        });
        return {
          pod: podForm(form, told.pod),
          described: describedForm(form, told.described),
          events: eventsForm(
            form,
            (await space.events(name)).filter(({ reason }) => reason !== early),
          ),
        };
      });
      assert.deepEqual(own.pod, reference.pod);
      assert.deepEqual(own.described, reference.described);
      assert.deepEqual(own.events, reference.events);
    });

  test('node: fields, conditions and events are the same', async () => {
    const [reference, own] = await both(async ({ node }, form) => {
      const query = `fieldSelector=involvedObject.name%3D${node}`;
      const told = await waitFor(`the events of ${node}`, async () => {
        const events = await plane.api.list<Event>(`/api/v1/namespaces/default/events?${query}`);
        // Not what the machine is, which the simulated one is not, and nothing of the node controller.
        const own = events.filter(({ reason, source }) => reason !== 'CgroupV1' && source?.component === 'kubelet');
        const last = ['NodeReady', 'NodeAllocatableEnforced'];
        return last.every((each) => own.some(({ reason }) => reason === each)) ? own : undefined;
      });
      return { node: nodeForm(form, await nodeNamed(node)), events: eventsForm(form, told) };
    });
    assert.deepEqual(own.node, reference.node);
    assert.deepEqual(own.events, reference.events);
  });
});
