import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ignoring } from './host-failure.ts';
import { runCommand } from './mounts.ts';

/** Detaches each loop device that stands on this file, as kubelet's lock on a block volume does. */
export async function detachLoopsOf(path: string): Promise<void> {
  for (const name of (await ignoring(readdir('/sys/block'), 'ENOENT')) ?? []) {
    if (!/^loop\d+$/.test(name)) continue;
    const backing = await ignoring(readFile(join('/sys/block', name, 'loop/backing_file'), 'utf8'), 'ENOENT', 'ENXIO');
    // The kernel adds this to a file whose mount was taken away.
    if (backing?.trimEnd().replace(/ \(deleted\)$/, '') !== path) continue;
    await runCommand('losetup', 'Losetup', 'Detaching', ['-d', `/dev/${name}`]);
  }
}
