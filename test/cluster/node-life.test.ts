import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BUSYBOX_IMAGE } from '../../cri/private-containerd/own-images.ts';
import { podOf, runs, shell } from '../containerd/agent/support/test-pod.ts';
import { waitFor } from '../tools/wait-for.ts';
import type { Event, Lease, Pod } from './support/api-objects.ts';
import { withCluster } from './support/cluster-fixture.ts';
import { apiPod } from './support/manifests.ts';
import { isReadyPod, uidOf } from './support/seen-pods.ts';

const NODE = 'gamma';
const cluster = withCluster({ nodes: [{ name: NODE }] });

/** `type reason: message` of events, in the order in which they came first. */
const told = (events: readonly Event[]) => events.map((e) => `${e.type ?? ''} ${e.reason ?? ''}: ${e.message ?? ''}`);

test('the node object says what the node is and has', async () => {
  const node = await cluster.node(NODE).waitReady();
  const { address } = cluster.node(NODE);
  const labels = node.metadata?.labels ?? {};
  assert.equal(labels['kubernetes.io/hostname'], NODE);
  assert.equal(labels['kubernetes.io/os'], 'linux');
  assert.equal(labels['beta.kubernetes.io/arch'], labels['kubernetes.io/arch']);
  assert.deepEqual(node.status?.addresses, [
    { type: 'InternalIP', address },
    { type: 'Hostname', address: NODE },
  ]);
  const { capacity = {}, allocatable = {}, conditions = [], nodeInfo, images = [] } = node.status ?? {};
  assert.equal(capacity['pods'], '250');
  for (const name of ['cpu', 'memory', 'ephemeral-storage', 'pods']) {
    assert.ok(capacity[name] !== undefined && allocatable[name] !== undefined, name);
  }
  const [has, gives] = [capacity, allocatable].map((list) => Number(/^(\d+)Ki$/.exec(list['memory'] ?? '')?.[1]));
  assert.equal((has ?? 0) - (gives ?? 0), 50 * 1024, 'allocatable is without the eviction threshold');
  const words = conditions.map(({ type, status, reason }) => `${type} ${status} ${reason ?? ''}`);
  assert.deepEqual(words.sort(), [
    'DiskPressure False KubeletHasNoDiskPressure',
    'MemoryPressure False KubeletHasSufficientMemory',
    'PIDPressure False KubeletHasSufficientPID',
    'Ready True KubeletReady',
  ]);
  assert.match(nodeInfo?.containerRuntimeVersion ?? '', /^containerd:\/\/\d/);
  assert.match(nodeInfo?.kubeletVersion ?? '', /^v1\.35\./);
  await waitFor('the images of the node', async () => {
    const seen = images.length > 0 ? images : ((await cluster.node(NODE).object())?.status?.images ?? []);
    return seen.some((image) => image.names?.includes(BUSYBOX_IMAGE)) ? true : undefined;
  });
});

test('the lease of the node is renewed', async () => {
  const path = `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${NODE}`;
  const { api } = cluster.plane();
  const first = await waitFor('the lease', () => api.find<Lease>(path));
  assert.equal(first.spec?.holderIdentity, NODE);
  assert.equal(first.spec.leaseDurationSeconds, 40);
  assert.equal(first.metadata?.ownerReferences?.[0]?.uid, (await cluster.node(NODE).object())?.metadata?.uid);
  await waitFor('the lease to be renewed', async () => {
    const now = await api.get<Lease>(path);
    return String(now.spec?.renewTime) > String(first.spec?.renewTime) ? true : undefined;
  });
});

