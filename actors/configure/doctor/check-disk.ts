import type { StatsFs } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { fail, ok, warn } from './check.ts';
import type { CheckResult } from './check.ts';

const GIB = 1024 ** 3;

/** Free space where the root dir is or will be; kubelet's hard eviction begins below 10 % of it. */
export async function checkDisk(rootDir: string): Promise<CheckResult> {
  const { path, stats } = await existing(resolve(rootDir));
  const free = stats.bavail * stats.bsize;
  const total = stats.blocks * stats.bsize;
  const detail = `${(free / GIB).toFixed(1)} of ${(total / GIB).toFixed(1)} GiB are free at ${path}`;
  if (free < 0.2 * GIB) return fail('disk', detail, 'Free some space, or choose a --root-dir on another disk.');
  if (free < total * 0.1) {
    return warn('disk', detail, 'Free some space: below 10 % (nodefs.available) pods are evicted.');
  }
  return ok('disk', detail);
}

async function existing(path: string): Promise<{ path: string; stats: StatsFs }> {
  try {
    return { path, stats: await statfs(path) };
  } catch (error) {
    if (path === '/') throw error;
    return existing(dirname(path));
  }
}
