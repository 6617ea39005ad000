import { closeSync, constants, openSync, readSync } from 'node:fs';

/** One read gives one record; a buffer that is too small for it would be an error (kernel: CONSOLE_EXT_LOG_MAX). */
const RECORD_BYTES = 8192;

/** What a read came to: a record, none yet, some that were overwritten before they were read, or no more ever. */
export type KmsgRead = { record: string } | 'none' | 'lost' | { ended: string };

/** The kernel's log. */
export interface KernelLog {
  read(): KmsgRead;
  close(): void;
}

/**
 * Reads the kernel's log, from the oldest record that it still has. It never waits: a record is there or it is not, so neither the thread that
 * asks nor one of libuv's is held. Throws the errno error of the open.
 */
export class KmsgReader implements KernelLog {
  private readonly fd: number;
  private readonly buffer = Buffer.alloc(RECORD_BYTES);

  constructor(path: string) {
    this.fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  }

  read(): KmsgRead {
    try {
      const bytes = readSync(this.fd, this.buffer, 0, RECORD_BYTES, null);
      // No log ends: somebody has put a file in its place.
      return bytes === 0 ? { ended: 'end of file' } : { record: this.buffer.toString('utf8', 0, bytes) };
    } catch (error) {
      const { code = String(error) } = error as NodeJS.ErrnoException;
      if (code === 'EAGAIN' || code === 'EINTR') return 'none';
      return code === 'EPIPE' ? 'lost' : { ended: code };
    }
  }

  close(): void {
    closeSync(this.fd);
  }
}
