import { constants } from 'node:fs';
import { access, mkdir, readFile, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../../machines/values/message-of.ts';
import { fail, ok, warn } from './check.ts';
import type { CheckResult } from './check.ts';

const NEEDED = ['cpu', 'cpuset', 'memory', 'pids'] as const;

/** cgroup version, the controllers pods need, and whether a cgroup can be made. */
export async function checkCgroups(root = '/sys/fs/cgroup'): Promise<CheckResult[]> {
  const v2 = await readFile(join(root, 'cgroup.controllers'), 'utf8').catch(() => null);
  if (v2 !== null) return [...versionTwo(v2.trim().split(/\s+/)), await canMake(root)];
  const mounted = await Promise.all(NEEDED.map((name) => exists(join(root, name, 'cgroup.procs'))));
  const missing = NEEDED.filter((_, i) => mounted[i] === false);
  if (missing.length === NEEDED.length) {
    return [fail('cgroups', `no cgroups are mounted at ${root}`, 'Mount them: mount -t cgroup2 none /sys/fs/cgroup.')];
  }
  const version = warn(
    'cgroups',
    'version 1: works, but Kubernetes is leaving it',
    'Nothing must be done (failCgroupV1: false); a machine booted with cgroup v2 is better.',
  );
  return [version, controllers(missing), await canMake(join(root, 'memory'))];
}

function versionTwo(present: readonly string[]): CheckResult[] {
  return [ok('cgroups', 'version 2'), controllers(NEEDED.filter((name) => !present.includes(name)))];
}

function controllers(missing: readonly string[]): CheckResult {
  if (missing.length === 0) return ok('cgroup-controllers', NEEDED.join(', '));
  return fail(
    'cgroup-controllers',
    `missing: ${missing.join(', ')}`,
    'Boot the kernel with them (cgroup_enable=memory on some boards), or mount their hierarchies.',
  );
}

async function canMake(parent: string): Promise<CheckResult> {
  const probe = join(parent, `actorlet-doctor-${process.pid}`);
  try {
    await mkdir(probe);
    await rmdir(probe);
    return ok('cgroup-write', `cgroups can be made in ${parent}`);
  } catch (error) {
    const why = messageOf(error);
    return fail(
      'cgroup-write',
      `no cgroup can be made: ${why}`,
      'Run as root, on the machine or in a privileged container.',
    );
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path, constants.F_OK).then(
    () => true,
    () => false,
  );
}
