import { emptyLine, parserFor } from './line-format.ts';
import type { LineParser } from './line-format.ts';
import { isBefore, STAMP_BYTES, writeStamp } from './stamp.ts';
import type { Stamp } from './stamp.ts';
import { goQuote } from '../../../machines/values/go-quote.ts';

/** What of each line goes out. */
export interface LineWriterOptions {
  stdout: boolean;
  stderr: boolean;
  timestamps: boolean;
  /** Lines before it are left out. */
  since?: Stamp;
  /** Bytes after which all ends. */
  limitBytes?: number;
  /** Lines of the file after which all ends (those that `since` leaves out count, too). */
  limitLines?: number;
  /** Is told of each line that cannot be parsed. */
  onBadLine: (problem: string) => void;
}

/** Nobody needs more of a broken line to see what it is. */
const QUOTED_BYTES = 16 * 1024;
const ZERO_TIME = Buffer.from('0001-01-01T00:00:00Z');

/**
 * Turns lines of a log file into what the client gets. All of it is synchronous, into one buffer that is used again:
 * take it with {@link take} and have it written before the next line.
 */
export class LineWriter {
  /** True when a limit is reached; further lines are ignored. */
  done = false;
  readonly #options: LineWriterOptions;
  readonly #line = emptyLine();
  #parse: LineParser | undefined;
  #bytesLeft: number;
  #linesLeft: number;
  /** Does the next text begin a line? A time stands only there, not before each part. */
  #atLineStart = true;
  #out = Buffer.alloc(0);
  #length = 0;

  constructor(options: LineWriterOptions) {
    this.#options = options;
    this.#bytesLeft = options.limitBytes ?? Infinity;
    this.#linesLeft = options.limitLines ?? Infinity;
    this.done = this.#linesLeft === 0;
  }

  /**
   * Takes the line in `bytes` from `from` to `to`, its newline included.
   * @throws Error in the kubelet's words when the first line has an unknown format, or a JSON line an unknown stream
   */
  line(bytes: Buffer, from: number, to: number): void {
    if (this.done) return;
    const line = this.#line;
    if (this.#parse === undefined) {
      this.#parse = parserFor(bytes, from, to);
      if (this.#parse === undefined) {
        const quoted = goQuote(bytes.toString('utf8', from, Math.min(to, from + QUOTED_BYTES)));
        throw new Error(`failed to get parse function: unsupported log format: ${quoted}`);
      }
    }
    const problem = this.#parse(bytes, from, to, line);
    if (problem !== '') {
      this.#options.onBadLine(problem);
      return;
    }
    this.#write();
    if (--this.#linesLeft <= 0) this.done = true;
    this.#atLineStart = line.to === line.from || line.text[line.to - 1] === 0x0a;
  }

  /** What is to be sent; good until the next {@link line}. */
  take(): Buffer {
    const taken = this.#out.subarray(0, this.#length);
    this.#length = 0;
    return taken;
  }

  /** Gives the buffer back while there is nothing to do. */
  release(): void {
    this.#out = Buffer.alloc(0);
  }

  #write(): void {
    const { since, stdout, stderr, timestamps } = this.#options;
    const { time, text, from, to, stream } = this.#line;
    if (since !== undefined && isBefore(time, since)) return;
    if (stream !== 'stdout' && stream !== 'stderr') throw new Error(`unexpected stream type ${goQuote(stream)}`);
    if (stream === 'stdout' ? !stdout : !stderr) return;

    const start = this.#length;
    this.#reserve(STAMP_BYTES + 1 + to - from);
    if (timestamps && this.#atLineStart) {
      const { stampBytes, stampFrom, stampTo } = this.#line;
      this.#length =
        stampTo > stampFrom
          ? writeStamp(stampBytes, stampFrom, stampTo, this.#out, this.#length)
          : writeStamp(ZERO_TIME, 0, ZERO_TIME.length, this.#out, this.#length);
      this.#out[this.#length++] = 0x20;
    }
    text.copy(this.#out, this.#length, from, to);
    this.#length += to - from;

    if (this.#bytesLeft === Infinity) return;
    this.#length = Math.min(this.#length, start + this.#bytesLeft);
    this.#bytesLeft -= this.#length - start;
    if (this.#bytesLeft <= 0) this.done = true;
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#out.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(1024, this.#out.length * 2, this.#length + more));
    this.#out.copy(larger, 0, 0, this.#length);
    this.#out = larger;
  }
}
