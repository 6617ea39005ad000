import { mkdir, mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { messageOf } from '../../machines/values/message-of.ts';
import { checkCgroups } from '../../actors/configure/doctor/check-cgroups.ts';
import { checkDisk } from '../../actors/configure/doctor/check-disk.ts';
import { checkIptables } from '../../actors/configure/doctor/check-network.ts';
import { checkKubelet, checkNode, checkRoot } from '../../actors/configure/doctor/check-process.ts';
import type { CheckResult } from '../../actors/configure/doctor/check.ts';
import { containerdLayout } from '../../cri/private-containerd/layout.ts';
import { findRuntimeBinaries } from '../../cri/private-containerd/binaries.ts';
import { fail, ok } from '../../actors/configure/doctor/check.ts';
import { findStaticBusybox } from '../../cri/image-maker/root-filesystem.ts';

/** What is missing on this machine for the demo: the failed checks of `actorlet doctor` that concern it. */
export async function missingForDemo(rootDir: string): Promise<CheckResult[]> {
  const results = [
    checkRoot(),
    checkNode(),
    ...(await checkCgroups()),
    await attempt('runtime', () => findRuntimeBinaries()),
    await attempt('busybox', () => findStaticBusybox()),
    await attempt('root-dir', async () => containerdLayout(rootDir)),
    await checkIptables(),
    await checkDisk(rootDir),
    // with the same cgroups and log folders, each would take the other's pods for orphans
    await checkKubelet(),
  ];
  return results.filter(({ level }) => level === 'fail');
}

/** The root dir asked for, which must be new or empty (all in it is removed at the end), or a new temporary one. */
export async function makeRootDir(wanted: string | undefined): Promise<string> {
  if (wanted === undefined) return mkdtemp(join(tmpdir(), 'actorlet-demo-'));
  const dir = resolve(wanted);
  await mkdir(dir, { recursive: true });
  if ((await readdir(dir)).length > 0) {
    throw new Error(`--root-dir ${dir} is not empty; the demo removes all in its folder at the end. Name a new one.`);
  }
  return dir;
}

async function attempt(name: string, body: () => Promise<unknown>): Promise<CheckResult> {
  try {
    await body();
    return ok(name, '');
  } catch (error) {
    return fail(name, messageOf(error), '');
  }
}
