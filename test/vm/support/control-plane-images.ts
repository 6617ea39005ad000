import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { imageArchive } from '../../../cri/image-maker/image-archive.ts';
import { busyboxLayer, findStaticBusybox } from '../../../cri/image-maker/root-filesystem.ts';
import type { ExtraFile } from '../../../cri/image-maker/root-filesystem.ts';
import { PAUSE_SCRIPT } from '../../../cri/private-containerd/own-images.ts';
import { clusterTool } from '../../cluster/support/cluster-tool.ts';

const run = promisify(execFile);
const ENV = ['PATH=/usr/local/bin:/usr/bin:/bin'];
/** In the image registry of Kubernetes, by the release of our tools. */
const COMPONENTS = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;

/**
 * An archive of the images that `kubeadm init` asks for, but those of its add-ons, made of the programs that the tests build: no registry is
 * reachable. `wanted`: what `kubeadm config images list` prints.
 */
export async function controlPlaneImages(wanted: readonly string[]): Promise<Buffer> {
  const busybox = await findStaticBusybox();
  const image = async (name: string, tool: 'etcd' | (typeof COMPONENTS)[number]) => {
    const program = await clusterTool(tool);
    const layer = await busyboxLayer(
      busybox,
      ['sh', 'cat', 'ls'],
      [
        { path: `usr/local/bin/${tool}`, content: await readFile(program), mode: 0o755 },
        ...(await librariesOf(program)),
      ],
    );
    return {
      ref: reference(wanted, name),
      config: { Entrypoint: [`/usr/local/bin/${tool}`], Env: ENV },
      layers: [layer],
    };
  };
  const pause = {
    ref: reference(wanted, 'pause'),
    config: { Entrypoint: ['/bin/busybox', 'sh', '-c', PAUSE_SCRIPT], Env: ENV, User: '65535:65535' },
    layers: [await busyboxLayer(busybox, ['sh', 'sleep'])],
  };
  return imageArchive([
    pause,
    await image('etcd', 'etcd'),
    ...(await Promise.all(COMPONENTS.map((each) => image(each, each)))),
  ]);
}

function reference(wanted: readonly string[], name: string): string {
  const found = wanted.find((each) => each.includes(`/${name}:`));
  if (found === undefined) throw new Error(`kubeadm asks for no image ${name}: ${wanted.join(', ')}`);
  return found;
}

/** The shared libraries that a program loads, under their own paths. */
async function librariesOf(program: string): Promise<ExtraFile[]> {
  const { stdout } = await run('ldd', [program]);
  const paths = stdout.split('\n').flatMap((line) => /(\/\S+) \(0x/.exec(line)?.[1] ?? []);
  return Promise.all(paths.map(async (path) => ({ path: path.slice(1), content: await readFile(path), mode: 0o755 })));
}
