import { containerdLayout } from './layout.ts';
import { USUAL_RUNTIME_SOCKETS, findUsualRuntime } from './usual-sockets.ts';

/** The runtime an agent works with: one that is there, or the private containerd it starts. */
export type RuntimeChoice = { kind: 'endpoint'; endpoint: string } | { kind: 'private' };

/**
 * Which runtime to use: the endpoint that was given; without one, a runtime on a usual socket; else the private
 * containerd. Naming the private containerd's own socket (`unix://<root-dir>/containerd/containerd.sock`) asks for it
 * even where a usual socket exists.
 */
export async function chooseRuntime(
  rootDir: string,
  endpoint: string | undefined,
  sockets: readonly string[] = USUAL_RUNTIME_SOCKETS,
): Promise<RuntimeChoice> {
  if (endpoint !== undefined && endpoint !== '') {
    const path = endpoint.replace(/^unix:(\/\/)?/, '');
    return isOwnSocket(rootDir, path) ? { kind: 'private' } : { kind: 'endpoint', endpoint };
  }
  const usual = await findUsualRuntime(sockets);
  return usual === null ? { kind: 'private' } : { kind: 'endpoint', endpoint: usual };
}

function isOwnSocket(rootDir: string, path: string): boolean {
  try {
    return containerdLayout(rootDir).socket === path;
  } catch {
    return false; // the path of a private containerd would be too long: then it is not the one that was named
  }
}
