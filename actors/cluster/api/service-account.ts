import { existsSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { ActorletError } from '../../../machines/errors/define.ts';
import { nodesErrors } from '../../../machines/errors/nodes-errors.ts';
import { kubeconfigOf } from './kubeconfig.ts';
import type { Kubeconfig, LoadKubeconfigOptions } from './kubeconfig.ts';

/** Where kubelet mounts what a pod's service account may use (`rest.InClusterConfig` of client-go looks there, too). */
const MOUNTED_AT = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * The way to the API server that a pod has: the address of the service `kubernetes` from the environment, authority and token from the files of
 * the service account. Kubelet writes a new token before the old one ends: the file is looked at again each minute, and when a token is
 * refused. Throws NDS008 where nobody has mounted one, and API006 for a file that is there and cannot be used.
 */
export function serviceAccountAccess(
  options: LoadKubeconfigOptions,
  env: NodeJS.ProcessEnv = process.env,
  folder = MOUNTED_AT,
): Kubeconfig {
  const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '' } = env;
  const token = join(folder, 'token');
  const missing = [
    ...(host === '' || port === '' ? ['KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set'] : []),
    ...(existsSync(token) ? [] : [`${token} is not there`]),
  ];
  if (missing.length > 0) throw new ActorletError(nodesErrors.noWayToServer, { missing: missing.join(', ') });
  return kubeconfigOf(
    {
      where: '(of the service account)',
      cluster: {
        server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
        'certificate-authority': join(folder, 'ca.crt'),
      },
      clusterAt: 'cluster',
      user: { tokenFile: token },
      userAt: 'user',
      namespace: '',
    },
    options,
  );
}
