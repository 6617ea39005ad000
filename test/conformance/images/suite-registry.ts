import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BY_DIGEST } from './pulled-images.ts';
import { ownImageArchive } from '../../../cri/private-containerd/own-images.ts';
import { TestRegistry } from '../../containerd/support/test-registry.ts';
import type { SuiteImages } from './suite-images.ts';

/**
 * A registry on loopback that has the suite's images: what a spec pulls though it is there (policy Always), and what image garbage collection took
 * for a spec before, can be had again.
 */
export async function startSuiteRegistry(images: SuiteImages): Promise<TestRegistry> {
  const registry = await TestRegistry.start({ open: true });
  try {
    for (const archive of [images.archive, images.pulled]) await registry.pushAll(await readFile(archive));
    // containerd 1.6 pins nothing: that of sandboxes may be collected, too.
    await registry.pushAll((await ownImageArchive()).archive);
    return registry;
  } catch (error) {
    await registry.stop();
    throw error;
  }
}

/** containerd's `hosts.toml` for all registries: images come from `host` (`10.0.2.2:5000`), over plain HTTP. */
export function mirrorOf(host: string): string {
  return `[host."http://${host}"]\n  capabilities = ["pull", "resolve"]\n`;
}

/** Makes a folder for containerd's `config_path` in which every registry is that at `host`. */
export async function writeRegistryHosts(folder: string, host: string): Promise<void> {
  await mkdir(join(folder, '_default'), { recursive: true });
  await writeFile(join(folder, '_default/hosts.toml'), mirrorOf(host));
}

/** Arguments of `ctr images`, one call after the other, by which the image that the suite names by its digest is there, and pinned. */
export const PLACE_BY_DIGEST: readonly (readonly string[])[] = [
  ['tag', BY_DIGEST.source, BY_DIGEST.ref],
  ['label', BY_DIGEST.ref, 'io.cri-containerd.pinned=pinned'],
];
