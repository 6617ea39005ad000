import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePorts } from '../../../../bin/demo-steps/free-ports.ts';
import { waitFor } from '../../../tools/wait-for.ts';
import { clusterTool } from '../../support/cluster-tool.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { DaemonProcess } from '../../../../bin/control-plane/daemon-process.ts';
import { writeTokenKubeconfig } from '../../../../bin/control-plane/kubeconfig.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const ROLE_GROUP = 'rbac.authorization.k8s.io';
const NAME = 'metrics-server';
const SYSTEM = '/api/v1/namespaces/kube-system';
const SUBJECT = { kind: 'ServiceAccount', name: NAME, namespace: 'kube-system' };

/** What the manifests of metrics-server give its service account. */
async function grant(plane: ControlPlane): Promise<string> {
  const { api } = plane;
  await api.post(`${SYSTEM}/serviceaccounts`, { metadata: { name: NAME } });
  await api.post(`${RBAC}/clusterroles`, {
    metadata: { name: `system:${NAME}` },
    rules: [
      { apiGroups: [''], resources: ['nodes/metrics'], verbs: ['get'] },
      { apiGroups: [''], resources: ['pods', 'nodes'], verbs: ['get', 'list', 'watch'] },
    ],
  });
  for (const role of [`system:${NAME}`, 'system:auth-delegator']) {
    await api.post(`${RBAC}/clusterrolebindings`, {
      metadata: { name: `${NAME}:${role.replace('system:', '')}` },
      roleRef: { apiGroup: ROLE_GROUP, kind: 'ClusterRole', name: role },
      subjects: [SUBJECT],
    });
  }
  await api.post(`${RBAC}/namespaces/kube-system/rolebindings`, {
    metadata: { name: `${NAME}-auth-reader` },
    roleRef: { apiGroup: ROLE_GROUP, kind: 'Role', name: 'extension-apiserver-authentication-reader' },
    subjects: [SUBJECT],
  });
  const made = await api.post<{ status: { token: string } }>(`${SYSTEM}/serviceaccounts/${NAME}/token`, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: 3600 },
  });
  return made.status.token;
}

/** Has the API server find the process as an aggregated API, without a pod and without kube-proxy. */
async function aggregate(plane: ControlPlane, port: number): Promise<void> {
  const { api } = plane;
  await api.post(`${SYSTEM}/services`, {
    metadata: { name: NAME },
    spec: { ports: [{ name: 'https', port: 443, targetPort: port }] },
  });
  await api.post('/apis/discovery.k8s.io/v1/namespaces/kube-system/endpointslices', {
    metadata: { name: `${NAME}-host`, labels: { 'kubernetes.io/service-name': NAME } },
    addressType: 'IPv4',
    ports: [{ name: 'https', port, protocol: 'TCP' }],
    endpoints: [{ addresses: [plane.network.hostAddress], conditions: { ready: true } }],
  });
  await api.post('/apis/apiregistration.k8s.io/v1/apiservices', {
    metadata: { name: 'v1beta1.metrics.k8s.io' },
    spec: {
      ...{ group: 'metrics.k8s.io', version: 'v1beta1', groupPriorityMinimum: 100, versionPriority: 100 },
      ...{ service: { name: NAME, namespace: 'kube-system' }, insecureSkipTLSVerify: true },
    },
  });
}

/** A real metrics-server on the machine, with the bearer token of its service account. The caller ends it. */
export async function startMetricsServer(plane: ControlPlane): Promise<DaemonProcess> {
  const program = await clusterTool('metrics-server');
  const token = await grant(plane);
  const kubeconfig = join(plane.dir, `${NAME}.kubeconfig`);
  await writeTokenKubeconfig(kubeconfig, plane.server, plane.pki.ca.cert, token);
  const [port = 0] = await freePorts(1);
  await writeFile(join(plane.dir, `${NAME}.log`), '');
  const process = new DaemonProcess({
    name: NAME,
    program,
    args: [
      ...['--secure-port', String(port), '--bind-address', plane.network.hostAddress],
      ...['--cert-dir', join(plane.dir, `${NAME}-certs`), '--kubeconfig', kubeconfig],
      ...['--authentication-kubeconfig', kubeconfig, '--authorization-kubeconfig', kubeconfig],
      ...['--kubelet-preferred-address-types', 'InternalIP', '--kubelet-use-node-status-port'],
      ...['--kubelet-certificate-authority', plane.pki.ca.cert, '--metric-resolution', '10s'],
      ...['--kubelet-request-timeout', '5s'],
    ],
    logFile: join(plane.dir, `${NAME}.log`),
  });
  try {
    await aggregate(plane, port);
    await waitFor(
      'metrics-server to know the nodes',
      async () => {
        await process.mustRun();
        const list = await plane.api.list('/apis/metrics.k8s.io/v1beta1/nodes');
        return list.length > 0 ? true : undefined;
      },
      () => process.tail(),
    );
    return process;
  } catch (error) {
    await process.kill();
    throw error;
  }
}
