import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ownImageArchive } from '../../../cri/private-containerd/own-images.ts';
import { clusterTool } from '../../cluster/support/cluster-tool.ts';
import { controlPlaneImages } from './control-plane-images.ts';
import { Machine } from './machine.ts';

const CHECKOUT = join(import.meta.dirname, '../../..');
/** The units of Kubernetes' own Debian packages (kubernetes/release, cmd/krel/templates/latest/{kubelet,kubeadm}). */
const KUBELET_SERVICE = `[Unit]
Description=kubelet: The Kubernetes Node Agent
Wants=network-online.target
After=network-online.target
[Service]
ExecStart=/usr/bin/kubelet
Restart=always
StartLimitInterval=0
RestartSec=10
[Install]
WantedBy=multi-user.target
`;
const KUBEADM_DROP_IN = `[Service]
Environment="KUBELET_KUBECONFIG_ARGS=--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf"
Environment="KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml"
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
EnvironmentFile=-/etc/default/kubelet
ExecStart=
ExecStart=/usr/bin/kubelet $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS
`;
/**
 * Add-ons want images of their own, which say nothing of the agent. An emulator makes the API server late for what wants its answer within
 * ten seconds: neither patience nor leases are what is tried here.
 */
const KUBEADM_CONFIG = `apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
nodeRegistration: { criSocket: unix:///run/containerd/containerd.sock, taints: [], imagePullPolicy: Never }
skipPhases: [addon/coredns, addon/kube-proxy]
timeouts: { controlPlaneComponentHealthCheck: 20m, kubeletHealthCheck: 15m, kubernetesAPICall: 10m, etcdAPICall: 10m, tlsBootstrap: 15m }
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
kubernetesVersion: v1.35.4
controllerManager: { extraArgs: [{ name: leader-elect, value: 'false' }] }
scheduler: { extraArgs: [{ name: leader-elect, value: 'false' }] }
---
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cgroupDriver: systemd
failSwapOn: false
`;

/** Who is the node's agent, and in which service: kubelet, actorlet in kubelet's own, or actorlet as a service of its own. */
export type Agent = 'kubelet' | 'actorlet in kubelet.service' | 'actorlet.service';

/** A machine with Kubernetes' kubelet, kubeadm and kubectl as their Debian packages leave it, and with actorlet's package. */
export class KubeadmNode {
  readonly machine: Machine;

  private constructor(machine: Machine) {
    this.machine = machine;
  }

  static async up(): Promise<KubeadmNode> {
    const folder = await mkdtemp(join(tmpdir(), 'actorlet-kubeadm-'));
    const packages = execute(join(CHECKOUT, 'bin/package'), ['deb', '--quick', '--out', folder]);
    const machine = await Machine.bare('--cpus', '4', '--memory', '4096');
    const node = new KubeadmNode(machine);
    try {
      await node.install(folder, await packages);
      return node;
    } catch (error) {
      await machine.down();
      throw error;
    } finally {
      await packages.catch(() => undefined);
      await rm(folder, { recursive: true });
    }
  }

  /** Makes it a cluster of one node. */
  async init(): Promise<void> {
    await this.machine.write('/root/kubeadm.yaml', KUBEADM_CONFIG);
    await this.machine.run(
      `kubeadm init --config /root/kubeadm.yaml --ignore-preflight-errors=Swap,Hostname,SystemVerification > /root/init.log 2>&1 || ` +
        `{ cat /root/init.log; ${this.logs()}; exit 1; } >&2`,
    );
    await this.machine.run('mkdir -p ~/.kube && cp /etc/kubernetes/admin.conf ~/.kube/config');
  }

  /** What kubectl writes. */
  kubectl(command: string): Promise<string> {
    return this.machine.run(`kubectl --request-timeout=120s ${command}`);
  }

  /** Changes the agent as docs/install.md has it, and waits until it says to the API server who it is, and that the node is ready. */
  async change(from: Agent | 'none', to: Agent): Promise<void> {
    await this.machine.run(COMMANDS[`${from} -> ${to}`] ?? fail(`docs/install.md has no way from ${from} to ${to}`));
    if (from !== 'none') await this.isNode(to);
  }

  /** Waits until this agent has told the API server that it is the node's, and the node is ready. */
  async isNode(agent: Agent): Promise<void> {
    const version = agent === 'kubelet' ? 'v1.35.4' : 'v1.35.4-actorlet.[0-9.]*';
    // A heartbeat of the former one would be believed for 40 s.
    const ready = '{.status.nodeInfo.kubeletVersion} {.status.conditions[?(@.type=="Ready")].status}';
    await this.machine.until(
      `a node of ${agent}`,
      `kubectl get node vm -o jsonpath='${ready}' | grep -x '${version} True'`,
      `kubectl get node vm -o yaml | tail -n 60; ${this.logs()}`,
    );
  }

  logs(): string {
    return 'journalctl -b -u kubelet -u actorlet -n 40 --no-pager -o cat';
  }

  private async install(folder: string, listed: string): Promise<void> {
    const deb = (await readdir(folder)).find((name) => name.endsWith('.deb')) ?? fail(`no package was made: ${listed}`);
    const programs = ['kubeadm', 'kubectl', 'kubelet'] as const;
    const links = await Promise.all(programs.map(async (name) => `ln -s ${await clusterTool(name)} /usr/bin/${name}`));
    await this.machine.run(links.join(' && '));
    await this.machine.write('/usr/lib/systemd/system/kubelet.service', KUBELET_SERVICE);
    await this.machine.write('/usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf', KUBEADM_DROP_IN);
    await this.machine.run('systemctl daemon-reload && systemctl enable --quiet kubelet');
    await this.machine.copy(join(folder, deb), '/root/actorlet.deb');
    await this.machine.run('dpkg -i /root/actorlet.deb > /dev/null && rm /root/actorlet.deb');
    const wanted = (await this.machine.run('kubeadm config images list --kubernetes-version v1.35.4'))
      .trim()
      .split('\n');
    await writeFile(join(folder, 'images.tar'), await controlPlaneImages(wanted));
    await writeFile(join(folder, 'own.tar'), (await ownImageArchive()).archive);
    for (const archive of ['images.tar', 'own.tar']) {
      await this.machine.copy(join(folder, archive), '/root/images.tar');
      await this.machine.run('ctr -n k8s.io images import /root/images.tar > /dev/null && rm /root/images.tar');
    }
  }
}

/** The ways of docs/install.md, word for word. */
const COMMANDS: Readonly<Record<string, string>> = {
  'none -> actorlet in kubelet.service': `
    install -D -m 644 /usr/share/actorlet/90-actorlet.conf /etc/systemd/system/kubelet.service.d/90-actorlet.conf
    systemctl daemon-reload`,
  'kubelet -> actorlet in kubelet.service': `
    install -D -m 644 /usr/share/actorlet/90-actorlet.conf /etc/systemd/system/kubelet.service.d/90-actorlet.conf
    systemctl daemon-reload && systemctl restart kubelet`,
  'actorlet in kubelet.service -> kubelet': `
    rm /etc/systemd/system/kubelet.service.d/90-actorlet.conf
    systemctl daemon-reload && systemctl restart kubelet`,
  'kubelet -> actorlet.service': 'systemctl disable kubelet && systemctl enable --now actorlet',
  'actorlet.service -> kubelet': 'systemctl disable actorlet && systemctl enable --now kubelet',
};

async function execute(program: string, words: string[]): Promise<string> {
  return (await promisify(execFile)(program, words, { maxBuffer: 16 << 20 })).stdout;
}

function fail(message: string): never {
  throw new Error(message);
}
