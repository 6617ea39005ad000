import { createSecureContext } from 'node:tls';
import { ActorletError } from '../../../machines/errors/define.ts';
import { apiErrors } from '../../../machines/errors/api-errors.ts';
import { WatchedFile } from './watched-file.ts';
import type { Logger } from 'pino';
import type { Credentials, Identity } from './credentials.ts';

/** A file is looked at again after this long (client-go reads a token file each minute). */
const lookAgainMs = 60_000;

/** Where a kubeconfig keeps a value: in itself or in a file (absolute path). `field` names it in messages. */
export type FileOrText = { text: string } | { file: string; field: string };

/** What {@link fileCredentials} needs. */
export interface FileCredentialsInput {
  /** Path of the kubeconfig, for messages. */
  where: string;
  /** Beginning of field names in messages: `users[0].user`. */
  under: string;
  token?: string;
  /** Wins over `token` as long as it can be read, as in client-go. */
  tokenFile?: string;
  username?: string;
  password?: string;
  cert?: FileOrText;
  key?: FileOrText;
  log: Logger;
  now?: () => number;
}

/**
 * Token, basic authentication or client certificate. Files are read again when they change; one that turns bad later
 * (half-written, certificate and key of different rotations) leaves the last good identity in use.
 */
export function fileCredentials(input: FileCredentialsInput): Credentials {
  return new FileCredentials(input);
}

class FileCredentials implements Credentials {
  private readonly input: FileCredentialsInput;
  private readonly tokenFile: WatchedFile | undefined;
  private readonly certFile: WatchedFile | undefined;
  private readonly keyFile: WatchedFile | undefined;
  private last: Identity | undefined;
  private refused: Pick<Identity, 'cert' | 'key'> = {};
  private complained = '';

  constructor(input: FileCredentialsInput) {
    this.input = input;
    const now = input.now ?? (() => performance.now());
    const watch = (path: string): WatchedFile => new WatchedFile(path, lookAgainMs, now);
    this.tokenFile = input.tokenFile === undefined ? undefined : watch(input.tokenFile);
    this.certFile = input.cert && 'file' in input.cert ? watch(input.cert.file) : undefined;
    this.keyFile = input.key && 'file' in input.key ? watch(input.key.file) : undefined;
    this.current();
  }

  current(force = false): Identity {
    const authorization = this.authorization(force);
    const pair = this.pair(force);
    const last = this.last;
    if (
      last !== undefined &&
      last.authorization === authorization &&
      last.cert === pair.cert &&
      last.key === pair.key
    ) {
      return last;
    }
    this.last = { authorization, ...pair };
    return this.last;
  }

  rejected(identity: Identity): boolean {
    if (this.tokenFile === undefined && this.certFile === undefined) return false;
    return this.current(true) !== identity;
  }

  private authorization(force: boolean): string | undefined {
    const { token, username, password } = this.input;
    if (this.tokenFile !== undefined) {
      const last = this.last?.authorization ?? (token === undefined ? undefined : `Bearer ${token}`);
      const text = this.readOr(this.tokenFile, 'tokenFile', last === undefined, force)?.trim();
      if (text !== undefined && text !== '') return `Bearer ${text}`;
      if (last !== undefined) return last;
      throw this.badFile('tokenFile', this.tokenFile.path, 'is empty');
    }
    if (token !== undefined) return `Bearer ${token}`;
    if (username === undefined) return undefined;
    return `Basic ${Buffer.from(`${username}:${password ?? ''}`).toString('base64')}`;
  }

  private pair(force: boolean): Pick<Identity, 'cert' | 'key'> {
    const cert = this.part('client-certificate', this.input.cert, this.certFile, force);
    const key = this.part('client-key', this.input.key, this.keyFile, force);
    const last = this.last;
    if (cert === undefined || key === undefined) return { cert: last?.cert, key: last?.key };
    if (last?.cert === cert && last.key === key) return { cert, key };
    const known = last?.cert === undefined ? {} : { cert: last.cert, key: last.key };
    if (this.refused.cert === cert && this.refused.key === key) return known;
    try {
      createSecureContext({ cert, key });
      return { cert, key };
    } catch (error) {
      const reason = `and client-key are no usable pair of PEM certificate and key (${codeOf(error)})`;
      const file = this.certFile?.path ?? '(client-certificate-data)';
      const bad = this.badFile('client-certificate', file, reason);
      if (known.cert === undefined) throw bad;
      this.refused = { cert, key };
      this.input.log.warn({ error: bad.message }, 'Keeping the client certificate that was read before');
      return known;
    }
  }

  private part(
    field: string,
    source: FileOrText | undefined,
    file: WatchedFile | undefined,
    force: boolean,
  ): string | undefined {
    if (source === undefined) return undefined;
    if ('text' in source) return source.text;
    return file === undefined ? undefined : this.readOr(file, field, this.last?.cert === undefined, force);
  }

  /** Reads; a failure is thrown when there is nothing to fall back to, else told once. */
  private readOr(file: WatchedFile, field: string, must: boolean, force: boolean): string | undefined {
    try {
      const text = file.read(force);
      this.complained = '';
      return text;
    } catch (error) {
      const bad = this.badFile(field, file.path, `cannot be read (${codeOf(error)})`);
      if (must) throw bad;
      if (this.complained !== bad.message) {
        this.input.log.warn({ error: bad.message }, 'Keeping the credentials that were read before');
      }
      this.complained = bad.message;
      return undefined;
    }
  }

  private badFile(field: string, file: string, reason: string): ActorletError {
    const { where, under } = this.input;
    return new ActorletError(apiErrors.badReference, { where, path: `${under}.${field}`, file, reason });
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'not readable';
}
