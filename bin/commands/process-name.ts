import { writeFileSync } from 'node:fs';

/**
 * Names this process in the lists of processes: an agent that was started by the name of kubelet is found by it (`pidof kubelet`,
 * `pgrep -x`, `ps`), as scripts and Kubernetes' own suite look for it. Otherwise it keeps the name that the kernel gave it.
 * @param env has `ACTORLET_CALLED` from the launcher
 */
export function nameProcess(env: NodeJS.ProcessEnv, args: readonly string[]): void {
  if (env['ACTORLET_CALLED'] !== 'kubelet') return;
  process.title = ['kubelet', ...args].join(' ');
  try {
    // The kernel's name, which pidof goes by, has the title's beginning with its flags by now.
    writeFileSync('/proc/self/comm', 'kubelet');
  } catch {
    // Without /proc nobody looks for it there.
  }
}
