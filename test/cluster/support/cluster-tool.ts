import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { fileURLToPath } from 'node:url';

const BUILD = fileURLToPath(new URL('../../tools/build.sh', import.meta.url));

/** Programs a cluster is made of. */
export type ClusterTool =
  | 'etcd'
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'kube-scheduler'
  | 'kubectl'
  | 'kubelet'
  | 'kubeadm'
  | 'metrics-server'
  | 'stream-client'
  | 'ginkgo'
  | 'e2e.test'
  | 'e2e_node.test'
  | 'agnhost'
  | 'sample-device-plugin'
  | 'nonewprivs';

/** Path of a program, built by test/tools/build.sh when neither the cache nor TEST_ASSET_* has it (minutes, needs Go). */
export async function clusterTool(name: ClusterTool): Promise<string> {
  const { stdout } = await promisify(execFile)(BUILD, [name]);
  return stdout.trim();
}
