import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

/**
 * The path of a reference binary, built by build.sh when the cache does not hold it yet (the first kubelet takes
 * minutes). Needs Go only then.
 */
export async function referenceTool(name: 'kubelet' | 'containerd2' | 'cri-client' | 'cri-contract'): Promise<string> {
  const { stdout } = await promisify(execFile)(join(import.meta.dirname, 'build.sh'), [name]);
  return stdout.trim();
}
