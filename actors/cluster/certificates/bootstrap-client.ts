import { createPublicKey } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { ActorletError } from '../../../machines/errors/define.ts';
import { certificateErrors } from '../../../machines/errors/certificate-errors.ts';
import { ApiStatusError } from '../api/api-client.ts';
import type { ApiClient } from '../api/api-client.ts';
import { writeNodeKubeconfig } from './bootstrap-kubeconfig.ts';
import { CertificateStore } from './certificate-store.ts';
import { isStillValid } from './client-config.ts';
import { realClock } from './clock.ts';
import type { Clock } from './clock.ts';
import { createRequest, waitForCertificate } from './csr-api.ts';
import { bootstrapCsrName, bootstrapUsages } from './csr-name.ts';
import { isKey, readKey } from './key-pair.ts';
import { SECRET_MODE, placeFile } from '../../host/files/private-files.ts';
import { nodeTemplate } from './request-template.ts';
import { makeRequest, newKey } from './x509.ts';

/** What a bootstrap works with. */
export interface BootstrapOptions {
  /** `--kubeconfig`: the file to be written. */
  kubeconfig: string;
  /** `--bootstrap-kubeconfig`. */
  bootstrapKubeconfig: string;
  /** `--cert-dir`. */
  certDirectory: string;
  nodeName: string;
  /** Makes the client of the API server for a kubeconfig. */
  connect: (kubeconfig: string) => ApiClient;
  log: Logger;
  clock?: Clock;
}

/** kubelet keeps the key of a request that waits for approval here. */
const PENDING_KEY = 'kubelet-client.key.tmp';
const SERVER_WAIT_MS = 60_000;
const CERTIFICATE_WAIT_MS = 3_600_000;

/**
 * Obtains the node's client certificate with the credentials of the bootstrap kubeconfig, unless the kubeconfig has a
 * valid one, and writes the kubeconfig (`LoadClientCert`). Waits up to an hour for the approval. Rejects with an
 * ActorletError; an agent that starts again goes on with the same key and the same request.
 */
export async function bootstrapClientConfig(options: BootstrapOptions, signal?: AbortSignal): Promise<void> {
  const { kubeconfig, bootstrapKubeconfig, certDirectory, log } = options;
  const clock = options.clock ?? realClock;
  if (isStillValid(kubeconfig, log, clock.now())) {
    log.debug({ path: kubeconfig }, 'Kubeconfig exists and is valid, skipping bootstrap');
    return;
  }
  log.debug('Using bootstrap kubeconfig to generate TLS client cert, key and kubeconfig file');
  const store = clientStore(certDirectory, log);
  const api = options.connect(bootstrapKubeconfig);
  try {
    const pending = join(certDirectory, PENDING_KEY);
    const key = keyOfStore(store) ?? loadOrMakeKey(pending, log);
    await waitForServer(api, clock, log, signal);
    const certificate = await obtain(options, api, key, clock, signal);
    store.update(certificate, key, new Date(clock.now()));
    rmSync(pending, { force: true });
    writeNodeKubeconfig(bootstrapKubeconfig, kubeconfig, store.currentPath);
  } finally {
    api.close();
  }
}

/** The store of the client certificate; `certFile` and `keyFile` are those of the kubeconfig. */
export function clientStore(directory: string, log: Logger, certFile = '', keyFile = ''): CertificateStore {
  return new CertificateStore({ prefix: 'kubelet-client', directory, certFile, keyFile, log });
}

/** The key of the certificate that has expired serves the next one, too, as in kubelet. */
function keyOfStore(store: CertificateStore): string | undefined {
  try {
    const key = store.current()?.key;
    return key !== undefined && isKey(key) ? key : undefined;
  } catch {
    return undefined;
  }
}

function loadOrMakeKey(file: string, log: Logger): string {
  log.debug('No valid private key and/or certificate found, reusing existing private key or creating a new one');
  try {
    const text = readFileSync(file, 'utf8');
    if (isKey(text)) return text;
    throw new ActorletError(certificateErrors.badStore, { file, reason: 'is no private key' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const key = newKey();
  placeFile(file, key, SECRET_MODE);
  return key;
}

/** A machine that boots may be quicker than its network: for a minute, no answer is no failure. */
async function waitForServer(api: ApiClient, clock: Clock, log: Logger, signal?: AbortSignal): Promise<void> {
  const deadline = clock.steady() + SERVER_WAIT_MS;
  const on = { group: 'certificates.k8s.io', version: 'v1', resource: 'certificatesigningrequests' };
  while (!signal?.aborted) {
    try {
      await api.request({ method: 'GET', on, query: { limit: '1' }, timeoutMs: 1_000, signal });
      return;
    } catch (err) {
      // Any refusal is a sign of life.
      if (err instanceof ApiStatusError && err.status > 0 && err.status < 500) return;
      log.info({ err }, 'Failed to connect to apiserver');
    }
    if (clock.steady() >= deadline) {
      log.info('Error waiting for apiserver to come up: timed out waiting to connect to apiserver');
      return;
    }
    await clock.sleep(2_000 * (1 + 0.2 * clock.random()), signal ?? new AbortController().signal);
  }
}

async function obtain(
  options: BootstrapOptions,
  api: ApiClient,
  key: string,
  clock: Clock,
  signal: AbortSignal | undefined,
): Promise<string> {
  const { log } = options;
  const template = nodeTemplate(options.nodeName);
  const parsed = readKey(key);
  const usages = bootstrapUsages(parsed);
  const name = bootstrapCsrName(createPublicKey(parsed), template, usages);
  const request = await makeRequest(key, template);
  const signer = 'kubernetes.io/kube-apiserver-client-kubelet' as const;
  const now = (): number => clock.now();
  const ref = await createRequest({ api, request, name, signer, usages, template, key, now, log }).catch(
    (error: unknown): never => {
      if (!(error instanceof ApiStatusError)) throw error;
      throw new ActorletError(certificateErrors.cannotRequest, { reason: error.message }, { cause: error });
    },
  );
  log.debug({ csr: ref.name }, 'Waiting for client certificate to be issued');
  const waiting = new AbortController();
  const late = new ActorletError(certificateErrors.notSigned, { name, minutes: CERTIFICATE_WAIT_MS / 60_000 });
  void clock.sleep(CERTIFICATE_WAIT_MS, waiting.signal).then(() => waiting.abort(late));
  try {
    return await waitForCertificate(api, ref, log, signal ? AbortSignal.any([signal, waiting.signal]) : waiting.signal);
  } finally {
    waiting.abort();
  }
}
