import { USUAL_RUNTIME_SOCKETS, findUsualRuntime } from './usual-sockets.ts';

/** The runtime an agent works with: one that is there, or the private containerd it starts. */
export type RuntimeChoice = { kind: 'endpoint'; endpoint: string } | { kind: 'private' };

/**
 * Which runtime to use. `always` starts the private containerd whatever else there is. Otherwise the endpoint that was
 * given (pass undefined or '' when neither flag nor file names one, not the default of the field), without one a
 * runtime on a usual socket, and last the private containerd (`auto`) or kubelet's default endpoint (`never`).
 */
export async function chooseRuntime(
  mode: 'auto' | 'always' | 'never',
  endpoint: string | undefined,
  sockets: readonly string[] = USUAL_RUNTIME_SOCKETS,
): Promise<RuntimeChoice> {
  if (mode === 'always') return { kind: 'private' };
  if (endpoint !== undefined && endpoint !== '') return { kind: 'endpoint', endpoint };
  const usual = await findUsualRuntime(sockets);
  if (usual !== null) return { kind: 'endpoint', endpoint: usual };
  return mode === 'auto' ? { kind: 'private' } : { kind: 'endpoint', endpoint: `unix://${USUAL_RUNTIME_SOCKETS[0]}` };
}
