import { join } from 'node:path';
import { freePorts } from '../demo-steps/free-ports.ts';
import { writeKubeconfig } from './kubeconfig.ts';
import type { Pki } from './pki.ts';

/** Cluster addresses of services; nothing routes them, there is no kube-proxy. */
export const SERVICE_RANGE = '10.96.0.0/16';

/** User by which the API server calls kubelets. */
const KUBELET_CLIENT = 'kube-apiserver-kubelet-client';

/** Where a control plane of one's own lives: certificates of its own authority, data in one folder, that goes with it. */
export interface ControlPlaneSite {
  dir: string;
  pki: Pki;
  /** The API server is reached at it, by its parts and by nodes. */
  address: string;
  /** What it listens at: `0.0.0.0` for nodes with networks of their own. */
  bindAddress: string;
  apiPort: number;
  /** For clients and for its peers, on the loopback. */
  etcdPorts: readonly [number, number];
}

/** `https://ADDRESS:PORT` of a site's API server. */
export function serverOf({ address, apiPort }: Pick<ControlPlaneSite, 'address' | 'apiPort'>): string {
  return `https://${address}:${apiPort}`;
}

/** A kubeconfig of the administrator; answers its path and the certificate in it. */
export async function adminKubeconfig(
  site: Pick<ControlPlaneSite, 'dir' | 'pki' | 'address' | 'apiPort'>,
): Promise<{ file: string; cert: string; key: string }> {
  const pair = await site.pki.issue('admin', 'admin', 'system:masters');
  const file = join(site.dir, 'admin.kubeconfig');
  await writeKubeconfig(file, serverOf(site), site.pki.ca.cert, pair);
  return { file, ...pair };
}

/** Of an etcd that keeps nothing beyond its process: it does not wait for the disk. */
export function etcdFlags({ dir, etcdPorts }: ControlPlaneSite): string[] {
  const [client, peer] = etcdPorts.map((port) => `http://127.0.0.1:${port}`) as [string, string];
  return [
    ...['--data-dir', join(dir, 'etcd'), '--unsafe-no-fsync', '--log-level', 'warn'],
    ...['--listen-client-urls', client, '--advertise-client-urls', client],
    ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', `default=${peer}`],
  ];
}

/** Of kube-apiserver, with the certificates that it needs: nodes by the Node authorizer, all others by RBAC. */
export async function apiServerFlags(site: ControlPlaneSite): Promise<string[]> {
  const { pki, dir, address } = site;
  const names = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc', 'localhost'].map((n) => `DNS:${n}`);
  names.push('IP:127.0.0.1', 'IP:10.96.0.1', ...(address === '127.0.0.1' ? [] : [`IP:${address}`]));
  const [serving, kubeletClient, frontProxy] = await Promise.all([
    pki.issue('apiserver', 'kube-apiserver', 'kube', names),
    pki.issue('kubelet-client', KUBELET_CLIENT, 'kubelet-clients'),
    pki.issue('front-proxy', 'front-proxy', 'front'),
  ]);
  return [
    ...['--etcd-servers', `http://127.0.0.1:${site.etcdPorts[0]}`, '--secure-port', String(site.apiPort)],
    ...['--bind-address', site.bindAddress, '--advertise-address', address],
    ...['--tls-cert-file', serving.cert, '--tls-private-key-file', serving.key, '--client-ca-file', pki.ca.cert],
    ...['--service-account-key-file', pki.serviceAccount.public],
    ...['--service-account-signing-key-file', pki.serviceAccount.private],
    ...['--service-account-issuer', 'https://kubernetes.default.svc'],
    ...['--authorization-mode', 'Node,RBAC', '--enable-admission-plugins', 'NodeRestriction', '--allow-privileged'],
    ...['--kubelet-client-certificate', kubeletClient.cert, '--kubelet-client-key', kubeletClient.key],
    ...['--kubelet-certificate-authority', pki.ca.cert],
    ...['--kubelet-preferred-address-types', 'InternalIP', '--service-cluster-ip-range', SERVICE_RANGE],
    // no kube-proxy: an aggregated API is reached at its endpoints
    '--enable-aggregator-routing',
    ...['--requestheader-client-ca-file', pki.ca.cert, '--requestheader-allowed-names', 'front-proxy'],
    ...['--requestheader-username-headers', 'X-Remote-User', '--requestheader-group-headers', 'X-Remote-Group'],
    ...['--requestheader-extra-headers-prefix', 'X-Remote-Extra-', '--endpoint-reconciler-type', 'none'],
    ...['--proxy-client-cert-file', frontProxy.cert, '--proxy-client-key-file', frontProxy.key],
    ...['--cert-dir', join(dir, 'apiserver-certs'), '--profiling=false', '--enable-priority-and-fairness=false'],
  ];
}

/** What kubeadm makes, too: the API server may call kubelets for those who may do so on its proxy. */
export const KUBELET_API_BINDING = {
  path: '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
  object: {
    metadata: { name: KUBELET_CLIENT },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:kubelet-api-admin' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: KUBELET_CLIENT }],
  },
};

/** Of kube-controller-manager, which signs certificates and tokens. */
export async function controllerManagerFlags(site: ControlPlaneSite): Promise<string[]> {
  const { pki } = site;
  return [
    ...(await componentFlags(site, 'kube-controller-manager')),
    ...['--service-account-private-key-file', pki.serviceAccount.private, '--root-ca-file', pki.ca.cert],
    ...['--cluster-signing-cert-file', pki.ca.cert, '--cluster-signing-key-file', pki.ca.key],
    ...['--use-service-account-credentials', '--kube-api-qps', '200', '--kube-api-burst', '400'],
  ];
}

/** Of kube-scheduler. */
export async function schedulerFlags(site: ControlPlaneSite): Promise<string[]> {
  return [...(await componentFlags(site, 'kube-scheduler')), '--kube-api-qps', '200', '--kube-api-burst', '400'];
}

/** A control plane that shares few cores with what it serves collects its garbage less often, and has no more threads than two cores can use. */
export const COMPONENT_ENVIRONMENT = { GOGC: '300', GOMAXPROCS: '2' };

async function componentFlags(
  site: ControlPlaneSite,
  name: 'kube-controller-manager' | 'kube-scheduler',
): Promise<string[]> {
  const kubeconfig = join(site.dir, `${name}.kubeconfig`);
  const user = `system:${name}`;
  await writeKubeconfig(kubeconfig, serverOf(site), site.pki.ca.cert, await site.pki.issue(name, user, user));
  const [port = 0] = await freePorts(1);
  return [
    ...['--kubeconfig', kubeconfig, '--leader-elect=false', '--bind-address', '127.0.0.1', '--profiling=false'],
    ...['--secure-port', String(port), '--cert-dir', join(site.dir, `${name}-certs`)],
  ];
}