describe('pods of a node', { concurrency: true }, () => {
  test('a pod bound by hand that does not fit is rejected', async () => {
    const space = await cluster.space('admission');
    const nodeName = NODE;
    const resources = { requests: { cpu: '500' } };
    const zone = { key: 'zone', operator: 'In', values: ['elsewhere'] };
    const required = { nodeSelectorTerms: [{ matchExpressions: [zone] }] };
    const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
    await space.create(apiPod('big', [runs('c', { resources })], { nodeName }));
    await space.create(apiPod('picky', [runs('c')], { nodeName, affinity }));
    await space.create(apiPod('selective', [runs('c')], { nodeName, nodeSelector: { disk: 'ssd' } }));
    await space.create(apiPod('fits', [runs('c')], { nodeName }));
    const [big, ...elsewhere] = await Promise.all(
      ['big', 'picky', 'selective'].map((name) => space.waitPod(name, 'rejected', (p) => p.status?.phase === 'Failed')),
    );
    assert.equal(big?.status?.reason, 'OutOfcpu');
    assert.match(
      big.status.message ?? '',
      /^Pod was rejected: Node didn't have enough resource: cpu, requested: 500000, /,
    );
    for (const pod of elsewhere) {
      assert.equal(pod.status?.reason, 'NodeAffinity');
      const message =
        "Pod was rejected: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector";
      assert.equal(pod.status.message, message);
    }
    await space.waitEvent('big', 'OutOfcpu', /enough resource: cpu/);
    await space.waitEvent('picky', 'NodeAffinity');
    await space.waitPod('fits', 'ready', isReadyPod);
    const uids = [big, ...elsewhere].map((pod) => uidOf(pod));
    assert.deepEqual(await cluster.node(NODE).containers(...uids), []);
    // a rejected pod goes when it is deleted
    await space.remove('Pod', 'big');
    await space.waitGone(big);
  });

  test('a pod fails at its activeDeadlineSeconds', async () => {
    const space = await cluster.space('deadline');
    await space.create(apiPod('brief', [runs('c')], { activeDeadlineSeconds: 3 }));
    const pod = await space.waitPod('brief', 'failed', (p) => p.status?.phase === 'Failed');
    assert.equal(pod.status?.reason, 'DeadlineExceeded');
    assert.match(pod.status.message ?? '', /^Pod was active on the node longer than the specified deadline/);
    await cluster.node(NODE).waitNothingRuns(uidOf(pod));
    await space.waitEvent('brief', 'DeadlineExceeded');
  });

  test('kubectl get events tells the life of a pod', async () => {
    const space = await cluster.space('events');
    await space.create(apiPod('plain', [runs('c')]));
    const pod = await space.waitPod('plain', 'ready', isReadyPod);
    await space.remove('Pod', 'plain');
    await space.waitGone(pod);
    await space.waitEvent('plain', 'Killing');
    const events = await space.events('plain');
    assert.deepEqual(
      told(events)
        .map((line) => line.replace(/"( already present on machine).*$/, '"$1'))
        .sort(),
      [
        'Normal Created: Container created',
        'Normal Killing: Stopping container c',
        `Normal Pulled: Container image "${BUSYBOX_IMAGE}" already present on machine`,
        `Normal Scheduled: Successfully assigned ${space.name}/plain to ${NODE}`,
        'Normal Started: Container started',
      ],
    );
    for (const event of events.filter((e) => e.reason !== 'Scheduled')) {
      assert.equal(event.source?.host, NODE);
      assert.equal(event.source.component, 'kubelet');
      assert.equal(event.involvedObject.fieldPath, 'spec.containers{c}');
      assert.equal(event.involvedObject.uid, uidOf(pod));
    }
    const printed = await space.kubectl('get', 'events');
    assert.match(printed, /Normal +Started +pod\/plain +Container started/);
  });

  test('events and statuses of an image that cannot be had', async () => {
    const space = await cluster.space('no-image');
    const image = 'localhost:1/none:1';
    await space.create(apiPod('imageless', [runs('c', { image })]));
    await space.create(apiPod('never', [runs('c', { image, imagePullPolicy: 'Never' })]));
    await space.create(apiPod('misnamed', [runs('c', { image: 'A B' })]));
    const waits = (reason: string) => (p: Pod) => p.status?.containerStatuses?.[0]?.state?.waiting?.reason === reason;
    await space.waitEvent('imageless', 'Pulling', /^Pulling image "localhost:1\/none:1"$/);
    await space.waitEvent('imageless', 'Failed', /^Failed to pull image "localhost:1\/none:1": /);
    await space.waitEvent('imageless', 'Failed', /^Error: ErrImagePull$/);
    await space.waitEvent('imageless', 'BackOff', /^Back-off pulling image "localhost:1\/none:1"$/);
    await space.waitEvent('imageless', 'Failed', /^Error: ImagePullBackOff$/);
    await space.waitPod('imageless', 'in back-off', waits('ImagePullBackOff'));
    await space.waitPod('never', 'refused', waits('ErrImageNeverPull'));
    await space.waitPod('misnamed', 'refused', waits('InvalidImageName'));
    const pending = await space.pods();
    assert.deepEqual(new Set(pending.map((p) => p.status?.phase)), new Set(['Pending']));
  });

  test('events and statuses of a container that crashes', async () => {
    const space = await cluster.space('crash');
    await space.create(apiPod('crasher', [shell('c', 'exit 7')]));
    const pod = await space.waitPod('crasher', 'in back-off', (p) => {
      return p.status?.containerStatuses?.[0]?.state?.waiting?.reason === 'CrashLoopBackOff';
    });
    const status = pod.status?.containerStatuses?.[0];
    assert.equal(status?.lastState?.terminated?.exitCode, 7);
    assert.equal(pod.status?.phase, 'Running');
    const back = await space.waitEvent('crasher', 'BackOff');
    const full = `crasher_${space.name}(${uidOf(pod)})`;
    assert.equal(back.message, `Back-off restarting failed container c in pod ${full}`);
    assert.match(status.state?.waiting?.message ?? '', /^back-off 10s restarting failed container=c pod=crasher_/);
    const started = await waitFor('the second start to be counted', async () => {
      return (await space.events('crasher')).find((e) => e.reason === 'Started' && (e.count ?? 1) >= 2);
    });
    assert.equal(started.message, 'Container started');
  });

  test('a mirror pod deleted by hand comes back, and goes with its static pod', async () => {
    const node = cluster.node(NODE);
    await node.writeManifest('fixed.json', podOf('fixed', [runs('c')]));
    const { api } = cluster.plane();
    const path = `/api/v1/namespaces/default/pods/fixed-${NODE}`;
    const mirror = (what: string, fits: (pod: Pod) => boolean) =>
      waitFor(`mirror pod: ${what}`, async () => {
        const pod = await api.find<Pod>(path);
        return pod !== undefined && fits(pod) ? pod : undefined;
      });
    const first = await mirror('ready', isReadyPod);
    const annotations = first.metadata?.annotations ?? {};
    const staticUid = annotations['kubernetes.io/config.hash'] ?? '';
    assert.equal(annotations['kubernetes.io/config.source'], 'file');
    assert.equal(annotations['kubernetes.io/config.mirror'], staticUid);
    assert.deepEqual(
      first.metadata?.ownerReferences?.map((o) => `${o.kind} ${o.name} ${String(o.controller)}`),
      [`Node ${NODE} true`],
    );
    const container = await node.containerId(staticUid, 'c');
    await api.delete(path, { gracePeriodSeconds: 0 });
    const second = await mirror('back', (p) => p.metadata?.uid !== first.metadata?.uid && isReadyPod(p));
    assert.equal(second.status?.containerStatuses?.[0]?.restartCount, 0);
    await api.delete(path);
    const third = await mirror('back again', (p) => p.metadata?.uid !== second.metadata?.uid && isReadyPod(p));
    assert.equal(third.status?.containerStatuses?.[0]?.containerID, `containerd://${container}`);
    assert.equal(await node.containerId(staticUid, 'c'), container, 'the container never ended');
    await node.removeManifest('fixed.json');
    await waitFor('the mirror pod to go', async () => ((await api.find(path)) === undefined ? true : undefined));
    await node.waitNothingRuns(staticUid);
  });
});

test('the node is NotReady while containerd is stopped, and its pods live on', async () => {
  const space = await cluster.space('runtime');
  const node = cluster.node(NODE);
  await space.create(apiPod('lasting', [runs('c')]));
  const pod = await space.waitPod('lasting', 'ready', isReadyPod);
  const container = await node.containerId(uidOf(pod), 'c');
  await node.stopContainerd();
  const down = await node.waitReady('False');
  const ready = down.status?.conditions?.find((c) => c.type === 'Ready');
  assert.equal(ready?.reason, 'KubeletNotReady');
  assert.match(ready.message ?? '', /container runtime/i);
  await node.startContainerd();
  await node.waitReady('True');
  const after = await space.waitPod('lasting', 'ready', isReadyPod);
  assert.equal(after.status?.containerStatuses?.[0]?.restartCount, 0);
  assert.equal(await node.containerId(uidOf(pod), 'c'), container);
  await space.create(apiPod('next', [runs('c')]));
  await space.waitPod('next', 'ready', isReadyPod);
});
