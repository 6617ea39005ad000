import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { runCommand } from '../../cri/private-containerd/run-command.ts';
import { startApiService } from '../conformance/api-service.ts';
import { importArchives } from '../containerd/support/import-archives.ts';
import { startTestContainerd } from '../containerd/support/with-containerd.ts';
import type { TestContainerd } from '../containerd/support/with-containerd.ts';
import { waitFor } from '../tools/wait-for.ts';
import type { Node, Pod } from './support/api-objects.ts';
import { ClusterNode } from './support/cluster-node.ts';
import { ControlPlane } from './support/control-plane.ts';
import { Space } from './support/space.ts';
import { isReadyNode } from './support/seen-nodes.ts';
import { isReadyPod } from './support/seen-pods.ts';

const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url));
const EXAMPLE = join(CHECKOUT, 'docs/examples/nodes-in-cluster.yaml');
const NAMESPACE = 'simulated-nodes';
const USER = `system:serviceaccount:${NAMESPACE}:actorlet-nodes`;
const COUNT = 3;

const DRIVER = { driver: 'gpu.example.com', devices: [{ name: 'gpu', count: 1 }] };
const DISK = { accessModes: ['ReadWriteOnce'], storageClassName: '', capacity: { storage: '1Gi' } };
/** What belongs to no namespace. */
const WORLD = [
  {
    ...{ apiVersion: 'resource.k8s.io/v1', kind: 'DeviceClass', metadata: { name: 'nodes-image' } },
    spec: { selectors: [{ cel: { expression: `device.driver == "${DRIVER.driver}"` } }] },
  },
  { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', metadata: { name: 'nodes-image' }, handler: 'simulated' },
  {
    ...{ apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'nodes-image' } },
    spec: { ...DISK, hostPath: { path: '/nowhere' } },
  },
];
/** It goes where the shipped manifest says that who asks for it may go. */
const GUEST = {
  nodeSelector: { simulated: 'true' },
  tolerations: [{ key: 'simulated', operator: 'Exists' }],
  runtimeClassName: 'nodes-image',
  resourceClaims: [{ name: 'gpu', resourceClaimName: 'gpu' }],
  containers: [
    {
      ...{ name: 'c', image: 'app:1' },
      volumeMounts: [
        { name: 'key', mountPath: '/key' },
        { name: 'disk', mountPath: '/disk' },
      ],
      resources: { claims: [{ name: 'gpu' }] },
      envFrom: [{ configMapRef: { name: 'settings' } }],
      readinessProbe: { httpGet: { port: 80 } },
    },
  ],
  volumes: [
    { name: 'key', secret: { secretName: 'key' } },
    { name: 'disk', persistentVolumeClaim: { claimName: 'disk' } },
  ],
};

let folder: string;
let audit: string;
let plane: ControlPlane;
let service: { stop(): Promise<void> };
let containerd: TestContainerd;
let node: ClusterNode;

const deployed = (): Promise<Pod[]> => plane.api.list<Pod>(`/api/v1/namespaces/${NAMESPACE}/pods`);
const simulated = (): Promise<Node[]> => plane.api.list<Node>('/api/v1/nodes?labelSelector=simulated%3Dtrue');

/** What the pod says and what the node knows of it, for the message of a failure. */
async function words(): Promise<string> {
  const { out, err } = await plane.kubectl.try(['-n', NAMESPACE, 'logs', 'deployment/actorlet-nodes', '--tail=20']);
  const pods = (await deployed().catch(() => [])).map(({ status }) => JSON.stringify(status));
  return [out, err, ...pods, await node.lastWords()].join('\n');
}

/** Calls of the shipped service account, with the codes of their answers: `patch nodes/status 200`. */
async function calls(): Promise<string[]> {
  const lines = (await readFile(audit, 'utf8')).split('\n').filter((line) => line !== '');
  return lines.map((line) => {
    const { verb, objectRef, requestURI, responseStatus } = JSON.parse(line) as {
      verb: string;
      requestURI: string;
      objectRef?: { resource?: string; subresource?: string };
      responseStatus?: { code?: number };
    };
    const what = [objectRef?.resource ?? requestURI, objectRef?.subresource].filter(Boolean).join('/');
    return `${verb} ${what} ${responseStatus?.code ?? 0}`;
  });
}

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'nodes-image-'));
  audit = join(folder, 'audit.log');
  const policy = join(folder, 'policy.json');
  const rules = [{ level: 'Metadata', users: [USER] }, { level: 'None' }];
  const omitStages = ['RequestReceived', 'ResponseStarted'];
  await writeFile(policy, JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', omitStages, rules }));
  const make = promisify(execFile)(join(CHECKOUT, 'bin/package'), ['image', '--quick', '--out', folder]);
  plane = await ControlPlane.start({
    apiServerFlags: [
      ...['--audit-policy-file', policy, '--audit-log-path', audit],
      // As kubeadm has it: kubelets sign for themselves, and the pod has nobody's certificate for its address.
      '--kubelet-certificate-authority=',
      // Who asks for much is held back, as in any cluster.
      '--enable-priority-and-fairness=true',
    ],
  });
  service = await startApiService(plane);
  containerd = await startTestContainerd();
  const archive = (await make).stdout.trim().split('\n').at(-1) ?? '';
  await importArchives(containerd, [archive]);
  node = await ClusterNode.start(plane, { name: 'real', agent: 'actorlet', containerd });
});

