import type { Logger } from 'pino';
import { ActorletError } from '../../../machines/errors/define.ts';
import { certificateErrors } from '../../../machines/errors/certificate-errors.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { isAlreadyExists } from '../api/api-client.ts';
import type { ApiClient } from '../api/api-client.ts';
import { Reflector } from '../api/reflector.ts';
import { certificatesIn } from './key-pair.ts';
import type { RequestTemplate } from './request-template.ts';
import type { SignerName } from './csr-name.ts';
import { compareRequest } from './x509.ts';

/** `certificates.k8s.io/v1` CertificateSigningRequest, as far as it is read. */
interface SigningRequest {
  metadata: { name: string; uid: string };
  spec: { request: string; signerName?: string };
  status?: {
    certificate?: string;
    conditions?: { type: string; reason?: string; message?: string }[];
  };
}

/** The request as the server has it. */
export interface RequestRef {
  name: string;
  uid: string;
}

/** What is asked of the signer. */
export interface RequestWish {
  api: ApiClient;
  /** PEM. */
  request: string;
  /** A fixed name, so that a request that waits already is found again; '' = `csr-` and what the server adds. */
  name: string;
  signer: SignerName;
  usages: readonly string[];
  template: RequestTemplate;
  /** PEM of the key that signed the request. */
  key: string;
  now: () => number;
  log: Logger;
  /** Ends the requests. */
  signal?: AbortSignal;
}

const REQUESTS = { group: 'certificates.k8s.io', version: 'v1', resource: 'certificatesigningrequests' };

/**
 * Creates the request, or finds the one of this name that was made with the same key. Rejects with the
 * `ApiStatusError` of the server, or with CERT011 when the other one cannot be ours.
 */
export async function createRequest(wish: RequestWish): Promise<RequestRef> {
  const { api, name, log, signal } = wish;
  const ended = signal === undefined ? {} : { signal };
  const body = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: name === '' ? { generateName: 'csr-' } : { name },
    spec: { request: base64(wish.request), signerName: wish.signer, usages: wish.usages },
  };
  try {
    return refOf(await api.request<SigningRequest>({ method: 'POST', on: REQUESTS, body, ...ended }));
  } catch (error) {
    if (!isAlreadyExists(error) || name === '') throw error;
  }
  log.info({ name }, 'csr for this node already exists, reusing');
  const found = await api.request<SigningRequest>({ method: 'GET', on: REQUESTS, name, ...ended });
  const reason = await incompatible(found, wish);
  if (reason !== '') throw new ActorletError(certificateErrors.notCompatible, { name, reason });
  log.info({ name }, 'csr for this node is still valid');
  return refOf(found);
}

/**
 * Waits until the request is approved and the certificate is issued; resolves with its PEM. Rejects with CERT012 to
 * CERT014 when it never will be. An API server that is away is waited for; `signal` ends the wait (rejects with its reason).
 */
export function waitForCertificate(api: ApiClient, ref: RequestRef, log: Logger, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const watch = new Reflector<SigningRequest>({
      api,
      on: REQUESTS,
      fieldSelector: `metadata.name=${ref.name}`,
      log,
      onSync: (objects) => objects.forEach(look),
      onEvent: ({ type, object }) => {
        if (type === 'DELETED') end(() => reject(new ActorletError(certificateErrors.csrGone, { name: ref.name })));
        else look(object);
      },
    });
    const abort = (): void => end(() => reject(signal.reason as Error));
    const end = (settle: () => void): void => {
      watch.stop();
      signal.removeEventListener('abort', abort);
      settle();
    };
    const look = (object: SigningRequest): void => {
      try {
        const issued = outcome(object, ref, log);
        if (issued !== undefined) end(() => resolve(issued));
      } catch (error) {
        end(() => reject(error as Error));
      }
    };
    if (signal.aborted) {
      reject(signal.reason as Error);
      return;
    }
    signal.addEventListener('abort', abort, { once: true });
    watch.start();
  });
}

/** The certificate, undefined while it is not there; throws when it never will be. */
function outcome(object: SigningRequest, ref: RequestRef, log: Logger): string | undefined {
  const { name } = ref;
  if (object.metadata.uid !== ref.uid) throw new ActorletError(certificateErrors.csrGone, { name });
  const conditions = object.status?.conditions ?? [];
  for (const { type, reason = '', message = '' } of conditions) {
    if (type === 'Denied') throw new ActorletError(certificateErrors.denied, { name, reason, message });
    if (type === 'Failed') throw new ActorletError(certificateErrors.failed, { name, reason, message });
  }
  if (!conditions.some(({ type }) => type === 'Approved')) return undefined;
  const certificate = object.status?.certificate ?? '';
  log.debug(
    { csr: name },
    `Certificate signing request is ${certificate === '' ? 'approved, waiting to be issued' : 'issued'}`,
  );
  return certificate === '' ? undefined : Buffer.from(certificate, 'base64').toString('utf8');
}

async function incompatible(found: SigningRequest, wish: RequestWish): Promise<string> {
  const signer = found.spec.signerName ?? '';
  if (signer !== '' && signer !== wish.signer) return `csr signerNames differ: new ${signer}, orig: ${wish.signer}`;
  const text = Buffer.from(found.spec.request, 'base64').toString('utf8');
  const differs = await compareRequest(text, wish.key, wish.template);
  const certificate = found.status?.certificate ?? '';
  if (differs !== '' || certificate === '') return differs;
  try {
    const late = certificatesIn(Buffer.from(certificate, 'base64').toString('utf8')).find(
      ({ validToDate }) => wish.now() > validToDate.getTime(),
    );
    return late === undefined ? '' : `one of the certificates for the CSR has expired: ${late.validTo}`;
  } catch (error) {
    return `error parsing signed certificate for CSR: ${messageOf(error)}`;
  }
}

function refOf({ metadata: { name, uid } }: SigningRequest): RequestRef {
  return { name, uid };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
