/**
 * What the process is called in the lists of processes: an agent that was started by the name of kubelet is found by it (`pidof kubelet`,
 * `ps`), as scripts that watch over a node look for it. Null when it keeps the name that the kernel gave it.
 * @param env has `ACTORLET_CALLED` from the launcher
 */
export function processTitle(env: NodeJS.ProcessEnv, args: readonly string[]): string | null {
  return env['ACTORLET_CALLED'] === 'kubelet' ? ['kubelet', ...args].join(' ') : null;
}
