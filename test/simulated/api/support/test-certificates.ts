import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Paths of PEM files. */
export interface CertificateFiles {
  cert: string;
  key: string;
}

/** Makes a certificate authority in `folder` (`ca.crt`, `ca.key`) with openssl, as test certificates of the lab are made. */
export function makeAuthority(folder: string): CertificateFiles {
  const files = { cert: join(folder, 'ca.crt'), key: join(folder, 'ca.key') };
  openssl(
    ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '3650'].concat([
      ...['-subj', '/CN=fake-ca', '-keyout', files.key, '-out', files.cert],
    ]),
  );
  return files;
}

/** Makes a certificate signed by the authority; good for a server on 127.0.0.1 and for a client. */
export function makeCertificate(folder: string, name: string, subject: string, ca: CertificateFiles): CertificateFiles {
  const files = { cert: join(folder, `${name}.crt`), key: join(folder, `${name}.key`) };
  const request = join(folder, `${name}.csr`);
  const extensions = join(folder, `${name}.ext`);
  writeFileSync(
    extensions,
    'subjectAltName=DNS:localhost,IP:127.0.0.1,DNS:fake.example\nextendedKeyUsage=clientAuth,serverAuth\n',
  );
  openssl(
    ['req', '-new', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-subj', subject].concat([
      ...['-keyout', files.key, '-out', request],
    ]),
  );
  openssl(
    ['x509', '-req', '-in', request, '-CA', ca.cert, '-CAkey', ca.key, '-CAcreateserial', '-days', '3650'].concat([
      ...['-extfile', extensions, '-out', files.cert],
    ]),
  );
  return files;
}

function openssl(args: string[]): void {
  execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'] });
}
