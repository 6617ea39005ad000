import { X509Certificate, createPublicKey } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../../../cri/private-containerd/run-command.ts';
import type { ControlPlane } from './control-plane.ts';

/** A `v1beta1.PodCertificateRequest`. */
export interface PodCertificateRequest {
  metadata: { name: string; namespace: string; uid: string; ownerReferences?: object[] };
  spec: {
    signerName: string;
    podName: string;
    podUID: string;
    pkixPublicKey: string;
    nodeName: string;
    unverifiedUserAnnotations?: Record<string, string>;
  };
  status?: { conditions?: { type: string }[] };
}

/** A signer that issues; one that refuses all; one that fails. */
export const SIGNERS = { issues: 'test.example/issues', denies: 'test.example/denies', fails: 'test.example/fails' };

const REQUESTS = '/apis/certificates.k8s.io/v1beta1/podcertificaterequests';
const DAY_MS = 24 * 3600_000;
const REFRESH_MS = 12 * 3600_000;

/** What the cluster has of a signer of pod certificates: it answers each request once, with the test's own authority. */
export class PodSigner {
  /** Requests that were seen, in their order. */
  readonly seen: PodCertificateRequest[] = [];
  /** What went wrong. */
  readonly failures: unknown[] = [];
  private readonly plane: ControlPlane;
  private readonly watch: { stop: () => void };
  private work: Promise<void> = Promise.resolve();

  constructor(plane: ControlPlane) {
    this.plane = plane;
    this.watch = plane.api.watch<PodCertificateRequest>(REQUESTS, ({ type, object }) => {
      if (type !== 'ADDED') return;
      this.seen.push(object);
      this.work = this.work.then(() => this.answer(object)).catch((error: unknown) => void this.failures.push(error));
    });
  }

  async stop(): Promise<void> {
    this.watch.stop();
    await this.work;
  }

  private async answer({ metadata, spec }: PodCertificateRequest): Promise<void> {
    const path = REQUESTS.replace('podcert', `namespaces/${metadata.namespace}/podcert`);
    const condition = (type: string, reason: string, message: string): object => ({
      ...{ type, status: 'True', reason, message, lastTransitionTime: `${new Date().toISOString().slice(0, 19)}Z` },
    });
    let status: object;
    if (spec.signerName === SIGNERS.denies)
      status = { conditions: [condition('Denied', 'Stranger', 'who is "that"?')] };
    else if (spec.signerName === SIGNERS.fails)
      status = { conditions: [condition('Failed', 'NoInk', 'the pen is dry')] };
    else {
      const chain = await this.sign(metadata.name, spec);
      const { validFromDate, validToDate } = new X509Certificate(chain);
      const time = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`;
      status = {
        conditions: [condition('Issued', 'Issued', 'as asked')],
        certificateChain: chain,
        ...{ notBefore: time(validFromDate.getTime()), notAfter: time(validToDate.getTime()) },
        beginRefreshAt: time(Math.min(validToDate.getTime() - DAY_MS / 2, validFromDate.getTime() + REFRESH_MS)),
      };
    }
    await this.plane.api.patch(`${path}/${metadata.name}/status`, { status });
  }

  /** A certificate of the key that was sent, for a day. */
  private async sign(name: string, spec: PodCertificateRequest['spec']): Promise<string> {
    const { dir, ca } = this.plane.pki;
    const [key, certificate] = [join(dir, `${name}.pub`), join(dir, `${name}.crt`)];
    const der = Buffer.from(spec.pkixPublicKey, 'base64');
    const pem = createPublicKey({ key: der, format: 'der', type: 'spki' }).export({ type: 'spki', format: 'pem' });
    await writeFile(key, pem);
    const subject = ['-subj', `/CN=${spec.podName}`, '-set_serial', `0x${spec.podUID.replaceAll('-', '')}`];
    const by = ['-CA', ca.cert, '-CAkey', ca.key, '-days', '1'];
    const args = ['x509', '-new', '-force_pubkey', key, ...subject, ...by, '-out', certificate];
    const { code, stderr } = await runCommand('openssl', args);
    if (code !== 0) throw new Error(`openssl x509 failed: ${stderr}`);
    return readFile(certificate, 'utf8');
  }
}
