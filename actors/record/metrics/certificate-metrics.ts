import type * as PromClient from 'prom-client';
import { Counter, Gauge, Histogram } from './prometheus.ts';

const HOUR = 3600;
const DAY = 24 * HOUR;
const ROTATION = [60, HOUR, 4 * HOUR, ...[1, 7, 30, 90, 180, 360, 1440].map((days) => days * DAY)];

/** Reports of the manager of serving certificates. */
export interface ServerCertificateReports {
  onRotated: (seconds: number) => void;
  onRenewFailure: () => void;
}

/** Registers the metrics of serving certificates by CSR; kubelet has them with `serverTLSBootstrap` only. */
export function serverCertificateMetrics(
  registry: PromClient.Registry,
  ttlSeconds: () => number | null,
): ServerCertificateReports {
  const registers = [registry];
  const errors = new Counter({
    ...{ name: 'kubelet_server_expiration_renew_errors', registers },
    help: 'Failed attempts to renew the serving certificate.',
  });
  const rotation = new Histogram({
    ...{ name: 'kubelet_certificate_manager_server_rotation_seconds', registers, buckets: ROTATION },
    help: 'Age of a serving certificate when the next one took its place.',
  });
  new Gauge({
    ...{ name: 'kubelet_certificate_manager_server_ttl_seconds', registers },
    help: 'What is left of the life of the serving certificate; +Inf without one.',
    collect() {
      this.set(Math.trunc(ttlSeconds() ?? Infinity));
    },
  });
  return { onRotated: (seconds) => rotation.observe(seconds), onRenewFailure: () => errors.inc() };
}

/** Registers the metrics of the rotation of the client certificate; kubelet has them with `rotateCertificates` only. */
export function clientCertificateMetrics(
  registry: PromClient.Registry,
  rotation: { ttlSeconds(): number; renewErrors(): number },
): void {
  const registers = [registry];
  new Gauge({
    ...{ name: 'kubelet_certificate_manager_client_ttl_seconds', registers },
    help: 'What is left of the life of the client certificate; +Inf without one.',
    collect() {
      this.set(Math.trunc(rotation.ttlSeconds()));
    },
  });
  new Counter({
    ...{ name: 'kubelet_certificate_manager_client_expiration_renew_errors', registers },
    help: 'Failed attempts to renew the client certificate.',
    collect() {
      this.reset();
      this.inc(rotation.renewErrors());
    },
  });
}

/** Registers the metric of podCertificate sources; kubelet has it with the gate `PodCertificateRequest` only. */
export function podCertificateMetrics(
  registry: PromClient.Registry,
  certificates: { states(): readonly { signerName: string; state: string; count: number }[] },
): void {
  new Gauge({
    ...{ name: 'kubelet_podcertificate_states', registers: [registry], labelNames: ['signer_name', 'state'] },
    help: 'podCertificate sources of volumes, by signer and state.',
    collect() {
      this.reset();
      for (const { signerName, state, count } of certificates.states())
        this.set({ signer_name: signerName, state }, count);
    },
  });
}
