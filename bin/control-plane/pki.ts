import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../../cri/private-containerd/run-command.ts';

/** Paths of a certificate and its key, PEM. */
export interface KeyPair {
  cert: string;
  key: string;
}

/** A certificate authority of one's own, for two days, made by openssl (which the machine must have). */
export class Pki {
  readonly dir: string;
  readonly ca: KeyPair;
  /** Keys that sign service account tokens, PEM files. */
  readonly serviceAccount: { private: string; public: string };
  private readonly made = new Map<string, Promise<KeyPair>>();

  private constructor(dir: string) {
    this.dir = dir;
    this.ca = { cert: join(dir, 'ca.crt'), key: join(dir, 'ca.key') };
    this.serviceAccount = { private: join(dir, 'sa.key'), public: join(dir, 'sa.pub') };
  }

  static async make(dir: string): Promise<Pki> {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    const pki = new Pki(dir);
    const { ca, serviceAccount } = pki;
    const newCa = ['req', '-x509', ...EC_KEY, '-keyout', ca.key, '-out', ca.cert, '-days', '2', '-subj', '/CN=own-ca'];
    await openssl(newCa);
    await openssl(['genpkey', '-algorithm', 'EC', ...CURVE, '-out', serviceAccount.private]);
    await openssl(['pkey', '-in', serviceAccount.private, '-pubout', '-out', serviceAccount.public]);
    return pki;
  }

  /** A certificate for both ends of TLS: user `commonName` of group `organization`, server of `names` (`DNS:x`, `IP:y`). */
  issue(name: string, commonName: string, organization: string, names: readonly string[] = []): Promise<KeyPair> {
    const earlier = this.made.get(name);
    if (earlier !== undefined) return earlier;
    const made = this.sign(name, `/O=${organization}/CN=${commonName}`, names);
    this.made.set(name, made);
    return made;
  }

  private async sign(name: string, subject: string, names: readonly string[]): Promise<KeyPair> {
    const pair = { cert: join(this.dir, `${name}.crt`), key: join(this.dir, `${name}.key`) };
    const request = join(this.dir, `${name}.csr`);
    const extensions = join(this.dir, `${name}.ext`);
    const alternative = names.length === 0 ? '' : `subjectAltName=${names.join(',')}\n`;
    await writeFile(extensions, `${alternative}extendedKeyUsage=clientAuth,serverAuth\n`);
    await openssl(['req', '-new', ...EC_KEY, '-keyout', pair.key, '-out', request, '-subj', subject]);
    const by = [
      '-CA',
      this.ca.cert,
      '-CAkey',
      this.ca.key,
      '-set_serial',
      `0x${Date.now().toString(16)}${this.made.size}`,
    ];
    await openssl(['x509', '-req', '-in', request, ...by, '-days', '2', '-out', pair.cert, '-extfile', extensions]);
    return pair;
  }
}

const CURVE = ['-pkeyopt', 'ec_paramgen_curve:P-256'];
const EC_KEY = ['-newkey', 'ec', ...CURVE, '-nodes'];

async function openssl(args: readonly string[]): Promise<void> {
  const result = await runCommand('openssl', args);
  if (result.code !== 0)
    throw new Error(`openssl ${args[0] ?? ''} failed (apt-get install openssl?): ${result.stderr}`);
}
