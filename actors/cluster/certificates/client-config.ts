import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Logger } from 'pino';
import { clientCertificate } from '../api/kubeconfig-user.ts';
import { loadKubeconfig, readKubeconfig } from '../api/kubeconfig.ts';
import { check } from '../api/kubeconfig-fields.ts';
import { userSchema } from '../api/kubeconfig-schema.ts';
import type { FileOrText } from '../api/file-credentials.ts';
import { certificatesIn } from './key-pair.ts';

/** Where the client certificate of a kubeconfig's user is; nothing for other credentials. Throws as `loadKubeconfig`. */
export function certificateOf(kubeconfig: string): { cert?: FileOrText; key?: FileOrText } {
  const { where, user, userAt } = readKubeconfig(kubeconfig);
  const input = { where, base: dirname(where), under: userAt };
  return clientCertificate(input, check(where, userSchema, user, userAt));
}

/** The PEM of a part of a kubeconfig. Throws the file system's error. */
function textOf(part: FileOrText): string {
  return 'text' in part ? part.text : readFileSync(part.file, 'utf8');
}

/**
 * Whether the node needs no bootstrap (`isClientConfigStillValid`): the kubeconfig is there, can be used, and all its
 * client certificates are still good. One with a token only is not valid in this sense, as in kubelet.
 */
export function isStillValid(kubeconfig: string, log: Logger, now: number): boolean {
  if (!existsSync(kubeconfig)) return false;
  try {
    loadKubeconfig(kubeconfig, { log });
    const { cert } = certificateOf(kubeconfig);
    const certificates = certificatesIn(cert === undefined ? '' : textOf(cert));
    const late = certificates.find(({ validToDate }) => now > validToDate.getTime());
    if (late === undefined) return true;
    log.error(
      { path: kubeconfig, notAfter: late.validToDate.toISOString() },
      'Part of the existing bootstrap client certificate is expired',
    );
  } catch (err) {
    log.error({ err, path: kubeconfig }, 'Unable to read existing bootstrap client config');
  }
  return false;
}
