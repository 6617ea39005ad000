import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePorts } from '../../bin/demo-steps/free-ports.ts';
import type { ResourceClaim } from '../../machines/claims/resource-claim.ts';
import { DaemonProcess } from '../../bin/control-plane/daemon-process.ts';
import { waitFor } from '../tools/wait-for.ts';
import type { Deployment, Event, Job, Lease, Node, Pod } from './support/api-objects.ts';
import { ControlPlane } from './support/control-plane.ts';
import { workload } from './support/manifests.ts';
import { startNodes } from './support/nodes-process.ts';
import { isReadyNode, takesPods } from './support/seen-nodes.ts';
import { isReadyPod } from './support/seen-pods.ts';
import { Space } from './support/space.ts';

const ACTORLET = fileURLToPath(new URL('../../bin/actorlet', import.meta.url));
const PODS = 200;
const WORKERS = 20;
/** The doomed one, the reborn one, the full one and that with devices. */
const OTHERS = 4;

const PROFILE = {
  groups: [
    { name: 'doomed', count: 1, taints: [{ key: 'doomed', effect: 'NoSchedule' }] },
    { name: 'reborn', count: 1, taints: [{ key: 'doomed', effect: 'NoSchedule' }] },
    { name: 'full', count: 1, taints: [{ key: 'doomed', effect: 'NoSchedule' }] },
    {
      ...{ name: 'gpu', count: 1, taints: [{ key: 'doomed', effect: 'NoSchedule' }] },
      devices: [{ resource: 'example.com/gpu', count: 3, unhealthy: 1 }],
      drivers: [
        {
          driver: 'gpu.example.com',
          devices: [
            { name: 'small', count: 2, capacity: { memory: '16Gi' } },
            { name: 'large', count: 1, attributes: { model: 'xl' }, capacity: { memory: '80Gi' } },
          ],
        },
      ],
    },
    { name: 'worker', zones: ['a', 'b', 'c'], machine: { cpus: 4, memory: '8Gi' }, labels: { made: 'here' } },
  ],
  runtime: {
    images: [{ image: '*', pull: { takes: ['20ms', '200ms'] } }],
    containers: [
      {
        match: { labels: { app: 'crashing' } },
        attempts: [{ exit: { after: '100ms', code: 3 } }],
        logs: [{ text: 'no such table', stream: 'stderr' }],
      },
      { match: { labels: { app: 'talking' } }, logs: [{ text: 'tick', every: '200ms' }] },
      {
        match: { labels: { app: 'slow-end' } },
        onStop: { after: '700ms', code: 0 },
        logs: [{ text: 'ready to serve' }],
        exec: [
          { command: 'ask yes', results: [{ stdout: 'yes' }] },
          { command: 'ask no', results: [{ code: 7, stderr: 'no' }] },
        ],
      },
    ],
  },
  probes: [
    {
      match: { image: '*:2' },
      kind: ['readiness'],
      answers: [{ status: 503, body: 'warming up' }, { from: '12s' }],
    },
    { match: { labels: { app: 'ailing' } }, kind: ['liveness'], answers: [{}, { from: '1s', status: null }] },
  ],
  usage: [{ match: { labels: { app: 'slow-end' } }, cpu: { base: '250m' }, memory: { base: '64Mi' } }],
  failures: [
    { does: 'die', nodes: 'doomed-*', at: '20s' },
    { does: 'die', nodes: 'reborn-*', at: '40s', for: '2s' },
    { does: 'fill-memory', nodes: 'full-*', at: '5s' },
  ],
};

const RESOURCES = '/apis/resource.k8s.io/v1';

let plane: ControlPlane;
let nodes: DaemonProcess;
let journals: string;
let spaces = 0;

const space = (name: string): Promise<Space> => Space.make(plane, `${name}-${++spaces}`, () => nodes.tail(40));
const allNodes = (): Promise<Node[]> => plane.api.list<Node>('/api/v1/nodes');
const nodeNamed = (name: string): Promise<Node> => plane.api.get<Node>(`/api/v1/nodes/${name}`);

/** A pod template of one container of this image; `more` are further fields of the container. */
function pod(app: string, image: string, more: object = {}, spec: object = {}): object {
  const containers = [{ name: 'c', image, ports: [{ containerPort: 80 }], ...more }];
  return { metadata: { labels: { app } }, spec: { containers, terminationGracePeriodSeconds: 30, ...spec } };
}

