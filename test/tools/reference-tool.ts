import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** A binary that build.sh makes. */
export type ReferenceTool =
  | 'kubelet'
  | 'containerd2'
  | 'cri-client'
  | 'cri-contract'
  | 'csi-sanity'
  | 'csi-attacher'
  | 'csi-provisioner'
  | 'csi-resizer'
  | 'csi-node-driver-registrar'
  | 'csi-mock-driver'
  | 'coredns'
  | 'fake-logind'
  | 'kube-proxy'
  | 'sample-apiserver'
  | 'kwok'
  | 'kubemark';

/**
 * The path of a reference binary, built by build.sh when the cache does not hold it yet (the first kubelet takes
 * minutes). Needs Go only then.
 */
export async function referenceTool(name: ReferenceTool): Promise<string> {
  const { stdout } = await promisify(execFile)(join(import.meta.dirname, 'build.sh'), [name]);
  return stdout.trim();
}

/** Exit code of build.sh for a tool that bin/test does not build for the layer that uses it. */
const NOT_PREPARED = 3;

/**
 * Why a test that needs this tool must be skipped on this machine: a sentence for `skip`; false when it is there. Throws when
 * bin/test does not build it for this layer: that would be so on every machine where nothing is cached.
 */
export async function lacksTool(name: ReferenceTool): Promise<string | false> {
  try {
    await referenceTool(name);
    return false;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === NOT_PREPARED) throw error;
    const told = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : String(error);
    return `needs ${name}: ${told.split('\n').at(-1) ?? ''}`;
  }
}
