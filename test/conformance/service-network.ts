/** What makes services and their names work beside a node of the suite: kube-proxy and CoreDNS, as processes of the machine. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePorts } from '../../bin/demo-steps/free-ports.ts';
import { runCommand } from '../../cri/private-containerd/run-command.ts';
import type { ControlPlane } from '../cluster/support/control-plane.ts';
import { HelperProcesses } from '../cluster/support/helper-processes.ts';
import { referenceTool } from '../tools/reference-tool.ts';
import { waitFor } from '../tools/wait-for.ts';

/** Where nodes of the tests have pods ask for names (`clusterDNS`, test/cluster/support/node-config.ts). */
const DNS_ADDRESS = '10.96.0.10';
const DNS_PORT = 53;
/** Of the API server: without it nobody keeps the endpoints of the service `kubernetes`. */
export const API_SERVER_FLAGS = ['--endpoint-reconciler-type', 'lease'] as const;
/** What goes from one pod of a bridge to another passes the rules of services only with it. */
const BRIDGE_TO_IPTABLES = '/proc/sys/net/bridge/bridge-nf-call-iptables';

/**
 * Starts both, and resolves when the name of the service `kubernetes` is answered at its address, and the API server behind it. The caller stops
 * it. One such cluster at a time in a network namespace: kube-proxy's rules have fixed names.
 * @param nodeName a node of that name must be there
 */
export async function startServiceNetwork(plane: ControlPlane, nodeName: string): Promise<{ stop(): Promise<void> }> {
  const [proxy, dns] = await Promise.all([referenceTool('kube-proxy'), referenceTool('coredns')]);
  const processes = new HelperProcesses(plane);
  const stop = async (): Promise<void> => {
    await processes.stop();
    await runCommand(proxy, ['--cleanup', '--proxy-mode', 'iptables']);
  };
  try {
    const address = await plane.network.addAddress();
    await writeFile(BRIDGE_TO_IPTABLES, '1');
    await nameService(plane, address);
    const corefile = join(plane.dir, 'Corefile');
    await writeFile(corefile, corefileText(address, plane.adminKubeconfig));
    const names = processes.start('coredns', dns, ['-conf', corefile]);
    const [health = 0, metrics = 0] = await freePorts(2);
    const rules = processes.start('kube-proxy', proxy, [
      ...['--kubeconfig', plane.adminKubeconfig, '--hostname-override', nodeName, '--proxy-mode', 'iptables'],
      ...['--healthz-bind-address', `127.0.0.1:${health}`, '--metrics-bind-address', `127.0.0.1:${metrics}`],
      // The machine's own limits stay as they are.
      ...['--conntrack-max-per-core', '0'],
      ...['--conntrack-tcp-timeout-established', '0', '--conntrack-tcp-timeout-close-wait', '0'],
    ]);
    const explain = async (): Promise<string> => `${await names.tail()}\n${await rules.tail()}`;
    await waitFor('the name of the API server, by its service', () => answersNames(), explain);
    return { stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The service of names, whose only endpoint is this address of the machine. */
async function nameService(plane: ControlPlane, address: string): Promise<void> {
  const ports = ['UDP', 'TCP'].map((protocol) => ({ name: `dns-${protocol.toLowerCase()}`, port: DNS_PORT, protocol }));
  const metadata = { name: 'kube-dns', namespace: 'kube-system', labels: { 'k8s-app': 'kube-dns' } };
  await plane.api.post('/api/v1/namespaces/kube-system/services', {
    metadata,
    spec: { clusterIP: DNS_ADDRESS, ports },
  });
  await plane.api.post('/apis/discovery.k8s.io/v1/namespaces/kube-system/endpointslices', {
    metadata: { name: 'kube-dns', namespace: 'kube-system', labels: { 'kubernetes.io/service-name': 'kube-dns' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: [address], conditions: { ready: true } }],
    ports,
  });
}

/** As kubeadm's, but for what the machine's own resolver would be asked: nothing beyond the cluster is known. */
function corefileText(address: string, kubeconfig: string): string {
  return `.:${DNS_PORT} {
    bind ${address}
    errors
    kubernetes cluster.local in-addr.arpa ip6.arpa {
        kubeconfig ${kubeconfig}
        pods insecure
        fallthrough in-addr.arpa ip6.arpa
        ttl 1
    }
    loadbalance
}
`;
}

async function answersNames(): Promise<true | undefined> {
  const { code } = await runCommand('busybox', ['nslookup', 'kubernetes.default.svc.cluster.local', DNS_ADDRESS]);
  return code === 0 ? true : undefined;
}
