import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { configErrors } from '../../../machines/errors/config-errors.ts';
import { ActorletError } from '../../../machines/errors/define.ts';
import { cgroupVersionOf } from '../../configure/configuration/cgroup-version.ts';
import type { KubeletConfiguration } from '../../configure/configuration/kubelet-configuration.ts';
import { KERNEL_FILES, type KernelFiles, moveToCgroup, runsInHost } from './process-cgroup.ts';

/** The fields that concern the agent's own process. */
export type ProcessConfiguration = Pick<
  KubeletConfiguration,
  'oomScoreAdj' | 'maxOpenFiles' | 'failSwapOn' | 'kubeletCgroups'
>;

/**
 * Prepares the agent's own process as kubelet does: root check, swap check, OOM score, open files, own cgroup.
 * Rejects only for swap that is on with `failSwapOn` (CFG031); all else is logged and tolerated, as kubelet does.
 */
export async function setUpProcess(
  config: ProcessConfiguration,
  log: Logger,
  files: KernelFiles = KERNEL_FILES,
): Promise<void> {
  checkRoot(log);
  checkSwap(config.failSwapOn, log, files);
  setOomScore(config.oomScoreAdj, log, files);
  setOpenFiles(config.maxOpenFiles, log);
  if (config.kubeletCgroups !== '') await enterCgroup(config.kubeletCgroups, log, files);
}

/** True when the process is root; otherwise logs kubelet's error. kubelet goes on then, and so do we. */
export function checkRoot(log: Logger, uid: number = process.getuid?.() ?? 0): boolean {
  if (uid === 0) return true;
  log.error({ err: new ActorletError(configErrors.notRoot, { uid }) }, 'Kubelet running with insufficient permissions');
  return false;
}

/** Throws CFG031 when swap is in use and `failSwapOn` is set; returns whether swap is in use. */
export function checkSwap(failSwapOn: boolean, log: Logger, files: KernelFiles = KERNEL_FILES): boolean {
  let content: string;
  try {
    content = readFileSync(join(files.proc, 'swaps'), 'utf8');
  } catch (err) {
    log.warn({ err }, 'File does not exist, assuming that swap is disabled');
    return false;
  }
  // The first line is the table's head.
  const swaps = content.trim().split('\n').slice(1);
  if (swaps.length === 0) return false;
  log.info({ '/proc/swaps contents': content.trim() }, 'Swap is on');
  if (failSwapOn) {
    const names = swaps.map((line) => line.split(/\s+/)[0]).join(', ');
    throw new ActorletError(configErrors.swapOn, { swaps: names });
  }
  return true;
}

/** Writes `oomScoreAdj`. Lowering it needs CAP_SYS_RESOURCE: a failure is a warning. */
export function setOomScore(score: number, log: Logger, files: KernelFiles = KERNEL_FILES): boolean {
  const path = join(files.proc, 'self/oom_score_adj');
  try {
    writeFileSync(path, String(score));
    return true;
  } catch (err) {
    log.warn({ err, path, oomScoreAdj: score }, 'Failed to ApplyOOMScoreAdj');
    return false;
  }
}

/** Sets the limit of open files with util-linux's `prlimit`; Node has no call for it. A failure is a warning. */
export function setOpenFiles(limit: number, log: Logger, program = 'prlimit'): boolean {
  const run = spawnSync(program, ['--pid', String(process.pid), `--nofile=${limit}:${limit}`], { encoding: 'utf8' });
  if (run.status === 0) return true;
  const err = run.error ?? new Error(run.stderr.trim());
  log.warn({ err, maxOpenFiles: limit }, 'Failed to set rlimit on max file handles');
  return false;
}

/** Moves the agent into `kubeletCgroups`, unless it runs in a container itself. A failure is logged. */
export async function enterCgroup(path: string, log: Logger, files: KernelFiles = KERNEL_FILES): Promise<boolean> {
  try {
    if (!runsInHost(process.pid, files)) {
      log.debug({ pid: process.pid }, 'PID is not running in the host namespace');
      return false;
    }
    await moveToCgroup(process.pid, path, cgroupVersionOf(files.cgroup), files);
    return true;
  } catch (err) {
    log.error({ err, cgroup: path }, 'Failed to ensure process in container with oom score');
    return false;
  }
}
