import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitFor } from '../../../tools/wait-for.ts';
import type { FakeApiServer } from '../../api/support/fake-api-server.ts';
import { makeAuthority } from '../../api/support/test-certificates.ts';

/** A CertificateSigningRequest as tests look at it. */
export interface SeenRequest {
  metadata: { name: string; uid: string; generateName?: string };
  spec: { request: string; signerName: string; usages: string[] };
  status?: { certificate?: string; conditions?: { type: string; reason: string; message: string }[] };
}

export const REQUESTS = { group: 'certificates.k8s.io', version: 'v1', resource: 'certificatesigningrequests' };
const COLLECTION = 'certificates.k8s.io/v1/certificatesigningrequests';

/** Plays kube-controller-manager and the one who approves, on a fake API server. */
export class CsrSigner {
  /** Certificate of the authority that signs. */
  readonly caFile: string;
  private readonly server: FakeApiServer;
  private readonly folder: string;
  private readonly caKey: string;
  private serial = 0;

  /** With TLS, the authority is the server's, so that the server knows what it signs. */
  constructor(server: FakeApiServer) {
    this.server = server;
    this.folder = mkdtempSync(join(server.folder, 'signer-'));
    const ca = { cert: join(server.folder, 'ca.crt'), key: join(server.folder, 'ca.key') };
    const { cert, key } = server.url.startsWith('https') ? ca : makeAuthority(this.folder);
    this.caFile = cert;
    this.caKey = key;
  }

  /** Requests in the order of their names. */
  requests(): SeenRequest[] {
    return this.server.store.list({ collection: COLLECTION }) as unknown as SeenRequest[];
  }

  /** Waits for a request that is neither signed nor denied. */
  waitOpen(): Promise<SeenRequest> {
    return waitFor('an open request', () => this.requests().find(({ status }) => status === undefined));
  }

  /** Approves and signs. */
  sign(request: SeenRequest, days = 1): string {
    const certificate = this.issue(Buffer.from(request.spec.request, 'base64').toString(), days);
    const conditions = [{ type: 'Approved', reason: 'Test', message: 'test' }];
    const status = { certificate: Buffer.from(certificate).toString('base64'), conditions };
    this.server.put(REQUESTS, { ...request, status });
    return certificate;
  }

  /** Waits for a request and signs it. */
  async signNext(days = 1): Promise<{ request: SeenRequest; certificate: string }> {
    const request = await this.waitOpen();
    return { request, certificate: this.sign(request, days) };
  }

  /** Denies, or lets the signing fail. */
  refuse(request: SeenRequest, type: 'Denied' | 'Failed'): void {
    this.server.put(REQUESTS, { ...request, status: { conditions: [{ type, reason: 'No', message: 'not you' }] } });
  }

  /** openssl's text of a request. */
  describe(request: SeenRequest): string {
    return openssl(['req', '-noout', '-text', '-verify'], Buffer.from(request.spec.request, 'base64').toString());
  }

  private issue(pem: string, days: number): string {
    const file = join(this.folder, `${String(++this.serial)}.csr`);
    writeFileSync(file, pem);
    const by = ['-CA', this.caFile, '-CAkey', this.caKey, '-set_serial', String(1000 + this.serial)];
    return openssl(['x509', '-req', '-in', file, ...by, '-days', String(days), '-copy_extensions', 'copy'], '');
  }
}

/** Makes a pair for a subject, signed by a signer's authority; `days` may be negative: then it has expired. */
export function issuePair(server: FakeApiServer, subject: string, days: number): { cert: string; key: string } {
  const folder = mkdtempSync(join(server.folder, 'pair-'));
  try {
    const [key, csr, cert] = ['key', 'csr', 'crt'].map((ending) => join(folder, `p.${ending}`)) as [
      string,
      string,
      string,
    ];
    const ec = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
    openssl(['req', '-new', ...ec, '-subj', subject, '-keyout', key, '-out', csr], '');
    const ca = ['-CA', join(server.folder, 'ca.crt'), '-CAkey', join(server.folder, 'ca.key'), '-set_serial', '77'];
    openssl(['x509', '-req', '-in', csr, ...ca, '-days', String(days), '-out', cert], '');
    return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function openssl(args: readonly string[], input: string): string {
  return execFileSync('openssl', args, { input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'pipe'] });
}
