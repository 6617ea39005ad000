import type { Logger } from 'pino';
import { ActorletError } from '../../../machines/errors/define.ts';
import { certificateErrors } from '../../../machines/errors/certificate-errors.ts';
import { createApiClient } from '../api/create-api-client.ts';
import { loadKubeconfig } from '../api/kubeconfig.ts';
import type { Kubeconfig } from '../api/kubeconfig.ts';
import type { KubeletConfiguration } from '../../configure/configuration/kubelet-configuration.ts';
import type { KubeletFlags } from '../../configure/configuration/kubelet-flags.ts';
import { bootstrapClientConfig } from './bootstrap-client.ts';
import { startClientRotation } from './client-rotation.ts';
import type { ClientRotation } from './client-rotation.ts';

/** What the way to the API server is made from. */
export interface ApiAccessOptions {
  flags: Pick<KubeletFlags, 'kubeconfig' | 'bootstrapKubeconfig' | 'certDir'>;
  config: Pick<KubeletConfiguration, 'rotateCertificates'>;
  nodeName: string;
  userAgent: string;
  log: Logger;
  /** See {@link startClientRotation}. */
  onHopeless: () => void;
}

/** The way to the API server. */
export interface ApiAccess {
  kubeconfig: Kubeconfig;
  /** null without `rotateCertificates`. */
  rotation: ClientRotation | null;
}

/**
 * The way to the API server by flags and configuration, with the bootstrap of the client certificate before it where one
 * is asked for (`buildKubeletClientConfig`); null on a standalone node. Without `rotateCertificates` a bootstrap is
 * waited for, with it all happens in the background.
 */
export async function openApiAccess(options: ApiAccessOptions): Promise<ApiAccess | null> {
  const { flags, nodeName, userAgent, log } = options;
  const { kubeconfig, bootstrapKubeconfig, certDir: certDirectory } = flags;
  if (kubeconfig === '') {
    if (bootstrapKubeconfig !== '') throw new ActorletError(certificateErrors.noKubeconfigPath);
    return null;
  }
  const paths = { kubeconfig, bootstrapKubeconfig, certDirectory, nodeName, log };
  const connect = (to: string | Kubeconfig) => createApiClient({ kubeconfig: to, userAgent, log });
  if (options.config.rotateCertificates) {
    const rotation = startClientRotation({ ...paths, connect, onHopeless: options.onHopeless });
    return { kubeconfig: rotation.kubeconfig, rotation };
  }
  if (bootstrapKubeconfig !== '') await bootstrapClientConfig({ ...paths, connect });
  return { kubeconfig: loadKubeconfig(kubeconfig, { log }), rotation: null };
}