after(async () => {
  await node?.stop();
  await containerd?.stop();
  await service?.stop();
  await plane?.stop();
  await rm(folder, { recursive: true, force: true });
});

test('the image with the shipped manifest: its pod runs nodes, with the rights of its service account alone', async (t) => {
  const manifest = (await readFile(EXAMPLE, 'utf8'))
    .replace("--count, '100'", `--count, '${COUNT}'`)
    .replace('    groups:', '    runtime: { runtime: { handlers: [{ name: simulated }] } }\n$&')
    .replace("labels: { simulated: 'true' }", `$&\n        drivers: [${JSON.stringify(DRIVER)}]`);
  assert.ok(manifest.includes(`'${COUNT}'`) && manifest.includes(DRIVER.driver), 'the manifest has what is replaced');
  await plane.kubectl.run(['apply', '-f', '-'], manifest);

  const [pod] = await waitFor(
    'the pod of the Deployment to be Ready',
    async () => {
      const pods = await deployed();
      return pods.length === 1 && pods.every(isReadyPod) ? pods : undefined;
    },
    words,
  );
  const uid = pod?.metadata?.uid ?? '';
  const nodes = await waitFor(
    'all simulated nodes to be Ready',
    async () => {
      const all = await simulated();
      return all.length === COUNT && all.every(isReadyNode) ? all : undefined;
    },
    words,
  );
  assert.deepEqual(nodes.map(({ metadata }) => metadata?.name).sort(), ['simulated-0', 'simulated-1', 'simulated-2']);

  const { accessModes, storageClassName, capacity } = DISK;
  // All that a pod can have the node ask for.
  const space = await Space.make(plane, 'guest', words);
  await plane.kubectl.run(['apply', '-f', '-'], { apiVersion: 'v1', kind: 'List', items: WORLD });
  await space.create({ kind: 'ConfigMap', metadata: { name: 'settings' }, data: { colour: 'green' } });
  await space.create({ kind: 'Secret', metadata: { name: 'key' }, stringData: { key: 'none' } });
  await space.create({
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'disk' },
    spec: { accessModes, storageClassName, volumeName: 'nodes-image', resources: { requests: capacity } },
  });
  await space.create({
    kind: 'ResourceClaim',
    metadata: { name: 'gpu' },
    spec: { devices: { requests: [{ name: 'one', exactly: { deviceClassName: 'nodes-image' } }] } },
  });
  await space.create({ kind: 'Pod', metadata: { name: 'guest' }, spec: GUEST });
  const guest = await space.waitPod('guest', 'Ready', isReadyPod);
  assert.equal(guest.status?.phase, 'Running');
  assert.equal(await space.kubectl('exec', 'guest', '--', 'printenv', 'colour'), 'green\n');
  await space.remove('Pod', 'guest');
  await space.waitGone(guest);

  const inside = ['-n', NAMESPACE, 'exec', 'deployment/actorlet-nodes', '--', 'actorlet', '--version'];
  assert.match(await plane.kubectl.run(inside), /^Kubernetes v1\..*-actorlet/);

  await plane.kubectl.run(['-n', NAMESPACE, 'delete', 'deployment', 'actorlet-nodes', '--cascade=foreground']);
  await waitFor(
    'the simulated nodes to be gone',
    async () => ((await simulated()).length === 0 ? true : undefined),
    words,
  );
  await waitFor(
    'nothing of the pod to be left in the runtime',
    async () => {
      const sandboxes = (await containerd.cri.pods()).filter(({ labels }) => labels['io.kubernetes.pod.uid'] === uid);
      return sandboxes.length + (await node.containers(uid)).length === 0 ? true : undefined;
    },
    words,
  );
  const { socket } = containerd.containerd.layout;
  const left = await runCommand('ctr', ['-a', socket, '-n', 'k8s.io', 'snapshots', 'ls']);
  assert.match(left.stdout, / Committed/);
  assert.doesNotMatch(left.stdout, / Active/);

  const seen = [...new Set(await calls())].sort();
  assert.deepEqual(
    seen.filter((call) => / 40[13]$/.test(call)),
    [],
    seen.join('\n'),
  );
  assert.ok(seen.includes('delete nodes 200'), seen.join('\n'));
  t.diagnostic(`asked for: ${seen.join(', ')}`);
});
