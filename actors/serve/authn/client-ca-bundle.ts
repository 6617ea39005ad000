import { authErrors } from '../../../machines/errors/auth-errors.ts';
import { ActorletError } from '../../../machines/errors/define.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { WatchedFile } from '../../cluster/api/watched-file.ts';
import { parseCertificate } from './certificate.ts';
import type { Logger } from 'pino';
import type { Certificate } from './certificate.ts';

/** How old the file's content may be when a request comes, ms. */
const LOOK_EVERY_MS = 1_000;

/**
 * The authorities of `authentication.x509.clientCAFile`. The file is looked at when a request comes, at most once a
 * second, so a change counts from then on, also for connections that are open, however it came (written, renamed over,
 * symlink turned). While it is missing or bad, the last good content stays.
 */
export class ClientCaBundle {
  private readonly file: WatchedFile;
  private readonly log: Logger;
  private text: string;
  private loaded: readonly Certificate[];
  private problem = '';

  /** Reads the file. @throws ActorletError AUTH001 when it cannot be read or has no certificate */
  constructor(path: string, log: Logger, steady?: () => number) {
    this.file = new WatchedFile(path, LOOK_EVERY_MS, steady);
    this.log = log;
    try {
      this.text = this.file.read();
      this.loaded = certificatesOf(this.text);
    } catch (cause) {
      throw new ActorletError(authErrors.badClientCa, { path, reason: messageOf(cause) }, { cause });
    }
  }

  /** The authorities now. A new array means a new content. */
  current(): readonly Certificate[] {
    try {
      const text = this.file.read();
      if (text !== this.text) {
        this.text = text;
        this.loaded = certificatesOf(text);
        this.log.info({ path: this.file.path, certificates: this.loaded.length }, 'Loaded a new client CA bundle');
      }
      this.problem = '';
    } catch (error) {
      const reason = messageOf(error);
      if (reason !== this.problem) {
        this.problem = reason;
        this.log.error({ path: this.file.path, reason }, 'Cannot load the client CA bundle; the last good one stays');
      }
    }
    return this.loaded;
  }
}

/** The certificates of PEM text; other blocks are passed over. Throws when one is bad or there is none. */
function certificatesOf(pem: string): Certificate[] {
  const blocks = pem.matchAll(/-----BEGIN CERTIFICATE-----\r?\n([A-Za-z0-9+/=\s]*?)-----END CERTIFICATE-----/g);
  const out = Array.from(blocks, ([, base64 = '']) => parseCertificate(Buffer.from(base64, 'base64')));
  if (out.length === 0) throw new Error('it has no certificate');
  return out;
}
