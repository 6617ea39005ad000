import type { Logger } from 'pino';
import { ActorletError } from '../../../machines/errors/define.ts';
import { certificateErrors } from '../../../machines/errors/certificate-errors.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { WatchedFile } from '../../cluster/api/watched-file.ts';
import { readKeyPair } from '../../cluster/certificates/key-pair.ts';
import type { KeyPair } from '../../cluster/certificates/key-pair.ts';
import type { PairPaths } from './self-signed.ts';

/**
 * The serving certificate in files. A change counts when certificate and key fit each other; until then, and while a file
 * is missing, the last good pair stays in use (kubelet's dynamic file manager).
 */
export class CertificateFiles {
  private readonly paths: PairPaths;
  private readonly log: Logger;
  private readonly cert: WatchedFile;
  private readonly key: WatchedFile;
  private seen = { cert: '', key: '' };
  private problem = '';
  private pair: KeyPair;

  /** Reads the files. Throws CERT002. */
  constructor(paths: PairPaths, log: Logger) {
    this.paths = paths;
    this.log = log;
    this.cert = new WatchedFile(paths.certFile, 0);
    this.key = new WatchedFile(paths.keyFile, 0);
    try {
      // Nothing new at the first look: both files are empty.
      this.pair = this.read() ?? readKeyPair('', '');
    } catch (cause) {
      throw this.bad(cause);
    }
  }

  /** The last good pair. */
  current(): KeyPair {
    return this.pair;
  }

  /** Looks at the files; true when there is another pair now. */
  look(): boolean {
    try {
      const pair = this.read();
      if (pair !== undefined) this.pair = pair;
      this.problem = '';
      return pair !== undefined;
    } catch (cause) {
      const bad = this.bad(cause);
      if (bad.message !== this.problem)
        this.log.error({ err: bad }, 'Keeping the serving certificate that was read before');
      this.problem = bad.message;
      return false;
    }
  }

  /** A new pair, undefined when nothing has changed. */
  private read(): KeyPair | undefined {
    const [cert, key] = [this.cert.read(true), this.key.read(true)];
    if (cert === this.seen.cert && key === this.seen.key) return undefined;
    const pair = readKeyPair(cert, key);
    this.seen = { cert, key };
    this.log.debug({ certFile: this.paths.certFile, keyFile: this.paths.keyFile }, 'Loaded a new cert/key pair');
    return pair;
  }

  private bad(cause: unknown): ActorletError {
    const reason = messageOf(cause);
    const { certFile: cert, keyFile: key } = this.paths;
    return new ActorletError(certificateErrors.badPair, { cert, key, reason }, { cause });
  }
}
