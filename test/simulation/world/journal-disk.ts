import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const real = { writeSync: fs.writeSync, closeSync: fs.closeSync };

/**
 * What the agent writes while its world runs: held in memory until the file is closed, since each system call costs more
 * than a step. Whoever dies has closed his files before another reads them, so nobody sees the difference. The disk can
 * be full: each write fails then.
 */
export class JournalDisk {
  private readonly held = new Map<number, Buffer[]>();
  private full = false;

  /** From now on until the returned function is called. */
  install(): () => void {
    fs.writeSync = ((fd: number, bytes: Buffer | string, offset?: number, length?: number) =>
      this.write(fd, bytes, offset, length)) as typeof fs.writeSync;
    fs.closeSync = (fd) => {
      this.flush(fd);
      real.closeSync(fd);
    };
    syncBuiltinESMExports();
    return () => {
      this.flushAll();
      Object.assign(fs, real);
      syncBuiltinESMExports();
    };
  }

  /** Writes fail while it is on. What was written before is on the disk. */
  fill(full: boolean): void {
    if (full) this.flushAll();
    this.full = full;
  }

  private write(fd: number, bytes: Buffer | string, offset = 0, length?: number): number {
    if (this.full) throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    if (typeof bytes === 'string') {
      this.flush(fd);
      return real.writeSync(fd, bytes);
    }
    const part = offset === 0 && length === undefined ? bytes : bytes.subarray(offset, length && offset + length);
    const held = this.held.get(fd);
    if (held === undefined) this.held.set(fd, [part]);
    else held.push(part);
    return part.length;
  }

  private flushAll(): void {
    for (const fd of [...this.held.keys()]) this.flush(fd);
  }

  private flush(fd: number): void {
    const held = this.held.get(fd);
    if (held === undefined) return;
    this.held.delete(fd);
    const bytes = Buffer.concat(held);
    for (let done = 0; done < bytes.length;) done += real.writeSync(fd, bytes, done);
  }
}
