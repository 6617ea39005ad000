import { readStamp, ZERO_STAMP } from './stamp.ts';
import type { Stamp } from './stamp.ts';

/** One line of a log file, as places in buffers; made once and filled again and again. */
export interface LogLine {
  /** When it was written. */
  time: Stamp;
  /** Where the text of the time stands: bytes from `stampFrom` to `stampTo`; an empty range is Go's zero time. */
  stampBytes: Buffer;
  stampFrom: number;
  stampTo: number;
  /** What the container wrote: bytes from `from` to `to`, with the newline unless it is a part of a longer line. */
  text: Buffer;
  from: number;
  to: number;
  /** `stdout` or `stderr`; a JSON line may name anything else. */
  stream: string;
}

/** Reads `bytes` from `from` to `to` (a newline at the end belongs to it) into `line`; returns what is wrong, or ''. */
export type LineParser = (bytes: Buffer, from: number, to: number, line: LogLine) => string;

const EMPTY = Buffer.alloc(0);
const SPACE = 0x20;
const NEWLINE = 0x0a;
const COLON = 0x3a;
const LETTER_P = 0x50;
const STDOUT = Buffer.from('stdout');
const STDERR = Buffer.from('stderr');

/** A line to be filled. */
export function emptyLine(): LogLine {
  return {
    time: { ...ZERO_STAMP },
    stampBytes: EMPTY,
    stampFrom: 0,
    stampTo: 0,
    text: EMPTY,
    from: 0,
    to: 0,
    stream: '',
  };
}

/** CRI's format: `<RFC 3339> <stdout|stderr> <tags split by :> <text>`; the first tag `P` marks a part of a line. */
const parseCriLine: LineParser = (bytes, from, to, line) => {
  const stampEnd = spaceAfter(bytes, from, to);
  if (stampEnd < 0) return 'timestamp is not found';
  if (!readStamp(bytes, from, stampEnd, line.time)) return 'unexpected timestamp format';
  const streamFrom = stampEnd + 1;
  const streamEnd = spaceAfter(bytes, streamFrom, to);
  if (streamEnd < 0) return 'stream type is not found';
  if (isWord(bytes, streamFrom, streamEnd, STDOUT)) line.stream = 'stdout';
  else if (isWord(bytes, streamFrom, streamEnd, STDERR)) line.stream = 'stderr';
  else return 'unexpected stream type';
  const tagFrom = streamEnd + 1;
  const tagEnd = spaceAfter(bytes, tagFrom, to);
  if (tagEnd < 0) return 'log tag is not found';
  const isPart = bytes[tagFrom] === LETTER_P && (tagEnd === tagFrom + 1 || bytes[tagFrom + 1] === COLON);
  line.stampBytes = bytes;
  line.stampFrom = from;
  line.stampTo = stampEnd;
  line.text = bytes;
  line.from = tagEnd + 1;
  line.to = isPart && bytes[to - 1] === NEWLINE ? to - 1 : to;
  return '';
};

/** The format of Docker's json-file driver: `{"log":"text\n","stream":"stdout","time":"..."}`. */
const parseDockerLine: LineParser = (bytes, from, to, line) => {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8', from, to));
  } catch {
    return 'neither CRI nor JSON';
  }
  if (value === null) value = {};
  if (typeof value !== 'object' || Array.isArray(value)) return 'not a JSON object';
  const fields = value as Record<string, unknown>;
  const log = fields.log ?? '';
  const stream = fields.stream ?? '';
  const time = fields.time ?? '';
  if (typeof log !== 'string' || typeof stream !== 'string' || typeof time !== 'string') return 'a field is no string';
  line.stampBytes = Buffer.from(time);
  line.stampFrom = 0;
  line.stampTo = line.stampBytes.length;
  if (fields.time == null) {
    line.time.seconds = ZERO_STAMP.seconds;
    line.time.nanos = 0;
  } else if (!readStamp(line.stampBytes, 0, line.stampTo, line.time)) return 'unexpected timestamp format';
  line.text = Buffer.from(log);
  line.from = 0;
  line.to = line.text.length;
  line.stream = stream;
  return '';
};

/** The parser that understands this line; a file has one format from its first line on. */
export function parserFor(bytes: Buffer, from: number, to: number): LineParser | undefined {
  const line = emptyLine();
  return [parseCriLine, parseDockerLine].find((parse) => parse(bytes, from, to, line) === '');
}

/** Fields before the text are short, so a loop beats `indexOf`, which costs a call into C++. */
function spaceAfter(bytes: Buffer, from: number, to: number): number {
  for (let index = from; index < to; index++) if (bytes[index] === SPACE) return index;
  return -1;
}

function isWord(bytes: Buffer, from: number, to: number, word: Buffer): boolean {
  if (to - from !== word.length) return false;
  for (let index = 0; index < word.length; index++) if (bytes[from + index] !== word[index]) return false;
  return true;
}
