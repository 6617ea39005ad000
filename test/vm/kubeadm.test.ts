import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { KubeadmNode } from './support/kubeadm-node.ts';
import type { Agent } from './support/kubeadm-node.ts';
import { WORKLOADS } from './support/workloads.ts';

/** Pods of the control plane and of the workloads. */
const CONTROL_PLANE = ['etcd-vm', 'kube-apiserver-vm', 'kube-controller-manager-vm', 'kube-scheduler-vm'];

let node: KubeadmNode;

before(async () => {
  node = await KubeadmNode.up();
});
after(() => node?.machine.down());

test('kubeadm init with actorlet in kubelet.service: a node that is ready, with its control plane as static pods', async () => {
  await node.change('none', 'actorlet in kubelet.service');
  await node.init();
  await node.isNode('actorlet in kubelet.service');
  await node.machine.until(
    'the mirrors of the control plane',
    `[ "$(kubectl -n kube-system get pods --field-selector status.phase=Running -o name | wc -l)" = ${CONTROL_PLANE.length} ]`,
    'kubectl -n kube-system get pods -o wide',
  );
  const names = (await node.kubectl('-n kube-system get pods -o name')).trim().split('\n');
  assert.deepEqual(
    names.sort(),
    CONTROL_PLANE.map((name) => `pod/${name}`),
  );
  // The certificate that kubeadm's bootstrap token was good for is the agent's own.
  assert.match(
    await node.machine.run('ls -l /var/lib/kubelet/pki/kubelet-client-current.pem'),
    /kubelet-client-[-0-9]+\.pem$/m,
  );
});

test('a Deployment and a StatefulSet with a claim run', async () => {
  await node.machine.write('/root/workloads.yaml', WORKLOADS);
  await node.kubectl('apply -f /root/workloads.yaml');
  await node.kubectl('rollout status deployment/web --timeout=15m');
  await node.kubectl('rollout status statefulset/store --timeout=15m');
  assert.equal(await node.kubectl('exec store-0 -- cat /data/written'), 'store-0\n');
});

const CHANGES: readonly (readonly [Agent, Agent])[] = [
  ['actorlet in kubelet.service', 'kubelet'],
  ['kubelet', 'actorlet.service'],
  ['actorlet.service', 'kubelet'],
  ['kubelet', 'actorlet in kubelet.service'],
];
for (const [from, to] of CHANGES)
  test(`${from} -> ${to}: not one container restarts`, async () => {
    const [containers, counts] = [await running(), await restarts()];
    assert.ok(containers.includes('\n'), containers);
    await node.change(from, to);
    // It has been through all pods, some more than once: what it would do to them, it has done.
    await node.machine.run('sleep 60');
    await allReady();
    assert.equal(await running(), containers);
    assert.equal(await restarts(), counts);
    assert.equal(await node.kubectl('exec deployment/web -- echo here'), 'here\n');
    const log = await node.kubectl('logs store-0');
    assert.equal(log, 'wrote store-0\n');
  });

test('a pod of the StatefulSet that is deleted comes back with what it had written', async () => {
  const before = await storesUid();
  await node.kubectl('delete pod store-0 --timeout=10m');
  await node.kubectl('rollout status statefulset/store --timeout=15m');
  assert.notEqual(await storesUid(), before);
  await storeHasWritten(2);
});

test('a drain takes all pods but static ones away, and they come back with what they had written', async () => {
  const before = await storesUid();
  await node.kubectl('drain vm --ignore-daemonsets --delete-emptydir-data --force --timeout=15m');
  assert.equal(await node.kubectl('get pods -o name --field-selector status.phase=Running'), '');
  await node.kubectl('uncordon vm');
  await node.kubectl('rollout status deployment/web --timeout=15m');
  await node.kubectl('rollout status statefulset/store --timeout=15m');
  assert.notEqual(await storesUid(), before);
  await storeHasWritten(3);
});

test('after systemctl reboot the same pods run, each container once more, with what they had written', async () => {
  const [uid, counts] = [await storesUid(), await restarts()];
  await node.machine.reboot();
  await node.isNode('actorlet in kubelet.service');
  await node.machine.until(
    'each container once more',
    `[ "$(kubectl get pod store-0 -o jsonpath='{.status.containerStatuses[0].restartCount}')" -ge 1 ]`,
    `kubectl get pods -A; ${node.logs()}`,
  );
  await allReady();
  assert.equal(await storesUid(), uid);
  const before = new Map(counted(counts));
  for (const [name, count] of counted(await restarts())) {
    const had = before.get(name);
    // The API server and who needs it may begin more than once while etcd is not there yet.
    if (had === undefined || count <= had) assert.fail(`${name}: ${had} restarts before the boot, ${count} after it`);
    if (/^(web|store)-/.test(name)) assert.equal(count, had + 1, name);
  }
  await storeHasWritten(4);
});

test('kubeadm reset leaves neither pods nor mounts of them', async () => {
  await node.machine.run('kubeadm reset --force > /root/reset.log 2>&1 || { cat /root/reset.log >&2; exit 1; }');
  assert.equal(await node.machine.run('ctr -n k8s.io task ls -q'), '');
  assert.equal(await node.machine.run('grep /var/lib/kubelet /proc/mounts || true'), '');
  assert.equal(await node.machine.run('systemctl is-active kubelet || true'), 'inactive\n');
});

/** Ids and process ids of all that runs in containers. */
function running(): Promise<string> {
  return node.machine.run('ctr -n k8s.io task ls | awk \'$3 == "RUNNING" {print $1, $2}\' | sort');
}

/** Restart counts of all containers: a control plane that is slow to begin may have begun twice. */
function restarts(): Promise<string> {
  const each = '{range .items[*]}{.metadata.name}: {.status.containerStatuses[*].restartCount}{"\\n"}{end}';
  return node.kubectl(`get pods -A -o jsonpath='${each}'`);
}

/** Names of pods and their containers' restart counts, of what {@link restarts} returned. */
function counted(counts: string): (readonly [string, number])[] {
  return counts
    .trim()
    .split('\n')
    .map((line) => line.split(': ') as [string, string])
    .map(([name, count]) => [name, Number(count)] as const);
}

function storesUid(): Promise<string> {
  return node.kubectl("get pod store-0 -o jsonpath='{.metadata.uid}'");
}

/** Its pod adds a line each time that it begins. */
async function storeHasWritten(lines: number): Promise<void> {
  assert.equal(await node.kubectl('exec store-0 -- cat /data/written'), 'store-0\n'.repeat(lines));
}

/** Waits until each pod is ready. */
async function allReady(): Promise<void> {
  await node.machine.until(
    'all pods ready',
    `kubectl wait --for=condition=Ready pods --all -A --timeout=60s > /dev/null`,
    `kubectl get pods -A -o wide; ${node.logs()}`,
  );
}
