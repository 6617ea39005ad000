import { readFile, rm, writeFile } from 'node:fs/promises';
import { ActorletError } from '../../machines/errors/define.ts';
import { runtimeErrors } from '../../machines/errors/runtime-errors.ts';
import type { ContainerdLayout } from './layout.ts';
import { runCommand } from './run-command.ts';
import { sha256 } from '../image-maker/image-archive.ts';

/** What an import needs of a running containerd. */
export interface ImageTarget {
  ctr: string;
  socket: string;
  snapshotter: string;
}

/**
 * Imports an OCI archive where CRI sees it (namespace `k8s.io`), unpacked, and marks its images as pinned
 * (`io.cri-containerd.pinned`), so that image GC leaves them. Throws RTM009 with what ctr said.
 */
export async function importImages(
  target: ImageTarget,
  archiveFile: string,
  refs: readonly string[],
  logFile = 'its log',
): Promise<void> {
  const base = ['-a', target.socket, '-n', 'k8s.io', 'images'];
  const run = async (args: string[]) => {
    const result = await runCommand(target.ctr, [...base, ...args]);
    if (result.code !== 0) {
      throw new ActorletError(runtimeErrors.imageImportFailed, {
        refs: refs.join(', '),
        output: (result.stderr + result.stdout).trim().slice(-2000),
        log: logFile,
      });
    }
  };
  await run(['import', '--snapshotter', target.snapshotter, archiveFile]);
  await Promise.all(refs.map((ref) => run(['label', ref, 'io.cri-containerd.pinned=pinned'])));
}

/** Imports the archive unless this containerd already holds it (a marker file says which was imported last). */
export async function ensureImages(
  target: ImageTarget,
  layout: ContainerdLayout,
  images: { archive: Buffer; refs: readonly string[] },
): Promise<'present' | 'imported'> {
  const digest = sha256(images.archive);
  if ((await readFile(layout.imageMarker, 'utf8').catch(() => '')) === digest && (await holds(target, images.refs))) {
    return 'present';
  }
  await writeFile(layout.imageArchive, images.archive);
  try {
    await importImages(target, layout.imageArchive, images.refs, layout.log);
  } finally {
    await rm(layout.imageArchive, { force: true });
  }
  await writeFile(layout.imageMarker, digest);
  return 'imported';
}

async function holds(target: ImageTarget, refs: readonly string[]): Promise<boolean> {
  const list = await runCommand(target.ctr, ['-a', target.socket, '-n', 'k8s.io', 'images', 'ls', '-q']);
  const present = new Set(list.stdout.split('\n'));
  return list.code === 0 && refs.every((ref) => present.has(ref));
}
