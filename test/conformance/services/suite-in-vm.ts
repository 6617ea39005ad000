import { clusterTool } from '../../cluster/support/cluster-tool.ts';
import type { TestRegistry } from '../../containerd/support/test-registry.ts';
import { AGENT, Machine } from '../../vm/support/machine.ts';
import { suiteImages } from '../images/suite-images.ts';
import { mirrorOf, PLACE_BY_DIGEST, startSuiteRegistry } from '../images/suite-registry.ts';
import type { ConformanceOptions } from '../options.ts';
import { runSuiteIn } from './suite-place.ts';
import type { ServicesRun } from './suite-place.ts';

/** What a machine of bin/vm calls the loopback of this side (QEMU's user network). */
const THIS_SIDE = '10.0.2.2';

/** Runs Kubernetes' suite for nodes in a virtual machine of bin/vm, with the cgroups of systemd. See {@link runSuiteIn}. */
export async function runSuiteInVm(wish: ConformanceOptions, out: string): Promise<ServicesRun> {
  const [kubelet, images] = await Promise.all([
    wish.agent === 'kubelet' ? clusterTool('kubelet') : undefined,
    suiteImages(),
    clusterTool('e2e_node.test'),
  ]);
  const machine = await Machine.up('--memory', '4096', '--cpus', '4', '--numa', '2');
  let registry: TestRegistry | undefined;
  try {
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
      containerd: 'containerd',
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
