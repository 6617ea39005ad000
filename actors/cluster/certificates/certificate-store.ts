import { lstatSync, readFileSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Logger } from 'pino';
import { ActorletError } from '../../../machines/errors/define.ts';
import { certificateErrors } from '../../../machines/errors/certificate-errors.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { readKeyPair } from './key-pair.ts';
import type { KeyPair } from './key-pair.ts';
import { SECRET_MODE, placeFile } from '../../host/files/private-files.ts';

/** Where a store looks. */
export interface CertificateStoreOptions {
  /** `kubelet-client` or `kubelet-server`. */
  prefix: string;
  /** `--cert-dir`. */
  directory: string;
  /** Configured files, '' for none: the second place to look. */
  certFile: string;
  keyFile: string;
  log: Logger;
}

/**
 * Certificates with their keys in files, laid out as client-go's file store: each pair in `PREFIX-TIME.pem`, the one in
 * use named by the symbolic link `PREFIX-current.pem`. A kubelet and an actorlet can follow each other on a folder.
 */
export class CertificateStore {
  readonly currentPath: string;
  private readonly options: CertificateStoreOptions;

  /** Throws CERT006 when what is there cannot be a store. */
  constructor(options: CertificateStoreOptions) {
    this.options = options;
    this.currentPath = this.path('current');
    this.recover();
  }

  /** The pair in use, null when there is none: of the link, the configured files, or PREFIX.crt and PREFIX.key. Throws CERT006. */
  current(): KeyPair | null {
    const { prefix, directory, certFile, keyFile } = this.options;
    const places: [string, string][] = [
      [this.currentPath, this.currentPath],
      [certFile, keyFile],
      [join(directory, `${prefix}.crt`), join(directory, `${prefix}.key`)],
    ];
    const found = places.find(([cert, key]) => this.exists(cert) && this.exists(key));
    if (found === undefined) return null;
    const [cert, key] = found;
    this.options.log.debug({ certFile: cert, keyFile: key }, 'Loading cert/key pair');
    try {
      return readKeyPair(readFileSync(cert, 'utf8'), readFileSync(key, 'utf8'));
    } catch (cause) {
      throw bad(cert === key ? cert : `${cert} with ${key}`, cause);
    }
  }

  /** Stores a pair under the time and makes it the one in use. Throws CERT006, or CERT021 when the disk refuses. */
  update(certPem: string, keyPem: string, now: Date): KeyPair {
    const file = this.path(localTime(now));
    let pair: KeyPair;
    try {
      pair = readKeyPair(certPem, keyPem);
    } catch (cause) {
      throw bad(file, cause);
    }
    const updated = this.path('updated');
    for (const link of [this.currentPath, updated]) this.mustBeLink(link);
    placeFile(file, pair.cert + pair.key, SECRET_MODE);
    try {
      rmSync(updated, { force: true });
      symlinkSync(resolve(file), updated);
      renameSync(updated, this.currentPath);
    } catch (cause) {
      const reason = (cause as NodeJS.ErrnoException).code ?? String(cause);
      throw new ActorletError(certificateErrors.cannotWrite, { file: this.currentPath, reason }, { cause });
    }
    return pair;
  }

  /** A rotation that was cut off left `PREFIX-updated.pem`: it becomes the current one, unless there is one. */
  private recover(): void {
    const updated = this.path('updated');
    if (this.exists(this.currentPath) || !this.mustBeLink(updated)) return;
    try {
      renameSync(updated, this.currentPath);
    } catch (cause) {
      throw bad(updated, cause);
    }
  }

  /** Whether the link exists; throws when a file is in its place. */
  private mustBeLink(path: string): boolean {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isSymbolicLink() === false) throw bad(path, new Error('expected a symlink but it is a file'));
    return found !== undefined;
  }

  private exists(path: string): boolean {
    if (path === '') return false;
    try {
      return statSync(path, { throwIfNoEntry: false }) !== undefined;
    } catch (cause) {
      throw bad(path, cause);
    }
  }

  private path(qualifier: string): string {
    return join(this.options.directory, `${this.options.prefix}-${qualifier}.pem`);
  }
}

/** `2006-01-02-15-04-05` in local time, as kubelet names the files. */
function localTime(at: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = [at.getMonth() + 1, at.getDate(), at.getHours(), at.getMinutes(), at.getSeconds()].map(two);
  return `${String(at.getFullYear())}-${day.join('-')}`;
}

function bad(file: string, cause: unknown): ActorletError {
  const reason = messageOf(cause);
  return new ActorletError(certificateErrors.badStore, { file, reason }, { cause });
}