before(async () => {
  plane = await ControlPlane.start();
  const [inspectAt = 0] = await freePorts(1);
  journals = join(plane.dir, 'journals');
  const more = ['--journal-dir', journals, '--inspect', String(inspectAt)];
  nodes = await startNodes(plane, PROFILE, WORKERS + OTHERS, more);
  await waitFor(
    'all workers to be Ready and schedulable',
    async () => {
      await nodes.mustRun();
      const workers = (await allNodes()).filter(({ metadata }) => metadata?.name?.startsWith('worker-'));
      const free = workers.filter(takesPods);
      return free.length === WORKERS ? true : undefined;
    },
    () => nodes.tail(40),
  );
});

after(async () => {
  await nodes?.kill();
  await plane?.stop();
});

describe('simulated nodes', { concurrency: true }, () => {
  test('nodes are what the profile says', async () => {
    const node = await nodeNamed('worker-1');
    assert.equal(node.metadata?.labels?.['topology.kubernetes.io/zone'], 'b');
    assert.equal(node.metadata?.labels?.['made'], 'here');
    assert.deepEqual([node.status?.capacity?.['cpu'], node.status?.capacity?.['memory']], ['4', '8Gi']);
    assert.match(node.status?.nodeInfo?.containerRuntimeVersion ?? '', /^actorlet-sim:/);
    const doomed = await nodeNamed('doomed-0');
    assert.ok(doomed.spec?.taints?.some(({ key, effect }) => key === 'doomed' && effect === 'NoSchedule'));
    const boots = new Set((await allNodes()).map(({ status }) => status?.nodeInfo?.bootID));
    assert.equal(boots.size, WORKERS + OTHERS, 'each machine booted by itself');
    const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
    const lease = await waitFor('the lease', () => plane.api.find<Lease>(`${leases}/worker-7`));
    assert.equal(lease.spec?.holderIdentity, 'worker-7');
    await waitFor('the CSINode', () => plane.api.find<object>('/apis/storage.k8s.io/v1/csinodes/worker-7'));
  });

  test(`${PODS} pods run on all nodes, each with an address, and go`, async () => {
    const own = await space('many');
    await own.create(workload('Deployment', 'web', pod('web', 'nginx:1'), { replicas: PODS }));
    const pods = await own.waitPods('app=web', 'all ready', (all) => all.length === PODS && all.every(isReadyPod));
    assert.equal(new Set(pods.map(({ status }) => status?.podIP)).size, PODS);
    assert.ok(new Set(pods.map(({ spec }) => spec?.nodeName)).size >= WORKERS / 2);
    assert.ok(pods.every(({ spec }) => spec?.nodeName !== 'doomed-0'));
    await own.patch('Deployment', 'web', { spec: { replicas: 0 } });
    await own.waitPods('app=web', 'none left', (all) => all.length === 0);
  });

  test('a rollout waits for readiness', async () => {
    const own = await space('rollout');
    const probe = (period = 1) => ({ readinessProbe: { httpGet: { path: '/', port: 80 }, periodSeconds: period } });
    const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 2, maxUnavailable: 0 } };
    await own.create(workload('Deployment', 'web', pod('web', 'app:1', probe()), { replicas: 6, strategy }));
    await own.wait<Deployment>('Deployment', 'web', '6 available', (d) => d.status?.availableReplicas === 6);
    await own.patch('Deployment', 'web', { spec: { template: pod('web', 'app:2', probe()) } }, 'strategic-merge');
    // Not of each pod: where there is much to do, one may be asked for the first time when it is ready.
    const unhealthy = await waitFor('a probe that fails', async () => {
      const events = await plane.api.list<Event>(own.path('Event'));
      return events.find(({ reason, message }) => reason === 'Unhealthy' && message?.startsWith('Readiness') === true);
    });
    assert.equal(unhealthy.message, 'Readiness probe failed: HTTP probe failed with statuscode: 503');
    await own.wait<Deployment>('Deployment', 'web', 'updated', ({ metadata, status }) => {
      const all = status?.updatedReplicas === 6 && status.availableReplicas === 6 && status.replicas === 6;
      return all && status.observedGeneration === metadata?.generation;
    });
  });

  test('a container that crashes is restarted with back-off; its log and its end are there', async () => {
    const own = await space('crash');
    await own.create({ kind: 'Pod', metadata: { name: 'p', labels: { app: 'crashing' } }, spec: specOf('app:1') });
    const crashed = await own.waitPod('p', 'to wait for its third start', ({ status }) => {
      const [c] = status?.containerStatuses ?? [];
      return (c?.restartCount ?? 0) >= 2 && c?.state?.waiting?.reason === 'CrashLoopBackOff';
    });
    const [c] = crashed.status?.containerStatuses ?? [];
    assert.equal(c?.lastState?.terminated?.exitCode, 3);
    assert.match(c?.state?.waiting?.message ?? '', /^back-off 20s restarting failed container=c pod=p_/);
    await own.waitEvent('p', 'BackOff', /^Back-off restarting failed container c in pod p_/);
    const logged = await patient('the log', () => own.kubectl('logs', 'p', '-c', 'c'));
    assert.equal(logged.trim(), 'no such table');
    const described = await own.kubectl('describe', 'pod', 'p');
    assert.match(described, /Reason: +CrashLoopBackOff/);
  });

  test('a liveness probe whose port is closed kills the container', async () => {
    const own = await space('ailing');
    const livenessProbe = { tcpSocket: { port: 80 }, periodSeconds: 1, failureThreshold: 2 };
    const spec = { ...specOf('app:1', { livenessProbe }), terminationGracePeriodSeconds: 1 };
    await own.create({ kind: 'Pod', metadata: { name: 'p', labels: { app: 'ailing' } }, spec });
    await own.waitEvent(
      'p',
      'Unhealthy',
      /^Liveness probe failed: dial tcp 10\.\d+\.\d+\.\d+:80: connect: connection refused$/,
    );
    await own.waitEvent('p', 'Killing', /^Container c failed liveness probe, will be restarted$/);
    await own.waitPod('p', 'restarted', ({ status }) => (status?.containerStatuses?.[0]?.restartCount ?? 0) >= 1);
  });

  test('init containers end, sidecars go on, and a Job completes', async () => {
    const own = await space('job');
    const spec = {
      restartPolicy: 'Never',
      initContainers: [
        { name: 'first', image: 'app:1' },
        { name: 'side', image: 'app:1', restartPolicy: 'Always' },
      ],
      containers: [{ name: 'main', image: 'app:1' }],
    };
    await own.create({
      kind: 'Job',
      metadata: { name: 'j' },
      spec: { completions: 3, parallelism: 3, template: { spec } },
    });
    await own.wait<Job>('Job', 'j', 'complete', (job) => job.status?.succeeded === 3);
    const [one] = await own.pods('job-name=j');
    assert.equal(one?.status?.phase, 'Succeeded');
    assert.equal(one.status.initContainerStatuses?.[0]?.state?.terminated?.reason, 'Completed');
  });

  test('a deleted pod has its time to end; logs and stats are those of the profile', async () => {
    const own = await space('graceful');
    await own.create({ kind: 'Pod', metadata: { name: 'p', labels: { app: 'slow-end' } }, spec: specOf('app:1') });
    const running = await own.waitPod('p', 'ready', isReadyPod);
    const logged = await patient('the log', () => own.kubectl('logs', 'p'));
    assert.equal(logged.trim(), 'ready to serve');
    const exec = (...command: string[]) => plane.kubectl.try(['-n', own.name, 'exec', 'p', '--', ...command]);
    const said = await waitFor('an answer to a command', async () => {
      const { code, out } = await exec('ask', 'yes');
      return code === 0 ? out : undefined;
    });
    assert.equal(said, 'yes');
    const refused = await waitFor('another answer', async () => {
      const { code, err } = await exec('ask', 'no');
      return code === 7 ? err : undefined;
    });
    assert.match(refused, /^no/);
    const summary = await patient('stats', () =>
      plane.api.text(`/api/v1/nodes/${running.spec?.nodeName ?? ''}/proxy/metrics/resource`),
    );
    assert.match(summary, /^node_cpu_usage_seconds_total /m);
    const ends: (number | undefined)[] = [];
    const watch = plane.api.watch<Pod>(`${own.path('Pod')}?fieldSelector=metadata.name%3Dp`, ({ object }) => {
      ends.push(object.status?.containerStatuses?.[0]?.state?.terminated?.exitCode);
    });
    await own.remove('Pod', 'p');
    await own.waitGone(running);
    await waitFor('the exit code to be seen', () => (ends.includes(0) ? true : undefined));
    watch.stop();
    assert.ok(!ends.includes(137), 'it ended by itself');
  });

  test('who attaches hears what the container says until it ends', async () => {
    const own = await space('attach');
    await own.create({ kind: 'Pod', metadata: { name: 'p', labels: { app: 'talking' } }, spec: specOf('app:1') });
    const running = await own.waitPod('p', 'ready', isReadyPod);
    const attached = await waitFor('somebody to be attached', async () => {
      const tried = plane.kubectl.start(['-n', own.name, 'attach', 'p', '-c', 'c']);
      return tried.waitFor(/^(tick\n){3}/).then(
        () => tried,
        async (error: unknown) => {
          await tried.kill();
          throw error;
        },
      );
    });
    await own.remove('Pod', 'p');
    const { code, out, err } = await attached.mustEnd();
    assert.equal(code, 0, err);
    assert.match(out, /^(tick\n)+$/);
    await own.waitGone(running);
  });

  test('the inspector shows each node', async () => {
    const address = await waitFor('its address', () => readFile(join(journals, 'inspector-address'), 'utf8'));
    const { origin, searchParams } = new URL(address.trim());
    const ask = async <T>(path: string): Promise<T> => {
      const answer = await fetch(`${origin}${path}`, {
        headers: { authorization: `Bearer ${searchParams.get('token') ?? ''}` },
      });
      assert.equal(answer.status, 200, path);
      return (await answer.json()) as T;
    };
    const names = await waitFor('all nodes', async () => {
      const found = await ask<string[]>('/api/nodes');
      return found.length === WORKERS + OTHERS ? found : undefined;
    });
    assert.deepEqual(names.slice(0, 4), ['doomed-0', 'full-0', 'gpu-0', 'reborn-0']);
    const about = await waitFor('the journal of one', async () => {
      const found = await ask<{ nodeName: string }>('/nodes/worker-3/api/about');
      return found.nodeName === '' ? undefined : found;
    });
    assert.equal(about.nodeName, 'worker-3');
  });

  test('claims are allocated by the scheduler, prepared by the driver of the node, and given back', async () => {
    const own = await space('claims');
    const { name } = own;
    const selectors = [{ cel: { expression: 'device.driver == "gpu.example.com"' } }];
    await plane.api.post(`${RESOURCES}/deviceclasses`, {
      ...{ apiVersion: 'resource.k8s.io/v1', kind: 'DeviceClass', metadata: { name }, spec: { selectors } },
    });
    const large = 'device.capacity["gpu.example.com"].memory.isGreaterThan(quantity("20Gi"))';
    const exactly = { deviceClassName: name, selectors: [{ cel: { expression: large } }] };
    const devices = { requests: [{ name: 'gpu', exactly }] };
    await own.create({ kind: 'ResourceClaimTemplate', metadata: { name: 'large' }, spec: { spec: { devices } } });
    const spec = {
      ...specOf('app:1', { resources: { claims: [{ name: 'gpu' }] } }),
      resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'large' }],
      tolerations: [{ key: 'doomed', operator: 'Exists' }],
      terminationGracePeriodSeconds: 1,
    };
    await own.create({ kind: 'Pod', metadata: { name: 'a' }, spec });
    const a = await own.waitPod('a', 'ready', isReadyPod);
    assert.equal(a.spec?.nodeName, 'gpu-0');
    const [claim] = await plane.api.list<ResourceClaim>(own.path('ResourceClaim'));
    const [given, ...more] = claim?.status?.allocation?.devices?.results ?? [];
    assert.deepEqual([given?.driver, given?.pool, given?.device, more], ['gpu.example.com', 'gpu-0', 'large-0', []]);
    // There is one such device, and the next pod has it when the first has given it back.
    await own.create({ kind: 'Pod', metadata: { name: 'b' }, spec });
    await own.waitEvent('b', 'FailedScheduling', /cannot allocate all claims/);
    await own.kubectl('delete', 'pod', 'a');
    await own.waitPod('b', 'ready', isReadyPod);
    await own.kubectl('delete', 'pod', 'b');
    await waitFor('no claim to be left', async () =>
      (await plane.api.list(own.path('ResourceClaim'))).length === 0 ? true : undefined,
    );
    const [slice] = await plane.api.list<{ metadata: { ownerReferences?: { kind: string; name: string }[] } }>(
      `${RESOURCES}/resourceslices`,
    );
    assert.deepEqual(
      slice?.metadata.ownerReferences?.map(({ kind, name: of }) => `${kind} ${of}`),
      ['Node gpu-0'],
    );
  });

  test('pods get the devices of a node, each its own, and one too many waits', async () => {
    const own = await space('devices');
    const { capacity, allocatable } = (await nodeNamed('gpu-0')).status ?? {};
    assert.deepEqual([capacity?.['example.com/gpu'], allocatable?.['example.com/gpu']], ['3', '2']);
    const resources = { limits: { 'example.com/gpu': '1' } };
    const spec = { ...specOf('app:1', { resources }), tolerations: [{ key: 'doomed', operator: 'Exists' }] };
    for (const name of ['a', 'b']) await own.create({ kind: 'Pod', metadata: { name, labels: { app: 'gpu' } }, spec });
    await own.waitPods('app=gpu', 'both ready', (all) => all.length === 2 && all.every(isReadyPod));
    const ids = await Promise.all(
      ['a', 'b'].map((name) =>
        patient('its environment', () => own.kubectl('exec', name, '--', 'printenv', 'EXAMPLE_COM_GPU')),
      ),
    );
    assert.equal(new Set(ids).size, 2);
    assert.ok(
      ids.every((id) => /^gpu-[0-2]\n$/.test(id)),
      ids.join(),
    );
    await own.create({ kind: 'Pod', metadata: { name: 'c' }, spec });
    await own.waitEvent('c', 'FailedScheduling', /Insufficient example\.com\/gpu/);
    await own.create({ kind: 'Pod', metadata: { name: 'd' }, spec: { ...spec, nodeName: 'gpu-0' } });
    const refused = await own.waitPod('d', 'refused', ({ status }) => status?.phase === 'Failed');
    assert.equal(refused.status?.reason, 'UnexpectedAdmissionError');
  });

  test('nodes whose clock runs faster: what others compare is real', async () => {
    const own = await space('fast');
    const taint = { key: 'fast', effect: 'NoSchedule' };
    const profile = join(plane.dir, 'fast.json');
    const { runtime } = PROFILE;
    await writeFile(profile, JSON.stringify({ groups: [{ name: 'fast', taints: [taint] }], runtime }));
    const fast = new DaemonProcess({
      name: 'actorlet nodes --speed',
      program: ACTORLET,
      args: [
        ...['nodes', '--kubeconfig', plane.adminKubeconfig, '--profile', profile, '--port', '0', '--speed', '20x'],
        ...['--output', 'json', '--log-file', join(plane.dir, 'fast.log'), '--cleanup'],
      ],
      logFile: join(plane.dir, 'fast-out.log'),
    });
    try {
      const there = { nodeName: 'fast-0' };
      await waitFor(
        'it to be Ready',
        async () => (isReadyNode(await nodeNamed('fast-0')) ? true : undefined),
        () => fast.tail(40),
      );
      await own.create({
        kind: 'Pod',
        metadata: { name: 'p', labels: { app: 'crashing' } },
        spec: { ...specOf('app:1'), ...there },
      });
      await own.create(
        workload('Deployment', 'web', pod('web', 'nginx:1', {}, there), { replicas: 1, minReadySeconds: 5 }),
      );
      const began = performance.now();
      await own.wait<Deployment>('Deployment', 'web', 'available', (d) => d.status?.availableReplicas === 1);
      // It was Ready some 100 s of the nodes after they began: with that time it would be available 100 s later.
      assert.ok(performance.now() - began < 60_000);
      // 10 + 20 + 40 + 80 s of back-off.
      await own.waitPod('p', 'restarted', ({ status }) => (status?.containerStatuses?.[0]?.restartCount ?? 0) >= 5);
      assert.ok(performance.now() - began < 100_000);
      const events = await plane.api.list<Event>(own.path('Event'));
      for (const { lastTimestamp, firstTimestamp } of events)
        for (const at of [firstTimestamp, lastTimestamp])
          if (typeof at === 'string') assert.ok(Date.parse(at) <= Date.now() + 1_000, at);
    } finally {
      const { code } = await fast.terminate();
      assert.equal(code, 0, await fast.tail());
    }
  });

  test('a volume waits for its configMap, and kubelet says so', async () => {
    const own = await space('volume');
    const volumes = [{ name: 'v', configMap: { name: 'later' } }];
    const spec = { ...specOf('app:1', { volumeMounts: [{ name: 'v', mountPath: '/v' }] }), volumes };
    await own.create({ kind: 'Pod', metadata: { name: 'p' }, spec });
    await own.waitEvent('p', 'FailedMount', /^MountVolume\.SetUp failed for volume "v" : configmap "later" not found$/);
    await own.create({ kind: 'ConfigMap', metadata: { name: 'later' }, data: { a: '1' } } as never);
    await own.waitPod('p', 'ready', isReadyPod);
  });

  test('a node whose memory runs short is tainted, and the scheduler goes by it', async () => {
    const pressure = 'node.kubernetes.io/memory-pressure NoSchedule';
    const taints = await waitFor('the taint of memory pressure', async () => {
      const found = (await nodeNamed('full-0')).spec?.taints?.map(({ key, effect }) => `${key} ${effect}`).sort();
      return found?.includes(pressure) === true && found.length === 2 ? found : undefined;
    });
    assert.deepEqual(taints, ['doomed NoSchedule', pressure]);
    // A pod that takes the other one.
    const own = await space('full');
    const nodeSelector = { 'kubernetes.io/hostname': 'full-0' };
    const spec = { ...specOf('app:1'), nodeSelector, tolerations: [{ key: 'doomed', operator: 'Exists' }] };
    await own.create({ kind: 'Pod', metadata: { name: 'p' }, spec });
    await own.waitEvent('p', 'FailedScheduling', /untolerated taint/);
  });

  test('a node that dies by the profile is given up; one that comes back says that it was rebooted', async () => {
    // Two minutes, where all has its time: the node controller's grace, and the node's own death.
    const patience = 400_000;
    const given = await waitFor(
      'the doomed node to be given up',
      async () => {
        const node = await nodeNamed('doomed-0');
        const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
        return ready?.status === 'Unknown' ? ready : undefined;
      },
      () => nodes.tail(40),
      patience,
    );
    assert.equal(given.reason, 'NodeStatusUnknown');
    const reborn = await waitFor('the other one to tell of its boot', async () => {
      const query = 'fieldSelector=involvedObject.name%3Dreborn-0%2Creason%3DRebooted';
      return (await plane.api.list<Event>(`/api/v1/namespaces/default/events?${query}`))[0];
    });
    const { status } = await nodeNamed('reborn-0');
    assert.equal(reborn.message, `Node reborn-0 has been rebooted, boot id: ${status?.nodeInfo?.bootID ?? ''}`);
    await waitFor('it to be Ready', async () => (isReadyNode(await nodeNamed('reborn-0')) ? true : undefined));
  });
});

test('at the end nodes, leases and ResourceSlices are removed', async () => {
  const { code } = await nodes.terminate();
  assert.equal(code, 0, await nodes.tail());
  assert.deepEqual(await allNodes(), []);
  const leases = await plane.api.list<Lease>('/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases');
  assert.deepEqual(leases, []);
  assert.deepEqual(await plane.api.list(`${RESOURCES}/resourceslices`), []);
});

test('the journals of the nodes are replayed, of one that was switched off and on, too', async () => {
  for (const name of ['doomed-0', 'reborn-0', 'gpu-0', 'worker-0', 'worker-1']) {
    const { stdout } = await promisify(execFile)(ACTORLET, ['replay', join(journals, name)]);
    assert.equal(stdout, 'identical\n', name);
  }
});

/** On a machine with much to do the API server's own patience with a handshake ends before ours. */
function patient<T>(what: string, ask: () => Promise<T>): Promise<T> {
  return waitFor(what, ask, () => nodes.tail(20));
}

function specOf(image: string, more: object = {}): object {
  return { containers: [{ name: 'c', image, ports: [{ containerPort: 80 }], ...more }] };
}
