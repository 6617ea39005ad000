import { closeSync, openSync, readSync, statSync } from 'node:fs';

/** Calls by what was called, e.g. `patch pods/status`. */
export type CallCounts = Record<string, number>;

/** One call, as the API server's audit log tells it. */
export interface AuditLine {
  verb: string;
  user: { username: string };
  objectRef?: { resource?: string; subresource?: string; name?: string };
  /** RFC 3339 with microseconds. */
  requestReceivedTimestamp: string;
  responseStatus?: { code?: number };
}

/** Counts what one user called, from the API server's audit log: from `mark` to the next `mark`. */
export class AuditCounter {
  private readonly file: string;
  private readonly user: string;
  private offset = 0;

  constructor(file: string, user: string) {
    this.file = file;
    this.user = user;
    this.mark();
  }

  /** Starts over here. */
  mark(): void {
    this.offset = statSync(this.file).size;
  }

  /** How often what was called since the last mark, which is set anew. */
  take(): CallCounts {
    const counts: CallCounts = {};
    for (const line of this.lines()) {
      const key = callName(line);
      counts[key] = (counts[key] ?? 0) + 1;
    }
    return counts;
  }

  /** Calls since the last mark, which is set anew. */
  lines(): AuditLine[] {
    const size = statSync(this.file).size;
    const buffer = Buffer.alloc(size - this.offset);
    const fd = openSync(this.file, 'r');
    try {
      readSync(fd, buffer, 0, buffer.length, this.offset);
    } finally {
      closeSync(fd);
    }
    const end = buffer.lastIndexOf('\n') + 1;
    this.offset += end;
    return buffer
      .toString('utf8', 0, end)
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as AuditLine)
      .filter(({ user }) => user.username === this.user);
  }
}

/** What a call is told as, e.g. `patch pods/status`. */
export function callName({ verb, objectRef }: AuditLine): string {
  const what = [objectRef?.resource ?? 'other', objectRef?.subresource].filter((part) => part !== undefined);
  return `${verb} ${what.join('/')}`;
}

/** Counts divided by a number of pods; what belongs to the node and not to a pod is left out. */
export function perPod(counts: CallCounts, pods: number): { all: number; by: CallCounts } {
  const own = Object.entries(counts).filter(([key]) => !/ (nodes|leases|csinodes|other|runtimeclasses)\b/.test(key));
  const round = (n: number) => Math.round((n / pods) * 100) / 100;
  return {
    all: round(own.reduce((sum, [, n]) => sum + n, 0)),
    by: Object.fromEntries(own.sort(([, a], [, b]) => b - a).map(([key, n]) => [key, round(n)])),
  };
}
