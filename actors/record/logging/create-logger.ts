import { basename } from 'node:path';
import { type DestinationStream, type Logger, pino } from 'pino';
import { callSite } from './call-site.ts';
import { filePattern } from './file-pattern.ts';
import { priorityOf, withPriority } from './journal-stream.ts';
import { formatKlogLine } from './klog-text.ts';
import { BufferedSink, type LogSink, standardStream } from './log-sink.ts';
import { maskSecrets } from './mask-secrets.ts';

export type { LogSink } from './log-sink.ts';

/** Plain options, so that a worker thread can be told how to log. */
export interface LoggerOptions {
  /** `logging.format`: klog's structured text, or one JSON object a line with kubelet's field names. */
  format: 'text' | 'json';
  /**
   * `--v`: 0 and 1 print info, 2 to 4 debug too, 5 and more trace too; a line with a field `v` asks for exactly that.
   * Who changes it later (`/debug/flags/v`) changes what is printed from then on.
   */
  verbosity: number;
  /** `logging.vmodule`: verbosity of files by the pattern of their name without `.ts`; the first that matches counts, where it is more. */
  vmodule?: readonly { filePattern: string; verbosity: number }[] | undefined;
  /** `logging.options.*.splitStream`: info goes to standard output. Bytes of it are gathered and written each `flushMs`; 0 = none. */
  split?: { bufferBytes: number; flushMs: number } | undefined;
  /** Name of the part that logs; becomes the field `logger`. */
  name?: string | undefined;
}

/** Where the lines of each kind go. */
export interface LogSinks {
  error: LogSink;
  info: LogSink;
}

/** klog verbosity that a pino level stands for. Warnings and errors are always printed. */
const LEVEL_VERBOSITY: Readonly<Record<number, number>> = { 10: 5, 20: 2, 30: 0, 40: 0 };

/**
 * Creates a logger. Can be called in any thread: each has its own synchronous destinations, standard error, or with
 * `split` standard output for info. What is gathered is written by `flush()` of the logger, and when the process ends.
 */
export function createLogger(
  options: LoggerOptions,
  sinks: LogSinks | LogSink = { error: standardStream(2), info: standardStream(options.split === undefined ? 2 : 1) },
): Logger {
  const { format } = options;
  const { error, info: plain } = 'error' in sinks ? sinks : { error: sinks, info: sinks };
  const info = options.split === undefined ? error : buffered(plain, options.split);
  const wanted = verbosityOf(options);
  const stream: DestinationStream & { flush: (done?: () => void) => void } = {
    flush(done) {
      if (info instanceof BufferedSink) info.flush();
      done?.();
    },
    write(line) {
      // pino's line starts with the level, which kubelet's JSON has not.
      const level = Number(line.slice('{"level":'.length, '{"level":'.length + 2));
      const text = format === 'json' ? `{${line.slice('{"level":30,'.length)}` : formatKlogLine(line, process.pid);
      // klog's router sends all but `I` to standard error; kubelet's JSON has no warnings, which are info there.
      const to = level < (format === 'json' ? 50 : 40) ? info : error;
      to.write(to.journal === true ? withPriority(text, priorityOf(line, level)) : text);
    },
  };
  return pino(
    {
      // Which lines are printed is settled below, since the verbosity may change.
      level: 'trace',
      base: options.name === undefined ? null : { logger: options.name },
      messageKey: 'msg',
      errorKey: 'err',
      timestamp: () => `,"ts":${preciseNow().toFixed(4)}`,
      formatters: {
        level: (_label, level) => ({ level }),
        log: (fields) => maskSecrets(fields),
      },
      mixin: (_object, level) => ({
        caller: callSite(),
        // kubelet's JSON has no `v` on errors.
        ...(level >= 50 ? {} : { v: LEVEL_VERBOSITY[level] ?? 0 }),
      }),
      serializers: { err: errorText, error: errorText },
      hooks: {
        logMethod(args, method, level) {
          if (level < 40 && !wanted(wantedBy(args[0], level))) return;
          method.apply(this, args);
        },
      },
    },
    stream,
  );
}

/** Is a line of this verbosity printed? The place that asks is looked up only where a pattern could print it. */
function verbosityOf(options: LoggerOptions): (line: number) => boolean {
  const { vmodule = [] } = options;
  const files = vmodule.map(({ filePattern: pattern, verbosity }) => ({ fits: filePattern(pattern), verbosity }));
  const most = Math.max(-1, ...vmodule.map(({ verbosity }) => verbosity));
  return (line) => {
    if (line <= options.verbosity) return true;
    if (line > most) return false;
    const file = basename(callSite()).replace(/(\.[cm]?[jt]s)?:\d+$/, '');
    return (files.find(({ fits }) => fits(file))?.verbosity ?? 0) >= line;
  };
}

function buffered(info: LogSink, { bufferBytes, flushMs }: NonNullable<LoggerOptions['split']>): LogSink {
  if (bufferBytes <= 0) return info;
  const sink = new BufferedSink(info, bufferBytes);
  setInterval(() => sink.flush(), flushMs).unref();
  process.on('exit', () => sink.flush());
  return sink;
}

let origin = performance.timeOrigin;

/** Ms since the epoch with fractions, as kubelet's log has them; it follows the clock when that is set. */
function preciseNow(): number {
  const now = Date.now();
  const precise = origin + performance.now();
  if (Math.abs(precise - now) < 1_000) return precise;
  origin = now - performance.now();
  return now;
}

/** The verbosity from which on a line is printed. */
function wantedBy(first: unknown, level: number): number {
  const own = typeof first === 'object' && first !== null && 'v' in first ? Number(first.v) : 0;
  return Math.max(own, LEVEL_VERBOSITY[level] ?? 0);
}

/** An error in one string: its message and those of its causes, as Go's `%v` of a wrapped error. */
function errorText(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const cause = error.cause instanceof Error ? errorText(error.cause) : undefined;
  return typeof cause === 'string' && !error.message.includes(cause) ? `${error.message}: ${cause}` : error.message;
}
