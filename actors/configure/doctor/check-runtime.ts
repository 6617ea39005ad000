import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findStaticBusybox } from '../../../cri/image-maker/root-filesystem.ts';
import { findRuntimeBinaries } from '../../../cri/private-containerd/binaries.ts';
import { criAnswers } from '../../../cri/private-containerd/cri-ready.ts';
import { overlayWorks } from '../../../cri/private-containerd/host-facts.ts';
import { containerdLayout } from '../../../cri/private-containerd/layout.ts';
import { findUsualRuntime } from '../../../cri/private-containerd/usual-sockets.ts';
import { ActorletError } from '../../../machines/errors/define.ts';
import { fail, ok, warn } from './check.ts';
import type { CheckResult, DoctorOptions } from './check.ts';

/** The runtime the agent would use: the endpoint given, a usual socket, or a containerd of its own. */
export async function checkRuntime(options: DoctorOptions): Promise<CheckResult[]> {
  const endpoint = options.endpoint ?? (await findUsualRuntime());
  if (endpoint !== null && endpoint !== '') return [await checkEndpoint(endpoint)];
  return [
    await attempt('runtime', async () => {
      containerdLayout(options.rootDir);
      const { containerd, version, cniBinDir } = await findRuntimeBinaries();
      const number = `${version.major}.${version.minor}.${version.patch}`;
      return `no runtime is running; the agent starts its own: ${containerd} ${number}, CNI plugins in ${cniBinDir}`;
    }),
    await attempt('pause-image', async () => `made from ${await findStaticBusybox()}`),
  ];
}

/** A usual runtime's pods go on the overlay; the private containerd falls back to copies, which is slow and large. */
export async function checkOverlay(): Promise<CheckResult> {
  const dir = await mkdtemp(join(tmpdir(), 'actorlet-doctor-'));
  try {
    if (await overlayWorks(dir)) return ok('overlayfs', `works (tried in ${tmpdir()})`);
    return warn('overlayfs', 'cannot be mounted: images are copied for each container', 'Load it: modprobe overlay.');
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function checkEndpoint(endpoint: string): Promise<CheckResult> {
  if (await criAnswers(endpoint)) return ok('runtime', `${endpoint} answers CRI v1`);
  return fail(
    'runtime',
    `${endpoint} does not answer CRI v1`,
    'Start the runtime, see that its CRI plugin is not disabled, or name another with --container-runtime-endpoint.',
  );
}

async function attempt(name: string, body: () => Promise<string>): Promise<CheckResult> {
  try {
    return ok(name, await body());
  } catch (error) {
    if (!(error instanceof ActorletError)) return fail(name, String(error), 'See the cause in the message.');
    const sentence = error.message.lastIndexOf('. ');
    return fail(name, error.message.slice(0, sentence + 1), error.message.slice(sentence + 2));
  }
}
