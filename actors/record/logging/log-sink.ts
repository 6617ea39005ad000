import { pino } from 'pino';
import { isJournalStream } from './journal-stream.ts';

/** Where lines go. */
export interface LogSink {
  write(text: string): unknown;
  /** It is systemd's journal: lines are to tell their priority. */
  readonly journal?: boolean;
}

/** Standard output (1) or standard error (2), written synchronously. */
export function standardStream(fd: 1 | 2): LogSink {
  const stream = pino.destination({ fd, sync: true });
  return { journal: isJournalStream(fd), write: (text) => stream.write(text) };
}

/** The largest buffer, as in kubelet: 2 GiB. */
const LARGEST = 2 ** 31;

/**
 * Gathers lines up to a size in bytes, as `infoBufferSize` asks for: what does not fit any more has the buffer written
 * first, and what is larger than the buffer itself goes straight on. {@link flush} is to be called now and then, and at the end.
 */
export class BufferedSink implements LogSink {
  readonly journal: boolean;
  private readonly to: LogSink;
  private readonly size: number;
  private held: string[] = [];
  private bytes = 0;

  constructor(to: LogSink, size: number) {
    this.to = to;
    this.journal = to.journal === true;
    this.size = Math.min(size, LARGEST);
  }

  write(text: string): void {
    const bytes = Buffer.byteLength(text);
    if (this.bytes + bytes > this.size) this.flush();
    if (bytes > this.size) {
      this.to.write(text);
      return;
    }
    this.held.push(text);
    this.bytes += bytes;
  }

  /** Writes what was gathered. */
  flush(): void {
    if (this.held.length === 0) return;
    const text = this.held.join('');
    this.held = [];
    this.bytes = 0;
    this.to.write(text);
  }
}
