import type { Logger } from 'pino';
import type { ApiClient } from '../api/api-client.ts';
import { loadKubeconfig } from '../api/kubeconfig.ts';
import type { Kubeconfig } from '../api/kubeconfig.ts';
import { writeNodeKubeconfig } from './bootstrap-kubeconfig.ts';
import { clientStore } from './bootstrap-client.ts';
import { CertificateManager } from './certificate-manager.ts';
import { certificateOf, isStillValid } from './client-config.ts';
import { realClock } from './clock.ts';
import type { Clock } from './clock.ts';
import { nodeTemplate } from './request-template.ts';
import { RotatingCredentials } from './rotating-credentials.ts';

/** What the rotation of the client certificate works with. */
export interface ClientRotationOptions {
  /** `--kubeconfig`. */
  kubeconfig: string;
  /** `--bootstrap-kubeconfig`, '' for none. */
  bootstrapKubeconfig: string;
  /** `--cert-dir`. */
  certDirectory: string;
  nodeName: string;
  /** Makes a client of the API server. */
  connect: (kubeconfig: Kubeconfig) => ApiClient;
  /**
   * There was no valid certificate for five minutes though the API server answers: kubelet ends then, so that whoever
   * starts it may bring new credentials.
   */
  onHopeless: () => void;
  log: Logger;
  clock?: Clock;
}

/** The rotation of the client certificate of a running agent. */
export interface ClientRotation {
  /** The way to the API server, always with the newest certificate. */
  readonly kubeconfig: Kubeconfig;
  /** `kubelet_certificate_manager_client_ttl_seconds`: infinite without a certificate. */
  ttlSeconds(): number;
  /** `kubelet_certificate_manager_client_expiration_renew_errors`. */
  renewErrors(): number;
  stop(): Promise<void>;
}

const CHECK_MS = 10_000;
const HOPELESS_AFTER_MS = 5 * 60_000;

/**
 * Starts `rotateCertificates`: the certificate comes from the store or, for kubeadm, from the kubeconfig, and is requested
 * in the background, with the bootstrap's credentials while there is none. Writes the kubeconfig when a bootstrap is
 * given and the kubeconfig is missing or no longer valid. Throws an ActorletError for files that cannot be used.
 */
export function startClientRotation(options: ClientRotationOptions): ClientRotation {
  const { log, certDirectory, connect } = options;
  const clock = options.clock ?? realClock;
  log.info('Client rotation is on, will bootstrap in background');
  const requestsWith = prepare(options, clock.now());
  const { cert, key } = certificateOf(options.kubeconfig);
  const fileOf = (part: typeof cert): string => (part !== undefined && 'file' in part ? part.file : '');
  const credentials = new RotatingCredentials(() => manager.current());
  const kubeconfig = loadKubeconfig(options.kubeconfig, { log, credentials });
  let renewErrors = 0;
  const manager: CertificateManager = new CertificateManager({
    signer: 'kubernetes.io/kube-apiserver-client-kubelet',
    store: clientStore(certDirectory, log, fileOf(cert), fileOf(key)),
    template: () => nodeTemplate(options.nodeName),
    api: (current) => {
      const api = connect(current === null ? loadKubeconfig(requestsWith, { log }) : kubeconfig);
      return { api, release: () => api.close() };
    },
    ...(cert !== undefined && key !== undefined && 'text' in cert && 'text' in key
      ? { initial: { cert: cert.text, key: key.text } }
      : {}),
    onChange: () => {
      credentials.changed();
      log.info('Certificate rotation detected, new connections to the API server use the new credentials');
    },
    onRenewFailure: () => renewErrors++,
    log,
    clock,
  });
  manager.start();
  const stopWatch = watchHope(manager, options, clock);
  return {
    kubeconfig,
    ttlSeconds: () => manager.ttlSeconds(),
    renewErrors: () => renewErrors,
    stop: () => {
      stopWatch();
      return manager.stop();
    },
  };
}

/** The kubeconfig to request a first certificate with; afterwards `--kubeconfig` exists (`LoadClientConfig`). */
function prepare(options: ClientRotationOptions, now: number): string {
  const { kubeconfig, bootstrapKubeconfig, certDirectory, log } = options;
  if (bootstrapKubeconfig === '') {
    log.debug('No bootstrapping requested, will use kubeconfig');
    return kubeconfig;
  }
  if (isStillValid(kubeconfig, log, now)) {
    log.debug('Current kubeconfig file contents are still valid, no bootstrap necessary');
    return kubeconfig;
  }
  writeNodeKubeconfig(bootstrapKubeconfig, kubeconfig, clientStore(certDirectory, log).currentPath);
  log.debug('Use the bootstrap credentials to request a cert, and set kubeconfig to point to the certificate dir');
  return bootstrapKubeconfig;
}

/** Looks each ten seconds whether there is a certificate, or may be one. Returns what ends it. */
function watchHope(manager: CertificateManager, options: ClientRotationOptions, clock: Clock): () => void {
  const { log } = options;
  const ending = new AbortController();
  let lastAvailable = { at: clock.now(), steady: clock.steady() };
  const look = async (): Promise<void> => {
    for (;;) {
      await clock.sleep(CHECK_MS, ending.signal);
      if (ending.signal.aborted) return;
      if (manager.current() !== null) lastAvailable = { at: clock.now(), steady: clock.steady() };
      if (clock.steady() <= lastAvailable.steady + HOPELESS_AFTER_MS) continue;
      const since = { lastCertificateAvailabilityTime: new Date(lastAvailable.at).toISOString() };
      if (manager.serverHealthy()) {
        log.error(since, 'No valid client certificate is found and the server is responsive, exiting.');
        options.onHopeless();
        return;
      }
      log.error(
        since,
        'No valid client certificate is found but the server is not responsive. A restart may be necessary to retrieve new initial credentials.',
      );
    }
  };
  void look();
  return () => ending.abort();
}
