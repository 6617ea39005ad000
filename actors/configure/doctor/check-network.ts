import { readdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { findProgram } from '../../../cri/private-containerd/binaries.ts';
import { sysctl } from '../../../cri/private-containerd/network-remains.ts';
import { runCommand } from '../../../cri/private-containerd/run-command.ts';
import { fail, ok, warn } from './check.ts';
import type { CheckResult } from './check.ts';

/** IPv4 forwarding: pods reach nothing beyond the machine without it. The agent switches it on for its own network. */
export async function checkForwarding(): Promise<CheckResult> {
  if ((await sysctl('net.ipv4.ip_forward')) === '1') return ok('ip-forward', 'net.ipv4.ip_forward = 1');
  return warn(
    'ip-forward',
    'net.ipv4.ip_forward = 0',
    'Nothing for the private containerd, which switches it on; otherwise: sysctl -w net.ipv4.ip_forward=1.',
  );
}

/** iptables: masquerade and host ports. A FORWARD chain that drops (docker's) keeps pods from leaving the machine. */
export async function checkIptables(): Promise<CheckResult> {
  if ((await findProgram('iptables')) === null) {
    return fail('iptables', 'not found', 'Install it: apt-get install iptables.');
  }
  const chain = await runCommand('iptables', ['-w', '5', '-S', 'FORWARD']);
  if (chain.code !== 0) {
    const why = chain.stderr.trim().split('\n')[0] ?? '';
    return fail('iptables', `does not work: ${why}`, 'Run as root, with a kernel that has nf_tables or ip_tables.');
  }
  if (/^-P FORWARD DROP/m.test(chain.stdout)) {
    return warn(
      'iptables',
      'the FORWARD chain drops by default: pods may reach only this machine',
      'Allow the pod bridge: iptables -I FORWARD -i act+ -j ACCEPT and iptables -I FORWARD -o act+ -j ACCEPT.',
    );
  }
  return ok('iptables', 'works');
}

/** CNI configuration that a runtime on a usual socket reads; the private containerd has its own. */
export async function checkCniConfig(needed: boolean, dir = '/etc/cni/net.d'): Promise<CheckResult> {
  if (!needed) return ok('cni-config', 'the private containerd writes its own');
  const files = (await readdir(dir).catch(() => [])).filter((name) => /\.(conf|conflist|json)$/.test(name)).sort();
  if (files[0] !== undefined) return ok('cni-config', `${dir}/${files[0]}`);
  return warn(
    'cni-config',
    `no network configuration in ${dir}`,
    'Install a network plugin of the cluster, or write one.',
  );
}

/** Whether each port can be listened on; one result for all. */
export async function checkPorts(ports: readonly number[]): Promise<CheckResult> {
  const free = await Promise.all(ports.map(canListen));
  const used = ports.filter((_, i) => free[i] === false);
  if (used.length === 0) return ok('ports', `${ports.join(', ')} are free`);
  return fail(
    'ports',
    `in use: ${used.join(', ')}`,
    'Stop what listens there (ss -ltnp), or set healthzPort, port or readOnlyPort in the configuration.',
  );
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, () => server.close(() => resolve(true)));
  });
}
