import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { ActorletError } from '../../../machines/errors/define.ts';
import { certificateErrors } from '../../../machines/errors/certificate-errors.ts';
import { SECRET_MODE, placeFile } from '../../host/files/private-files.ts';
import { makeSelfSigned } from '../../cluster/certificates/x509.ts';

/** Paths of a certificate and its key. */
export interface PairPaths {
  certFile: string;
  keyFile: string;
}

/**
 * `kubelet.crt` and `kubelet.key` of `--cert-dir`: those that are there, else new ones for the node's name. Rejects with
 * CERT003 when only one of them can be read. They are valid for a year and not replaced after that, as with kubelet.
 */
export async function selfSignedPair(directory: string, host: string, now: number, log: Logger): Promise<PairPaths> {
  const certFile = join(directory, 'kubelet.crt');
  const keyFile = join(directory, 'kubelet.key');
  const [cert, key] = [readable(certFile), readable(keyFile)];
  if (cert !== key) {
    const [missing, present] = cert ? [keyFile, certFile] : [certFile, keyFile];
    throw new ActorletError(certificateErrors.halfOnDisk, { missing, present });
  }
  if (cert) return { certFile, keyFile };
  const made = await makeSelfSigned(host, now);
  placeFile(keyFile, made.key, SECRET_MODE);
  placeFile(certFile, made.cert, 0o644);
  log.info({ TLSCertFile: certFile, TLSPrivateKeyFile: keyFile }, 'Using self-signed cert');
  return { certFile, keyFile };
}

function readable(path: string): boolean {
  try {
    closeSync(openSync(path, 'r'));
    return true;
  } catch {
    return false;
  }
}
