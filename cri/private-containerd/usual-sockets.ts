import { stat } from 'node:fs/promises';

/** Sockets that a container runtime usually listens on, in the order in which they are tried. */
export const USUAL_RUNTIME_SOCKETS = [
  '/run/containerd/containerd.sock',
  '/run/crio/crio.sock',
  '/var/run/cri-dockerd.sock',
] as const;

/** The endpoint (`unix://...`) of the first usual socket that exists, or null: then the agent starts its own containerd. */
export async function findUsualRuntime(sockets: readonly string[] = USUAL_RUNTIME_SOCKETS): Promise<string | null> {
  for (const path of sockets) {
    try {
      if ((await stat(path)).isSocket()) return `unix://${path}`;
    } catch {
      // not there: try the next
    }
  }
  return null;
}
