import { type DestinationStream, type Logger, pino } from 'pino';
import { callSite } from './call-site.ts';
import { formatKlogLine } from './klog-text.ts';
import { maskSecrets } from './mask-secrets.ts';

/** Plain options, so that a worker thread can be told how to log. */
export interface LoggerOptions {
  /** `logging.format`: klog's structured text, or one JSON object a line with kubelet's field names. */
  format: 'text' | 'json';
  /**
   * `--v`: 0 and 1 print info, 2 to 4 debug too, 5 and more trace too; a line with a field `v` asks for exactly that.
   * Who changes it later (`/debug/flags/v`) changes what is printed from then on.
   */
  verbosity: number;
  /** Name of the part that logs; becomes the field `logger`. */
  name?: string | undefined;
}

/** Where lines go; standard error, written synchronously, when absent. */
export interface LogSink {
  write(text: string): unknown;
}

/** klog verbosity that a pino level stands for. Warnings and errors are always printed. */
const LEVEL_VERBOSITY: Readonly<Record<number, number>> = { 10: 5, 20: 2, 30: 0, 40: 0 };

/** Creates a logger. Can be called in any thread: each has its own synchronous destination on file descriptor 2. */
export function createLogger(options: LoggerOptions, sink: LogSink = pino.destination({ fd: 2, sync: true })): Logger {
  const { format } = options;
  const stream: DestinationStream =
    format === 'json'
      ? // pino's line starts with the level, which kubelet's has not: `{,"ts":`.
        { write: (line) => void sink.write(`{${line.slice(2)}`) }
      : { write: (line) => void sink.write(formatKlogLine(line, process.pid)) };
  return pino(
    {
      // Which lines are printed is settled below, since the verbosity may change.
      level: 'trace',
      base: options.name === undefined ? null : { logger: options.name },
      messageKey: 'msg',
      errorKey: 'err',
      timestamp: () => `,"ts":${preciseNow().toFixed(4)}`,
      formatters: {
        level: (_label, level) => (format === 'text' ? { level } : {}),
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
          if (level < 40 && wantedBy(args[0], level) > options.verbosity) return;
          method.apply(this, args);
        },
      },
    },
    stream,
  );
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
