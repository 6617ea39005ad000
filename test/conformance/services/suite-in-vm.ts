import { dirname } from 'node:path';
import { findProgram } from '../../../cri/private-containerd/binaries.ts';
import { clusterTool } from '../../cluster/support/cluster-tool.ts';
import type { TestRegistry } from '../../containerd/support/test-registry.ts';
import { AGENT, Machine } from '../../vm/support/machine.ts';
import { suiteImages } from '../images/suite-images.ts';
import { mirrorOf, PLACE_BY_DIGEST, startSuiteRegistry } from '../images/suite-registry.ts';
import { MACHINE } from '../options.ts';
import type { ConformanceOptions } from '../options.ts';
import { runSuiteIn } from './suite-place.ts';
import type { ServicesRun } from './suite-place.ts';

/** What a machine of bin/vm calls the loopback of this side (QEMU's user network). */
const THIS_SIDE = '10.0.2.2';

/** In the machine: a disk on which projects are counted, for specs of quotas. */
const KUBELET_DISK = [
  'truncate -s 6G /var/tmp/kubelet.img',
  'mkfs.ext4 -q -O quota,project -E quotatype=prjquota /var/tmp/kubelet.img',
  'mkdir -p /var/lib/kubelet && mount -o loop,prjquota /var/tmp/kubelet.img /var/lib/kubelet',
];

/** Has another containerd serve the machine, which sees this side's cache, with the runc that this side would take. */
async function changeContainerd(machine: Machine, containerd: string): Promise<void> {
  const runc = (await findProgram('runc')) ?? '/usr/sbin/runc';
  const path = [dirname(containerd), dirname(runc), '/usr/sbin:/usr/bin:/sbin:/bin'].join(':');
  const unit = `[Service]\nEnvironment=PATH=${path}\nExecStart=\nExecStart=${containerd}\n`;
  await machine.write('/etc/systemd/system/containerd.service.d/another.conf', unit);
  await machine.run('systemctl daemon-reload && systemctl restart containerd');
}

/** Runs Kubernetes' suite for nodes in a virtual machine of bin/vm, with the cgroups of systemd. See {@link runSuiteIn}. */
export async function runSuiteInVm(wish: ConformanceOptions, out: string): Promise<ServicesRun> {
  const [kubelet, images] = await Promise.all([
    wish.agent === 'kubelet' ? clusterTool('kubelet') : undefined,
    suiteImages(),
    clusterTool('e2e_node.test'),
  ]);
  const size = Object.entries({ ...MACHINE, ...wish.machine }).flatMap(([part, n]) => [`--${part}`, String(n)]);
  // Specs of swap ask for more than half a GiB of it.
  const machine = await Machine.up('--swap', '1024', ...size);
  let registry: TestRegistry | undefined;
  try {
    if (wish.containerd !== undefined) await changeContainerd(machine, wish.containerd);
    if (!wish.oneDisk) await machine.run(KUBELET_DISK.join(' && '));
    registry = await startSuiteRegistry(images);
    const port = registry.host.split(':').at(-1);
    await machine.write('/etc/containerd/certs.d/_default/hosts.toml', mirrorOf(`${THIS_SIDE}:${port}`));
    await machine.run(`ctr -n k8s.io images import ${images.archive} > /dev/null`);
    for (const args of PLACE_BY_DIGEST) await machine.run(`ctr -n k8s.io images ${args.join(' ')} > /dev/null`);
    const place = {
      ...{ folder: '/root/suite', runtime: 'unix:///run/containerd/containerd.sock' },
      // A unit has no HOME, and the usual place of what V8 has compiled is a read-only share here.
      agent: { program: kubelet ?? `${AGENT}/bin/actorlet`, env: { XDG_CACHE_HOME: '/var/cache' } },
      config: { cgroupDriver: 'systemd' },
      containerd: wish.containerd ?? 'containerd',
      run: (command: string) => machine.run(command),
      stream: (command: string, file: string) => machine.stream(command, file),
      write: (path: string, content: string) => machine.write(path, content),
    };
    return await runSuiteIn(place, wish, out);
  } finally {
    await machine.down();
    await registry?.stop();
  }
}
