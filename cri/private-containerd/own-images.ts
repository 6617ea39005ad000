import { runCommand } from './run-command.ts';
import { imageArchive } from '../image-maker/image-archive.ts';
import type { ImageSource } from '../image-maker/image-archive.ts';
import { busyboxLayer, findStaticBusybox } from '../image-maker/root-filesystem.ts';

/** The sandbox image of the private containerd. */
export const PAUSE_IMAGE = 'localhost/actorlet/pause:1';
/** A shell and the usual tools, from the machine's own busybox: for the demo, for tests and for debugging. */
export const BUSYBOX_IMAGE = 'localhost/actorlet/busybox:1';

const PATH_ENV = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/**
 * Holds a sandbox open: sleeps without using the processor, reaps what is left to it as pid 1 (a shell's `wait`
 * collects every child), and ends with 0 at once on SIGTERM or SIGINT.
 */
export const PAUSE_SCRIPT = 'trap "kill $!; exit 0" TERM INT; while :; do sleep 2147483647 & wait $!; done';

/** The images that need no registry, both on the one busybox layer. Throws RTM008 when there is no static busybox. */
export async function ownImages(busybox?: string): Promise<ImageSource[]> {
  const program = busybox ?? (await findStaticBusybox());
  const applets = (await runCommand(program, ['--list'])).stdout.split('\n').filter((name) => name !== '');
  const layers = [await busyboxLayer(program, applets)];
  return [
    {
      ref: PAUSE_IMAGE,
      config: { Entrypoint: ['/bin/busybox', 'sh', '-c', PAUSE_SCRIPT], Env: [PATH_ENV], User: '65535:65535' },
      layers,
    },
    { ref: BUSYBOX_IMAGE, config: { Cmd: ['sh'], Env: [PATH_ENV] }, layers },
  ];
}

/** {@link ownImages} as an OCI archive, and their references. */
export async function ownImageArchive(busybox?: string): Promise<{ archive: Buffer; refs: string[] }> {
  const images = await ownImages(busybox);
  return { archive: await imageArchive(images), refs: images.map(({ ref }) => ref) };
}
