import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { ImageSource } from '../../../cri/image-maker/image-archive.ts';
import { PAUSE_SCRIPT } from '../../../cri/private-containerd/own-images.ts';
import { busyboxLayer, findStaticBusybox } from '../../../cri/image-maker/root-filesystem.ts';
import { clusterTool } from '../../cluster/support/cluster-tool.ts';
import { agnhostLayer, commandsOf, debianRoot, fileIn, pageLayer, programLayer, shellLayer } from './debian-layers.ts';
import { fakeRegistryLayer } from './fake-registry.ts';
import { fingerprint, keptArchive } from './image-cache.ts';
import { BY_DIGEST, pulledImages } from './pulled-images.ts';
import { SUITE } from './suite-refs.ts';

const TOOLS = fileURLToPath(new URL('../../tools', import.meta.url));
const ENV = ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'];
const SETUID_ROOT = 0o4755;
const PROGRAM = 0o755;

/** Archives of the suite's images. */
export interface SuiteImages {
  /** All that its specs for nodes run. */
  archive: string;
  /** What is only ever pulled. */
  pulled: string;
}

/** References by what stands behind them; the tags are those of the suite's release (test/utils/image/manifest.go). */
const REFS = {
  pause: ['registry.k8s.io/pause:3.10.1'],
  busybox: ['1.37.0-1', '1.36.1-1'].map((tag) => `${SUITE}/busybox:${tag}`),
  byDigest: [BY_DIGEST.source],
  agnhost: ['2.59', '2.55'].map((tag) => `${SUITE}/agnhost:${tag}`),
  dnsutils: [`${SUITE}/jessie-dnsutils:1.7`],
  ipcutils: [`${SUITE}/ipc-utils:1.3`],
  kitten: [`${SUITE}/kitten:1.7`],
  nautilus: [`${SUITE}/nautilus:1.7`],
  nginx: ['1.14-4', '1.15-4'].map((tag) => `${SUITE}/nginx:${tag}`),
  nonewprivs: [`${SUITE}/nonewprivs:1.3`],
  nonroot: [`${SUITE}/nonroot:1.4`],
  devices: ['1.7', '1.8'].map((tag) => `${SUITE}/sample-device-plugin:${tag}`),
} as const;

/**
 * The suite's images, made on this machine from a Debian userland and the programs of the Go module, as no registry is
 * reachable. Kept outside the checkout, by what they are made of.
 */
export async function suiteImages(): Promise<SuiteImages> {
  const parts = {
    debian: await debianRoot(),
    busybox: await findStaticBusybox(),
    agnhost: await clusterTool('agnhost'),
    nonewprivs: await clusterTool('nonewprivs'),
    devices: await clusterTool('sample-device-plugin'),
  };
  const mark = await fingerprint(Object.values(parts), [
    ...['suite-images.ts', 'debian-layers.ts', 'fake-registry.ts', 'pulled-images.ts'],
  ]);
  const [archive, pulled] = await Promise.all([
    keptArchive(`suite-${mark}.tar`, () => sources(parts)),
    keptArchive(`pulled-${mark}.tar`, async () =>
      pulledImages(await readFile(parts.debian), await busyboxLayer(parts.busybox, [])),
    ),
  ]);
  return { archive, pulled };
}

type Parts = Record<'debian' | 'busybox' | 'agnhost' | 'nonewprivs' | 'devices', string>;

async function sources({ debian, busybox, agnhost, nonewprivs, devices }: Parts): Promise<ImageSource[]> {
  const { stdout } = await promisify(execFile)(busybox, ['--list']);
  const applets = stdout.split('\n').filter((name) => name !== '');
  const userland = await readFile(debian);
  const small = await busyboxLayer(busybox, applets);
  const pause = { Entrypoint: ['/bin/busybox', 'sh', '-c', PAUSE_SCRIPT], Env: ENV, User: '65535:65535' };
  const folders = await imageFolders();
  const server = [
    userland,
    await agnhostLayer({
      ...{ agnhost, busybox, porter: join(folders, 'agnhost/porter') },
      passwd: await fileIn(debian, './etc/passwd'),
      group: await fileIn(debian, './etc/group'),
    }),
    await fakeRegistryLayer('pause', 'testing', { config: pause, layers: [small] }),
  ];
  const layers: Record<keyof typeof REFS, Buffer[]> = {
    pause: [small],
    busybox: [userland, await shellLayer({ program: busybox, applets }, await commandsOf(debian))],
    agnhost: server,
    byDigest: [small],
    // Of its tools only `hostname` and `cat` are asked for.
    dnsutils: [userland],
    ipcutils: [userland],
    kitten: [...server, await pageLayer(join(folders, 'kitten/html'))],
    nautilus: [...server, await pageLayer(join(folders, 'nautilus/html'))],
    nginx: [userland],
    nonewprivs: [small, await programLayer('nnp', nonewprivs, SETUID_ROOT)],
    nonroot: [small],
    devices: [small, await programLayer('sampledeviceplugin', devices, PROGRAM)],
  };
  const config: Record<keyof typeof REFS, ImageSource['config']> = {
    pause,
    busybox: { Cmd: ['sh'], Env: ENV },
    agnhost: { Entrypoint: ['/agnhost'], Cmd: ['pause'], Env: ENV },
    byDigest: { Cmd: ['sh'], Env: ENV },
    dnsutils: { Cmd: ['sh'], Env: ENV },
    ipcutils: { Cmd: ['sh'], Env: ENV },
    kitten: { Entrypoint: ['/agnhost'], Cmd: ['test-webserver'], Env: ENV },
    nautilus: { Entrypoint: ['/agnhost'], Cmd: ['test-webserver'], Env: ENV },
    nginx: { Cmd: ['nginx', '-g', 'daemon off;'], Env: ENV },
    nonewprivs: { Entrypoint: ['/nnp'], Env: ENV },
    nonroot: { Cmd: ['id', '-u'], User: '1234', Env: ENV },
    devices: { Entrypoint: ['/sampledeviceplugin', '-alsologtostderr'], Env: ENV },
  };
  return (Object.keys(REFS) as (keyof typeof REFS)[]).flatMap((name) =>
    // Two tags are two images to the specs that change a container's from one to the other.
    REFS[name].map((ref) => ({ ref, config: { ...config[name], Labels: { ref } }, layers: layers[name] })),
  );
}

/** The sources of the suite's images, which are in the module: agnhost's certificate is there, and what the images of kitten and nautilus show. */
async function imageFolders(): Promise<string> {
  const { stdout } = await promisify(execFile)(
    'go',
    ['list', '-mod=readonly', '-m', '-f', '{{.Dir}}', 'k8s.io/kubernetes'],
    { cwd: TOOLS },
  );
  return join(stdout.trim(), 'test/images');
}
