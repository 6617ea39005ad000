import { fstatSync } from 'node:fs';

/** Priorities of syslog(3), as sd-daemon(3) takes them at the beginning of a line. */
export type Priority = 2 | 3 | 4 | 6 | 7;

/**
 * Is this open file the journal's? systemd tells which one is in `JOURNAL_STREAM`: device and inode, decimal, a colon between them
 * (systemd.exec(5)). A process whose standard error was led elsewhere since has the variable still, and another file.
 */
export function isJournalStream(fd: number, env: NodeJS.ProcessEnv = process.env): boolean {
  const told = env.JOURNAL_STREAM;
  if (told === undefined || told === '') return false;
  try {
    const { dev, ino } = fstatSync(fd, { bigint: true });
    return told === `${dev}:${ino}`;
  } catch {
    return false;
  }
}

/** The text with the priority before each of its lines: journald makes an entry of each line, and takes the prefix off. */
export function withPriority(text: string, priority: Priority): string {
  return text.replace(/(^|\n)(?=[^\n])/g, `$1<${priority}>`);
}

/** What journald is told of a line of pino's. One of V 2 and more is for who debugs, whichever level it was written with. */
export function priorityOf(line: string, level: number): Priority {
  if (level >= 60) return 2;
  if (level >= 50) return 3;
  if (level >= 40) return 4;
  // The mixin's `v` stands before all fields of the line's own.
  return level >= 30 && Number(/"v":(\d+)/.exec(line)?.[1] ?? 0) < 2 ? 6 : 7;
}

/** Writes to standard error what is no line of the log: warnings before there is one, the error that ends the start. */
export function tellStandardError(text: string, priority: Priority): void {
  process.stderr.write(isJournalStream(2) ? withPriority(text, priority) : text);
}
