/** The project's CSI driver beside a node of the suite, with Kubernetes' own helpers of such drivers: processes of the machine. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { ClusterNode } from '../../cluster/support/cluster-node.ts';
import type { ControlPlane } from '../../cluster/support/control-plane.ts';
import { STORAGE, isInCsiNode } from '../../cluster/support/csi-world.ts';
import { stopOnSignal } from '../../cluster/support/end-with-test.ts';
import { HelperProcesses } from '../../cluster/support/helper-processes.ts';
import { referenceTool } from '../../tools/reference-tool.ts';
import { waitFor } from '../../tools/wait-for.ts';
import { CSI_DRIVER, DEFAULT_CLASS, DEFINITION, DRIVER } from './driver-definition.ts';

const MAIN = fileURLToPath(new URL('../../tools/csi-driver/main.ts', import.meta.url));
/** Specs make many objects at once, and wait for them. */
const RATE = ['--kube-api-qps', '100', '--kube-api-burst', '200', '--v', '4'];

const HELPERS = {
  'csi-provisioner': [
    ...['--default-fstype', 'ext4', '--retry-interval-max', '5s', '--timeout', '60s'],
    ...['--enable-capacity', '--capacity-for-immediate-binding', '--capacity-ownerref-level', '-1'],
    ...['--kube-api-capacity-qps', '50', '--kube-api-capacity-burst', '100'],
  ],
  'csi-attacher': ['--retry-interval-max', '5s', '--timeout', '60s'],
  'csi-resizer': ['--retry-interval-max', '5s', '--timeout', '60s'],
} as const;

/** Where the driver keeps its disks; it outlives the node, whose mounts hold them. */
export class DiskFolder {
  readonly dir: string;
  private readonly forget: () => void;

  private constructor(dir: string) {
    this.dir = dir;
    this.forget = stopOnSignal(() => this.remove());
  }

  static async make(): Promise<DiskFolder> {
    return new DiskFolder(await mkdtemp(join(tmpdir(), 'suite-disks-')));
  }

  /** Takes the disks away, those too that a spec which failed has left; nothing of them may be mounted. */
  async remove(): Promise<void> {
    const inside = await devicesOn([`${this.dir}/`]);
    // An agent makes a device of its own of each block device that a pod has.
    const more = inside.length === 0 ? [] : await devicesOn(inside);
    for (const device of [...more, ...inside])
      await promisify(execFile)('losetup', ['-d', device]).catch(() => undefined);
    await rm(this.dir, { recursive: true, force: true });
    this.forget();
  }
}

/** The driver with its helpers, and the file that tells the suite of it. */
export interface StorageDriver {
  definition: string;
  /** Where the processes write what they do. */
  logs: string;
  stop(): Promise<void>;
}

/** Starts the driver on the node, and its helpers; resolves when the node has it. The caller stops it before the node. */
export async function startStorageDriver(
  plane: ControlPlane,
  node: ClusterNode,
  { dir }: DiskFolder,
): Promise<StorageDriver> {
  const processes = new HelperProcesses(plane);
  try {
    await plane.api.post(`${STORAGE}/csidrivers`, CSI_DRIVER);
    await plane.api.post(`${STORAGE}/storageclasses`, DEFAULT_CLASS);
    const folder = join(node.agentRoot, 'plugins', DRIVER);
    await mkdir(folder, { recursive: true });
    const socket = join(folder, 'csi.sock');
    const registration = join(node.agentRoot, 'plugins_registry', `${DRIVER}.sock`);
    const volumes = join(dir, 'volumes');
    const traits = { nodeId: node.name, topology: { [`${DRIVER}/node`]: node.name }, attaches: true };
    const how = [registration, join(dir, 'calls'), '', JSON.stringify(traits), '--disks'];
    const started = processes.start('csi-driver', process.execPath, [MAIN, DRIVER, socket, volumes, ...how]);
    await waitFor(
      'the driver in the CSINode',
      () => isInCsiNode(plane, node.name, DRIVER),
      () => started.tail(),
    );
    for (const [name, args] of Object.entries(HELPERS)) {
      const program = await referenceTool(name as keyof typeof HELPERS);
      const common = ['--kubeconfig', plane.adminKubeconfig, '--csi-address', socket, ...RATE];
      processes.start(name, program, [...common, ...args], { NAMESPACE: 'default' });
    }
    const definition = join(dir, 'driver.json');
    await writeFile(definition, JSON.stringify(DEFINITION));
    return { definition, logs: processes.logs, stop: () => processes.stop() };
  } catch (error) {
    await processes.stop();
    throw error;
  }
}

/** Loop devices of files whose paths begin so. */
async function devicesOn(beginnings: readonly string[]): Promise<string[]> {
  const { stdout } = await promisify(execFile)('losetup', ['-l', '-n', '-O', 'NAME,BACK-FILE']);
  return stdout.split('\n').flatMap((line) => {
    const [name = '', ...file] = line.trim().split(/\s+/);
    return beginnings.some((begin) => file.join(' ').startsWith(begin)) ? [name] : [];
  });
}
